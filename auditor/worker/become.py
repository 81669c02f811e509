"""Become the program that a launcher prepared its process for.

For the launchers of this folder, `at_clock.py` and `without_network.py`.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    import _signal as signal  # the public module spends 10 ms of every launch on its enumerations

USER = "--user="
PR_SET_PDEATHSIG = 1


def inherited_environment() -> dict[bytes, bytes]:
    """Give the environment as it was handed over: the interpreter may have added LC_CTYPE to its own."""
    try:
        with open("/proc/self/environ", "rb") as block:
            entries = block.read().split(b"\0")
    except OSError:
        return dict(os.environb)
    variables = {}
    for entry in entries:
        name, equals, value = entry.partition(b"=")
        if equals:
            variables[name] = value
    return variables


def drop_to(user: str) -> None:
    """Become another user, UID:GID, and die with the parent as before: to change users ends that, too."""
    import ctypes

    uid, _, gid = user.partition(":")
    os.setgroups([])
    os.setresgid(int(gid), int(gid), int(gid))
    os.setresuid(int(uid), int(uid), int(uid))
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def become(command: list[str], launcher: str) -> int:
    """Run the command in place of this process; 127 where it is not found, 126 where it cannot be run.

    A first word ``--user=UID:GID`` is the user that runs it.
    """
    if command[0].startswith(USER) and len(command) > 1:
        drop_to(command[0][len(USER) :])
        command = command[1:]
    for name in ("SIGPIPE", "SIGXFSZ"):  # the interpreter ignores them, and that would be inherited
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])  # a library of the parent's, such as ClickHouse, blocks SIGPIPE
    try:
        os.execvpe(command[0], command, inherited_environment())
    except OSError as error:
        sys.stderr.write("%s: cannot run %s: %s\n" % (launcher, command[0], error.strerror))
        return 127 if isinstance(error, FileNotFoundError) else 126
