"""Run a program with its wall clock frozen: ``python -I -S at_clock.py EPOCH_NS -- program arguments...``.

With ``offline`` before the ``--`` it has no network either, as `without_network.py` gives it: one start less.

The program replaces this process: same pid, same parent, inherited descriptors, exit status and signals untouched.
An orphaned tracer waits for the new image's exec stop, leads the wall-clock functions of its vDSO (the page of code
that every libc, Go and static program asks for the time) to constants, detaches and exits. The monotonic clocks run
on, at full speed, so sleeps and time-outs work; a raw system call still sees the real clock, and so does a program
that the program starts. Frozen, not shifted: a parser that reads the clock then gives the same bytes on every run.

Where the clock cannot be set (no permission to trace, another processor, no vDSO) the program runs all the same: the
reader has a canary and says so. Nothing here waits without a limit.

Name the real program and not a shim: what a wrapper script starts later has a fresh vDSO.
"""

# ruff: noqa: SIM105 - contextlib would cost every launch 5 ms

from __future__ import annotations

import ctypes
import os
import select
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal

    from .become import become
    from .empty_network import leave_if_allowed
    from .vdso import LIBC, freeze, ptrace
else:
    import _signal as signal  # the public module spends 10 ms of every launch on its enumerations

    package = type(sys)("_auditor_launcher")
    package.__path__ = [os.path.dirname(os.path.abspath(__file__))]
    sys.modules["_auditor_launcher"] = package
    from _auditor_launcher.become import become
    from _auditor_launcher.empty_network import leave_if_allowed
    from _auditor_launcher.vdso import LIBC, freeze, ptrace

SECONDS_TO_ATTACH = 10  # the program starts without the tracer after this
SECONDS_TO_PATCH = 20  # the tracer dies after this, which releases the program

PTRACE_CONT, PTRACE_DETACH = 7, 17
PTRACE_SEIZE, PTRACE_LISTEN = 0x4206, 0x4208
PTRACE_O_TRACEEXEC = 0x10
PTRACE_EVENT_EXEC, PTRACE_EVENT_STOP = 4, 128
PR_SET_PTRACER = 0x59616D61
WALL = 0x40000000


def close_all_but(kept: int) -> None:
    """Close what was inherited, so that no pipe of the program stays open here."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) != kept:
            try:
                os.close(int(name))
            except OSError:  # the descriptor that listed the folder
                pass


def trace(pid: int, ready: int, epoch_ns: int) -> None:
    """Wait for the exec stop of `pid`, patch it and let it go; the death of this process releases it too."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    signal.alarm(SECONDS_TO_PATCH)
    close_all_but(ready)
    ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACEEXEC)
    os.write(ready, b"1")
    while True:
        _, status = os.waitpid(pid, WALL)
        if not os.WIFSTOPPED(status):
            return
        event, number = status >> 16, os.WSTOPSIG(status)
        if event == PTRACE_EVENT_EXEC:
            try:
                freeze(pid, epoch_ns)
            finally:
                ptrace(PTRACE_DETACH, pid)
            return
        if event == PTRACE_EVENT_STOP and number != signal.SIGTRAP:
            ptrace(PTRACE_LISTEN, pid)
        else:
            ptrace(PTRACE_CONT, pid, 0, 0 if event else number)


def start_tracer(epoch_ns: int) -> None:
    """Start the tracer as an orphan, so that the program has no child that it does not know; wait until it is there."""
    pid = os.getpid()
    LIBC.prctl(PR_SET_PTRACER, ctypes.c_ulong(-1), 0, 0, 0)  # where Yama restricts tracing to ancestors
    attached, ready = os.pipe()
    between = os.fork()
    if between == 0:
        try:
            if os.fork() == 0:
                trace(pid, ready, epoch_ns)
        finally:
            os._exit(0)
    os.close(ready)
    try:
        os.waitpid(between, 0)
    except ChildProcessError:  # SIGCHLD is ignored: the kernel has reaped it
        pass
    waiting = select.poll()
    waiting.register(attached, select.POLLIN)
    waiting.poll(1000 * SECONDS_TO_ATTACH)
    os.close(attached)


def main(arguments: list[str]) -> int:
    """Become the program; 127 where it is not found, 126 where it cannot be run, 2 for a wrong call."""
    offline = arguments[1:2] == ["offline"]
    epoch, command = arguments[:1], arguments[2 + offline :]
    if not command or arguments[1 + offline] != "--":
        sys.stderr.write("usage: at_clock.py EPOCH_NS [offline] -- program arguments...\n")
        return 2
    epoch_ns = int(epoch[0])
    if offline:
        leave_if_allowed()
    try:
        start_tracer(epoch_ns)
    except OSError:  # no process, no descriptor left: the canary tells
        pass
    return become(command, "at_clock")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
