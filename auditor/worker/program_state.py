"""What a program and what it started are, seen from outside: their memory, whether their clock stands still, and how
those that are Python hash.
"""

from __future__ import annotations

import os
import re
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import List, Optional

AT_SYSINFO_EHDR = 33
VDSO_SIZE = 2 * 4096
PAGE = os.sysconf("SC_PAGE_SIZE")

#: Names of interpreters whose hashing follows PYTHONHASHSEED, and the library of a program that holds one.
PYTHON = re.compile(r"(python|pypy)[0-9.]*[a-z]?(\.exe)?")
EMBEDDED = b"/libpython"


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


def hash_seed(pid: int, command: str) -> "Optional[str]":
    """Give the hash seed that a program was started with; None where neither it nor what it started is Python.

    Empty where there is none, or several, or the interpreter was told not to heed it. `command` is what was started,
    for platforms that do not tell what a process is.
    """
    members = [member for member in family(pid) if is_python(member, command)]
    seeds = {seed_of(member) for member in members}
    return None if not members else seeds.pop() if len(seeds) == 1 else ""


def is_python(pid: int, command: str) -> bool:
    """Say whether a process is a Python interpreter, or holds one."""
    try:
        name = os.readlink("/proc/%d/exe" % pid)
        with open("/proc/%d/maps" % pid, "rb") as maps:
            return bool(PYTHON.fullmatch(os.path.basename(name))) or EMBEDDED in maps.read()
    except OSError:
        return bool(PYTHON.fullmatch(os.path.basename(command)))


def seed_of(pid: int) -> str:
    """Give the hash seed in the variables of a Python process; empty where it has none or does not heed it."""
    try:
        with open("/proc/%d/environ" % pid, "rb") as environ, open("/proc/%d/cmdline" % pid, "rb") as cmdline:
            variables, words = environ.read().split(b"\0"), cmdline.read().split(b"\0")[1:]
    except OSError:
        return ""
    if any(letter in options(words) for letter in "EIR"):
        return ""
    name = b"PYTHONHASHSEED="
    return next((one[len(name) :].decode("ascii", "replace") for one in variables if one.startswith(name)), "")


def options(words: "List[bytes]") -> str:
    """Give the letters of the interpreter's own options: those before the script, the module or the program's text."""
    found = ""
    takes = False  # whether the next word is the value of the option before it
    for word in words:
        if takes:
            takes = False
        elif not word.startswith(b"-") or word.startswith(b"--") or word == b"-":
            break
        else:
            letters = re.match(r"[a-zA-Z?]*?(?=[cmWX]|\Z)", word[1:].decode("ascii", "replace"))
            found += letters.group() if letters else ""
            rest = word[1 + (letters.end() if letters else 0) :]
            if rest[:1] in (b"c", b"m"):
                break
            takes = rest in (b"W", b"X")
    return found
