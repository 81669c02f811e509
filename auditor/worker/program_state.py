"""What a program and what it started are, seen from outside: their memory, and whether their clock stands still."""

from __future__ import annotations

import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import List

AT_SYSINFO_EHDR = 33
VDSO_SIZE = 2 * 4096
PAGE = os.sysconf("SC_PAGE_SIZE")


def family(pid: int) -> "List[int]":
    """Give a process and all that it started, as far as they are still its own."""
    found = [pid]
    for member in found:
        try:
            for task in os.listdir("/proc/%d/task" % member):
                with open("/proc/%d/task/%s/children" % (member, task), "rb", 0) as children:
                    found += map(int, children.read().split())
        except (OSError, ValueError):  # it has ended, or the platform does not tell
            continue
    return found


def resident(pid: int) -> int:
    """Give the bytes that a process and what it started keep in memory; 0 where the platform does not tell."""
    pages = 0
    for member in family(pid):
        try:
            with open("/proc/%d/statm" % member, "rb", 0) as statm:
                pages += int(statm.read().split()[1])
        except (OSError, IndexError):
            continue
    return pages * PAGE


def stands_at(pid: int, instant: float) -> bool:
    """Say whether the clock of a process, and of all that it started, was led to stand at an instant.

    The proof is the instant itself in the page of code that the kernel maps for the time (see `vdso.py`): a program
    that a wrapper started later has a fresh one. False where it cannot be looked at.
    """
    seconds = struct.pack("<q", int(instant // 1))
    return all(seconds in clock_code(member) for member in family(pid))


def clock_code(pid: int) -> bytes:
    """Give the page of code from which a process reads the time; empty where we may not."""
    try:
        with open("/proc/%d/auxv" % pid, "rb") as auxv:
            table = dict(struct.iter_unpack("<QQ", auxv.read()))
        with open("/proc/%d/mem" % pid, "rb", 0) as memory:
            memory.seek(table[AT_SYSINFO_EHDR])
            return memory.read(VDSO_SIZE)
    except (OSError, KeyError, struct.error, ValueError):
        return b""
