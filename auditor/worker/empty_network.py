"""An empty network for this process: no interface but a loopback that is down; no root is needed for it."""

from __future__ import annotations

import ctypes
import os

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000

LIBC = ctypes.CDLL(None, use_errno=True)


def unshare(flags: int) -> None:
    """Call unshare; OSError where it fails."""
    if LIBC.unshare(ctypes.c_int(flags)) == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def write(path: str, text: str) -> None:
    """Write a file of this process in /proc, at once."""
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def leave_network() -> None:
    """Go into an empty network; OSError where that is not allowed."""
    try:
        unshare(CLONE_NEWNET)
    except OSError:
        user, group = os.geteuid(), os.getegid()
        unshare(CLONE_NEWUSER | CLONE_NEWNET)
        write("/proc/self/setgroups", "deny")
        write("/proc/self/gid_map", "%d %d 1" % (group, group))
        write("/proc/self/uid_map", "%d %d 1" % (user, user))


def may_leave() -> bool:
    """Try it in a child: half of it would leave a process that is nobody."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            leave_network()
            code = 0
        finally:
            os._exit(code)
    try:
        return os.waitpid(child, 0)[1] == 0
    except ChildProcessError:  # SIGCHLD is ignored: the kernel has reaped it
        return False


def leave_if_allowed() -> None:
    """Go into an empty network where the system allows that; the reader's canary says where it does not."""
    try:
        if may_leave():
            leave_network()
    except (OSError, AttributeError):  # no process left, or a libc without unshare
        return
