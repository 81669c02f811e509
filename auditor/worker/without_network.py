"""Run a program without any network: ``python -I -S without_network.py -- program arguments...``.

The program replaces this process, in a network of its own that has no interface but a loopback that is down. No root
is needed: where the system asks for it, the process gets a user namespace in which it is who it was, so that files keep
their owners. Where neither is allowed the program runs all the same, and the reader's canary says so.
"""

from __future__ import annotations

import ctypes
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .become import become
else:
    package = type(sys)("_auditor_launcher")
    package.__path__ = [os.path.dirname(os.path.abspath(__file__))]
    sys.modules["_auditor_launcher"] = package
    from _auditor_launcher.become import become

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


def main(arguments: list[str]) -> int:
    """Become the program; 127 where it is not found, 126 where it cannot be run, 2 for a wrong call."""
    if len(arguments) < 2 or arguments[0] != "--":
        sys.stderr.write("usage: without_network.py -- program arguments...\n")
        return 2
    try:
        if may_leave():
            leave_network()
    except (OSError, AttributeError):  # no process left, or a libc without unshare: the canary tells
        pass
    return become(arguments[1:], "without_network")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
