"""`auditor-baseline.toml`: what a team has said of its bugs, in a text that is reviewed and merged like any other."""

from __future__ import annotations

import fcntl
import os
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from auditor.errors import Mistake, SpecError, StoreError
from auditor.model.baseline import SAID, Baseline, Entry
from auditor.spec.lines import key_lines, line_of, quoted
from auditor.whole_file import write_whole

NAME = "auditor-baseline.toml"

HEAD = """\
# What this team has said of the bugs that the audit finds, by fingerprint: a known or an accepted one fails no run
# until the day that is named, a fixed one fails it when it is found again. `auditor findings` reads and writes this
# file; it may be edited, reviewed and merged by hand.
"""

#: Seconds that a writer waits for another one.
PATIENCE: Final = 10.0

_KEYS = ("state", "reason", "until", "since", "code", "title")


def baseline_file(runs_folder: Path) -> Path:
    """Give the file of the workspace whose runs are in a folder."""
    return runs_folder.parent.parent / NAME


def read_baseline(path: Path) -> Baseline:
    """Read the file; none is an empty baseline, and SpecError names every mistake in it with its line."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Baseline()
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError([Mistake(str(path), f"cannot be read: {error}", "correct it, or write it anew")]) from error
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        hint = "a fingerprint may stand there once: were two changes merged?"
        raise SpecError([Mistake(str(path), f"is no TOML: {error}", hint)]) from error
    lines, mistakes = key_lines(text), []
    entries: dict[str, Entry] = {}
    for fingerprint, table in document.items():
        found = _mistakes(table)
        where = f"{path}:{line_of((fingerprint,), lines)}: {fingerprint}"
        mistakes += [Mistake(where, what, hint) for what, hint in found]
        if not found:
            entries[fingerprint] = _entry(fingerprint, table)
    if mistakes:
        raise SpecError(mistakes)
    return Baseline(entries)


def _mistakes(table: Any) -> list[tuple[str, str]]:
    """Say what is wrong with an entry, each with what to do."""
    if not isinstance(table, dict):
        return [("is no table", 'write ["FINGERPRINT"], and under it state and reason')]
    found = []
    for key in table.keys() - set(_KEYS):
        near = get_close_matches(key, _KEYS, 1)
        found.append(
            (f"there is no key {key}", f"did you mean {near[0]}?" if near else f"there are {', '.join(_KEYS)}")
        )
    if table.get("state") not in SAID:
        found.append((f"state is {table.get('state')!r}", f"it is one of {', '.join(SAID)}"))
    if not isinstance(table.get("reason"), str) or not table["reason"].strip():
        found.append(("there is no reason", 'say why, for whoever reads this later: reason = "…"'))
    for key in ("until", "since"):
        value = table.get(key)
        if value is not None and (not isinstance(value, date) or isinstance(value, datetime)):
            found.append((f"{key} is {value!r}, no date", f"write it without quotes: {key} = 2030-12-31"))
    found += [
        (f"{key} is no text", "put it in quotes") for key in ("code", "title") if type(table.get(key, "")) is not str
    ]
    return sorted(found)


def _entry(fingerprint: str, table: Mapping[str, Any]) -> Entry:
    told = {key: table[key] for key in ("reason", "until", "since", "code", "title") if key in table}
    return Entry(fingerprint, table["state"], **told)


def baseline_text(baseline: Baseline) -> str:
    """Write a baseline: an entry after the other by code and fingerprint, so that a change is a change of its lines."""
    entries = sorted(baseline.entries.values(), key=lambda one: (one.code, one.fingerprint))
    return "\n".join([HEAD, *map(_entry_text, entries)])


def _entry_text(entry: Entry) -> str:
    lines = [f"[{quoted(entry.fingerprint)}]"]
    lines += [f"{key} = {quoted(text)}" for key, text in (("code", entry.code), ("title", entry.title)) if text]
    lines += [f"state = {quoted(entry.said)}", f"reason = {quoted(entry.reason)}"]
    lines += [f"{key} = {day}" for key, day in (("since", entry.since), ("until", entry.until)) if day is not None]
    return "\n".join([*lines, ""])


def write_baseline(path: Path, baseline: Baseline) -> None:
    """Write the file; it changes whole or not at all, and StoreError says why it did not."""
    try:
        write_whole(path, baseline_text(baseline).encode())
    except OSError as error:
        raise StoreError(
            f"{path}: could not be written: {error.strerror or error}\n"
            "  next:  give whoever runs this the right to write in that folder, or free space on its disk; nothing was"
            " changed"
        ) from error


def change_baseline(path: Path, change: Callable[[Baseline], Baseline]) -> Baseline:
    """Read the file, change what it says, and write it, while no other writer does; gives what it says then.

    SpecError where what is there cannot be read, StoreError where it cannot be written or others do not let go.
    """
    with _alone(path):
        changed = change(read_baseline(path))
        write_baseline(path, changed)
        return changed


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold the lock of the file's folder: the file itself is another one after each change."""
    folder = path.resolve().parent
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise StoreError(f"{path}: could not be written: {folder}: {error.strerror or error}") from error
    try:
        _lock(descriptor, path)
        yield
    finally:
        os.close(descriptor)  # which gives the lock back


def _lock(descriptor: int, path: Path) -> None:
    give_up = time.monotonic() + PATIENCE
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() > give_up:
                raise StoreError(
                    f"{path}: was not written\n"
                    f"  seen:  another process has held the lock of its folder for {PATIENCE:g} seconds\n"
                    "  cause: an `auditor findings` or a service that was stopped in the middle, or another program\n"
                    f"  next:  `fuser {path.resolve().parent}` names it; end it, and say this again"
                ) from error
            time.sleep(0.02)
        except OSError as error:
            raise StoreError(f"{path}: was not written: its folder cannot be locked: {error.strerror}") from error
