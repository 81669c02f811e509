"""Exit codes: 130 interrupted, 2 could not be done, 4 comparison refused, 3 broken references, 1 findings, 0."""

from __future__ import annotations

import functools
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from types import FrameType
from typing import TYPE_CHECKING, ParamSpec

import typer

from auditor.errors import AuditorError, Refused

if TYPE_CHECKING:
    from auditor.model.baseline import Baseline
    from auditor.model.run import Finding, Run

FINDINGS = 1
NOT_DONE = 2
BROKEN_REFERENCES = 3
REFUSED = Refused.exit_code
INTERRUPTED = 130

P = ParamSpec("P")

#: The signals that have come to end this process.
_signals: list[int] = []


class FailOn(StrEnum):
    """The least severity of a finding that makes a run fail."""

    high = "high"
    medium = "medium"
    low = "low"
    never = "never"


def one_of(choices: type[StrEnum]) -> Callable[[str], str]:
    """Give the check of an option that takes one of a few words."""

    def check(value: str) -> str:
        if value not in list(choices):
            raise typer.BadParameter(f"there is no {value!r}; choose {' or '.join(choices)}")
        return value

    return check


def code_of(run: Run, fail_on: FailOn, baseline: Baseline) -> int:
    """Give the exit code of a run whose results are written: the first that applies."""
    from auditor.report.failing import code_of as code

    return code(run, fail_on.value, baseline)


def short_columns(run: Run, fail_on: FailOn) -> tuple[str, ...]:
    """Say which columns are not as right as the spec asks, and why; none where nothing is to fail."""
    from auditor.report.failing import short_columns as short

    return short(run, fail_on.value)


def failing(run: Run, fail_on: FailOn, baseline: Baseline) -> tuple[Finding, ...]:
    """Give the findings that fail a run: of these severities, and not known by then."""
    from auditor.report.failing import failing as fails

    return fails(run, fail_on.value, baseline)


def exiting(command: Callable[P, int | None]) -> Callable[P, None]:
    """Make a command end with its exit code, and every error with a message instead of a traceback."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        raise typer.Exit(_code(functools.partial(command, *args, **kwargs)))

    return run


def _code(command: Callable[[], int | None]) -> int:
    try:
        return command() or 0
    except KeyboardInterrupt:
        return _interrupted()
    except (typer.Exit, typer.BadParameter):
        raise
    except Exception as error:  # noqa: BLE001 - the edge of the process: 1 would say that the audit found bugs
        if _signals:
            return _interrupted()
        if isinstance(error, AuditorError):
            typer.echo(f"error: {error}", err=True)
            return error.exit_code
        traceback.print_exc()
        typer.echo("error: this is a bug of the auditor, not of your pipeline; please report it", err=True)
        return NOT_DONE


def _interrupted() -> int:
    typer.echo("interrupted; nothing half-written was left", err=True)
    return 128 + _signals[0] if _signals else INTERRUPTED


def end_by_signals() -> None:
    """Leave by way of every `finally` at Ctrl-C, SIGTERM and SIGHUP, so that workers and unfinished runs go too.

    What is ignored stays so: `nohup` lets a program outlive its terminal, and a shell one in the background Ctrl-C.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)


def _end(number: int, frame: FrameType | None) -> None:
    """Raise what ends a program, and remember why: a library whose call is interrupted may raise its own instead."""
    _signals.append(number)
    raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)


@contextmanager
def interrupts_later() -> Iterator[None]:
    """Hold Ctrl-C until the end of a block that imports: Python ends by the signal what is interrupted in an `exec`.

    Dataclasses are made by `exec`, and the exit code would then depend on the moment.
    """
    seen: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if seen:
        raise KeyboardInterrupt


@contextmanager
def readable_until_closed() -> Iterator[None]:
    """Let a reader of our output, such as `head`, stop early without changing the exit code."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
