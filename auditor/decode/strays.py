"""Processes that a parser started and that left the worker's group: known by the variable that they inherited.

Run as a script this file is the heir: a process that outlives an audit that is killed, and ends what it leaves. It
imports the standard library only.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from threading import Lock

#: Names the worker's folder; every process that the consumer starts inherits it.
MARK = "AUDITOR_WORKER"

#: Where /proc/PID/stat has, after the name, the size of the memory and the address of the variables' end.
SIZE, END_OF_VARIABLES = 20, 48

#: Looks at the process table: a stray may fork while it is looked for.
MOST_LOOKS = 10

#: Seconds to wait, and how often, for processes that are just becoming another program.
MOMENT, MOST_MOMENTS = 0.005, 200

#: The pipe to the heir of a process, by the process: a fork has an heir of its own.
_heirs: dict[int, int] = {}
_starting = Lock()


def entrust(stack: ExitStack, folder: str) -> None:
    """Have the strays of a worker ended even where this process is killed; until `stack` is closed."""
    with _starting:
        if os.getpid() not in _heirs:
            _heirs[os.getpid()] = _start_heir()
        heir = _heirs[os.getpid()]
    _tell(heir, b"+", folder)
    stack.callback(_tell, heir, b"-", folder)


def _start_heir() -> int:
    """Start the heir in a session of its own, where no signal for us ends it; it sees our end by that of the pipe."""
    theirs, ours = os.pipe()
    try:
        heir = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__],
            stdin=theirs,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )
    except OSError:
        os.close(ours)
        raise
    finally:
        os.close(theirs)
    heir.returncode = 0  # it ends after us, and nobody waits for it
    os.set_blocking(ours, False)
    return ours


def _tell(heir: int, sign: bytes, folder: str) -> None:
    with suppress(OSError):  # an heir that was killed inherits nothing
        os.write(heir, sign + os.fsencode(folder) + b"\0")


def inherit() -> None:
    """Read which folders are in use; when nobody can write any more, end the strays of those that still are."""
    folders: set[bytes] = set()
    rest = b""
    while told := os.read(0, 65536):
        *entries, rest = (rest + told).split(b"\0")
        for entry in entries:
            (folders.add if entry[:1] == b"+" else folders.discard)(entry[1:])
    for folder in folders:
        end_strays(os.fsdecode(folder))


def end_strays(folder: str) -> None:
    """Kill whatever carries the mark of a worker, until nothing does.

    A process that emptied its environment and left the group and session is not found: `end_descendants` ends it as
    long as those live that started it. There is nothing to look for where the platform has no /proc.
    """
    mark = f"{MARK}={folder}".encode()
    looks = moments = 0
    while looks < MOST_LOOKS and moments < MOST_MOMENTS:
        seen = {process: _environment(process) for process in _processes()}
        found = [process for process, variables in seen.items() if variables is not None and mark in variables]
        for process in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        if found:
            looks += 1
        elif None in seen.values():
            moments += 1
            time.sleep(MOMENT)
        else:
            return


def end_descendants(process: int) -> None:
    """Kill what a running process has started, and what that has; the process itself is stopped where it has any.

    Before it is killed: what it leaves behind is nobody's child then, and carries no mark where it has no variables.
    """
    if not _children(process):
        return
    with suppress(ProcessLookupError, PermissionError):
        os.kill(process, signal.SIGSTOP)
    left = [process]
    found: list[int] = []
    while left:
        left.extend(children := _children(left.pop()))
        found.extend(children)
    for child in found:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(child, signal.SIGKILL)


def _children(process: int) -> list[int]:
    """Give the children of all threads of a process; none where it has ended, or where the kernel does not tell."""
    tasks = f"/proc/{process}/task"
    found: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(tasks):
            with suppress(OSError), open(f"{tasks}/{thread}/children") as children:
                found.extend(map(int, children.read().split()))
    return found


def _processes() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def _environment(process: int) -> list[bytes] | None:
    """Give the variables of a process; none where it has ended or is another user's, None where they come shortly."""
    try:
        variables = _read_variables(process)
        if not variables and _is_becoming(process):
            return None
        # Between the two looks it may have become the other program: what is empty now has no variables.
        return (variables or _read_variables(process)).split(b"\0")
    except OSError:
        return []


def _read_variables(process: int) -> bytes:
    with open(f"/proc/{process}/environ", "rb", 0) as block:
        return block.read()


def _is_becoming(process: int) -> bool:
    """Say whether a process has memory, but not yet a place for its variables: it is in the middle of an exec."""
    with open(f"/proc/{process}/stat", "rb", 0) as block:
        fields = block.read().rpartition(b")")[2].split()
    return len(fields) > END_OF_VARIABLES and fields[SIZE] != b"0" and fields[END_OF_VARIABLES] == b"0"


if __name__ == "__main__":
    inherit()
