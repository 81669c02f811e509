"""A private database server: in a temporary folder, on a socket that only we and its own user reach, ended with us.

A server does not run as root: there it runs as an unprivileged user, and its programs must be readable for that one.
Its clock is fixed by the launcher that fixes ours; a server's own processes are forks, which see the same clock.
"""

from __future__ import annotations

import glob
import json
import os
import pwd
import select
import shutil
import subprocess
import sys
import tempfile
import time

from .trouble import Ended, StartError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

KEEPER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "keeper.py")

#: As `auditor/decode/folders.py` names the folders that it removes where their owner is gone.
PREFIX = "auditor-worker-server-"
WORKER_PREFIX = "auditor-worker-"

#: Seconds that a server may take until it answers; the parent waits a little longer for us.
START = 18.0


def unprivileged(names: "Sequence[str]") -> "Optional[pwd.struct_passwd]":
    """Give the user as which a server runs; None where that is ourselves, who are not root."""
    if os.geteuid() != 0:
        return None
    for name in (*names, "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise StartError("start a database server", "as root no server starts, and there is no user nobody", "add one")


class Programs:
    """The folder of a server's programs that is used, and as which user."""

    def __init__(self, product: str, program: str, folders: "Sequence[str]", users: "Sequence[str]", hint: str) -> None:
        self.user = unprivileged(users)
        seen = []
        for folder in dict.fromkeys(folders):
            path = os.path.join(folder, program)
            if not os.path.isfile(path):
                continue
            said = self._version(path)
            if said.startswith("!"):
                seen.append("%s: %s" % (path, said[1:]))
                continue
            self.folder, self.version = folder, said
            return
        raise StartError("start a private %s" % product, "; ".join(seen) or "there is no %s" % program, hint)

    def _version(self, path: str) -> str:
        """Ask a program for its version, as the user as which it is to run; a text with ! says why it does not."""
        try:
            # Bound to the user by hand: `user=` of subprocess is newer than our oldest Python.
            done = subprocess.run(
                [path, "--version"],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=10,
                preexec_fn=self._become,
            )
        except (OSError, subprocess.SubprocessError) as error:
            who = self.user.pw_name if self.user is not None else "us"
            return "!it cannot be run by %s (%s)" % (who, error)
        said = done.stdout.decode("utf-8", "replace").strip()
        return said if done.returncode == 0 else "!" + said

    def _become(self) -> None:
        if self.user is not None:
            os.setgroups([])
            os.setgid(self.user.pw_gid)
            os.setuid(self.user.pw_uid)

    def path(self, program: str) -> str:
        """Give the path of a program."""
        return os.path.join(self.folder, program)


def folders_on_path(*programs: str) -> "List[str]":
    """Give the folders of PATH, with those that only root has on it, in which one of some programs is."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin:/sbin"
    found = [shutil.which(program, path=path) for program in programs]
    return [os.path.dirname(os.path.realpath(one)) for one in found if one]


def newest(pattern: str) -> "List[str]":
    """Give folders whose path holds a version, the newest first."""

    def version(path: str) -> "List[int]":
        return [int(part) for part in path.replace(".", "/").split("/") if part.isdigit()]

    return sorted(glob.glob(pattern), key=version, reverse=True)


class Server:
    """A server that runs, and its folder; closing it, or our end, ends it."""

    def __init__(
        self,
        product: str,
        programs: Programs,
        launcher: "List[str]",
        describe: "Callable[[str], Dict[str, Any]]",
    ) -> None:
        """Start what `describe(folder)` gives: prepare [command], serve (a command), variables, stop (or None)."""
        self.product, self.programs = product, programs
        self.folder = self._make_folder()
        told = dict(describe(self.folder), folder=self.folder, uid=None, gid=None, by_launcher=False)
        told["name"] = os.path.basename(told["serve"][0])
        user = programs.user
        if user is not None:
            told["uid"], told["gid"] = user.pw_uid, user.pw_gid
        if launcher:
            as_user = ["--user=%d:%d" % (told["uid"], told["gid"])] if user is not None else []
            told["serve"], told["by_launcher"] = [*launcher, *as_user, *told["serve"]], user is not None
        lifeline, self.lifeline = os.pipe()
        self.report, report = os.pipe()
        self.keeper = subprocess.Popen(
            [sys.executable, "-I", "-S", KEEPER, str(lifeline), str(report)],
            stdin=subprocess.PIPE,
            env={name: value for name, value in os.environ.items() if not name.startswith(("AUDITOR_", "LD_PRELOAD"))},
            pass_fds=(lifeline, report),
            start_new_session=True,
            preexec_fn=without_limits(),
        )
        os.close(lifeline)
        os.close(report)
        assert self.keeper.stdin is not None
        with self.keeper.stdin as stdin:
            stdin.write(json.dumps(told).encode())
        self.said = b""
        self.is_closed = False

    def _make_folder(self) -> str:
        """Make the folder beside the worker's own, which the server's user may not enter."""
        place = tempfile.gettempdir()
        if os.path.basename(place).startswith(WORKER_PREFIX):
            place = os.path.dirname(place)
        folder = tempfile.mkdtemp(prefix=PREFIX, dir=place)
        user = self.programs.user
        os.chmod(folder, 0o711)
        for name in ("data", "socket"):
            inner = os.path.join(folder, name)
            os.mkdir(inner, 0o700)
            if user is not None:
                os.chown(inner, user.pw_uid, user.pw_gid)
        return folder

    def connect(self, attempt: "Callable[[], Any]", refused: "Tuple[type[BaseException], ...]") -> "Any":
        """Connect as soon as the server listens; StartError where it ends or takes too long."""
        until = time.monotonic() + START
        tried = "start a private %s" % self.product
        while True:
            failed = self.failure()
            if failed:
                self.close()
                raise StartError(tried, failed, "start the server by hand, or name one that runs with `connection`")
            try:
                return attempt()
            except refused as error:
                if time.monotonic() > until:
                    seen = "it does not answer within %d s: %s%s" % (START, error, self.last_line())
                    self.close()
                    raise StartError(tried, seen, "start it by hand, or name one that runs with `connection`") from None
            time.sleep(0.02)

    def failure(self) -> str:
        """Say why the server has ended; nothing while it runs."""
        if self.is_closed:
            return "it was closed"
        if select.select([self.report], [], [], 0)[0]:
            data = os.read(self.report, 65536)
            self.said += data
            if not data and b"failed" not in self.said:
                return "its keeper has ended"
        for line in self.said.splitlines():
            told = json.loads(line)
            if "failed" in told:
                return "%s ended: %s" % (os.path.basename(told["command"]), told["failed"][-1500:])
        return ""

    def last_line(self) -> str:
        """Give what the server has printed last, such as that it waits for room on its disk."""
        try:
            with open(os.path.join(self.folder, "log"), errors="replace") as log:
                lines = log.read().strip().splitlines()
        except OSError:
            return ""
        return "; it printed last: " + lines[-1][:500] if lines else ""

    def ended(self) -> "Ended":
        """Say that the server is gone."""
        return Ended("the private %s ended: %s" % (self.product, self.failure() or "it closed its connections"))

    def close(self) -> None:
        """End the server and remove its folder."""
        if self.is_closed:
            return
        self.is_closed = True
        os.close(self.lifeline)
        self.keeper.wait()
        os.close(self.report)


def server_variables() -> "Dict[str, str]":
    """Give the variables that a server has of ours: what is under test, and what its programs need to run."""
    kept = ("PATH", "TZ", "LANG", "LC_ALL", "LOCPATH", "LD_LIBRARY_PATH", "LD_PRELOAD")
    return {name: value for name, value in os.environ.items() if name in kept}


def without_limits() -> "Callable[[], None]":
    """Give what lifts the worker's own limit, of address space: a server maps far more than it ever uses."""

    def lift() -> None:
        import resource

        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))

    return lift
