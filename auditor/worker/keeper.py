"""Keeps a private database server: ``python -I -S keeper.py LIFELINE REPORT``, with a JSON description on stdin.

The description: folder (removed at the end), uid and gid (None: our own), prepare ([command]), serve (a command),
variables of their environment, name, stop (a signal after which the server gives back what it shares with the system,
or None), by_launcher (the command itself changes to the user). REPORT gets lines of JSON, {"started": true} or
{"failed": what was printed, "command"}. LIFELINE is a pipe that the worker holds open: at its end, however the worker
ended, the server and all that
it started are killed and the folder is removed. A process of its own does this, since a server's processes leave the
worker's group and outlive it. The folder is locked as long as its keeper lives.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36

PRCTL = getattr(ctypes.CDLL(None), "prctl", None)

#: Looks at the processes of the server: one may be forking while it is killed.
MOST_LOOKS = 200
MOMENT = 0.005

SHOWN = 2000

#: Seconds that a server has to end by itself.
LAST_BREATH = 2.0


def children() -> "list[int]":
    """Give the processes whose parent this is; orphans of the server come to it, too."""
    found: "list[int]" = []
    for task in os.listdir("/proc/self/task"):
        with open("/proc/self/task/%s/children" % task, "rb", 0) as file:
            found += map(int, file.read().split())
    return found


def kill_all() -> None:
    """Kill the server and what it started, until nothing is left."""
    for _ in range(MOST_LOOKS):
        left = children()
        if not left:
            return
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass
        time.sleep(MOMENT)


def start(command: "list[str]", told: "dict[str, Any]", log: int) -> "subprocess.Popen[bytes]":
    """Start a command as the server's user, to die with us."""

    def own() -> None:
        if told["uid"] is not None:
            os.setgroups([])
            os.setresgid(told["gid"], told["gid"], told["gid"])
            os.setresuid(told["uid"], told["uid"], told["uid"])
        if PRCTL is not None:
            PRCTL(PR_SET_PDEATHSIG, signal.SIGKILL)

    return subprocess.Popen(
        command,
        cwd=told["folder"],
        env=told["variables"],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        preexec_fn=own if not told["by_launcher"] else None,
        umask=0o077,
    )


def is_over(lifeline: int, seconds: float) -> bool:
    """Wait for the end of the lifeline."""
    waiting = select.poll()
    waiting.register(lifeline, select.POLLIN)
    return bool(waiting.poll(1000 * seconds))


def printed(log: int) -> str:
    """Give the end of what was printed."""
    size = os.lseek(log, 0, os.SEEK_END)
    os.lseek(log, max(0, size - SHOWN), os.SEEK_SET)
    return os.read(log, SHOWN).decode("utf-8", "replace").strip()


def keep(told: "dict[str, Any]", lifeline: int, report: int) -> None:
    """Prepare the folder, run the server, and end it with the worker."""
    log = os.open(os.path.join(told["folder"], "log"), os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    for command in told["prepare"]:
        process = start(command, dict(told, by_launcher=False), log)
        while process.poll() is None:
            if is_over(lifeline, 0.02):
                return
        if process.returncode:
            os.write(report, json.dumps({"failed": printed(log), "command": command[0]}).encode() + b"\n")
            return
    process = start(told["serve"], told, log)
    os.write(report, b'{"started": true}\n')
    while not is_over(lifeline, 0.2):
        if process.poll() is not None:
            os.write(report, json.dumps({"failed": printed(log), "command": told["name"]}).encode() + b"\n")
            return
    if told["stop"] is not None:
        process.send_signal(told["stop"])
        try:
            process.wait(LAST_BREATH)
        except subprocess.TimeoutExpired:
            return


def main(lifeline: int, report: int) -> None:
    """Keep the server that stdin describes."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGIO", "SIGPIPE"):
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    if PRCTL is not None:
        PRCTL(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    told = json.load(sys.stdin)
    lock = os.open(told["folder"], os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    fcntl.flock(lock, fcntl.LOCK_SH)
    try:
        keep(told, lifeline, report)
    finally:
        kill_all()
        shutil.rmtree(told["folder"], ignore_errors=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
