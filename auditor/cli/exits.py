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
from typing import TYPE_CHECKING, ParamSpec

import typer

from auditor.errors import AuditorError, Refused

if TYPE_CHECKING:
    from auditor.model.run import Run

FINDINGS = 1
NOT_DONE = 2
BROKEN_REFERENCES = 3
REFUSED = Refused.exit_code
INTERRUPTED = 130

P = ParamSpec("P")


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


def code_of(run: Run, fail_on: FailOn) -> int:
    """Give the exit code of a run whose results are written: the first that applies."""
    if run.rates_withheld:
        return BROKEN_REFERENCES
    severities = [severity.value for severity in FailOn]
    failing = [] if fail_on is FailOn.never else severities[: severities.index(fail_on) + 1]
    return FINDINGS if any(finding.severity in failing for finding in run.findings) else 0


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
        typer.echo("interrupted; nothing half-written was left", err=True)
        return INTERRUPTED
    except AuditorError as error:
        typer.echo(f"error: {error}", err=True)
        return error.exit_code
    except (typer.Exit, typer.BadParameter):
        raise
    except Exception:  # noqa: BLE001 - the edge of the process: 1 would say that the audit found bugs
        traceback.print_exc()
        typer.echo("error: this is a bug of the auditor, not of your pipeline; please report it", err=True)
        return NOT_DONE


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
