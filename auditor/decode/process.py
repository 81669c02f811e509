"""One worker process: started in a group of its own, spoken to over two pipes, ended with everything it started."""

from __future__ import annotations

import errno
import fcntl
import mmap
import os
import select
import signal
import struct
import subprocess
import tempfile
from contextlib import ExitStack, suppress

from auditor.decode.folders import WORKER, open_folder
from auditor.decode.plan import ELSEWHERE, Plan
from auditor.decode.strays import MARK, end_descendants, end_strays, entrust
from auditor.errors import ConsumerError
from auditor.worker_start import kill_group, pipe

PIPE_SIZE = 1024 * 1024
OUTPUT_KEPT = 64 * 1024
WORDS = struct.Struct("=QQ")

#: What files may not be for others in an environment that is elsewhere.
ELSEWHERE_UMASK = 0o077

#: The worker's own reasons for leaving, see `auditor/worker/wire.py`.
LEFT_BECAUSE = {1: "closed the descriptors of its process", 2: "MemoryError outside the parser"}


class Process:
    """A running worker. Its streams are non-blocking; `tail` is the end of what it printed."""

    def __init__(self, plan: Plan) -> None:
        self.tail = bytearray()
        self._ended = ""
        with ExitStack() as ours:
            try:
                self._open(plan, ours)
            except OSError as error:
                raise not_started(plan, error) from error
            self._ours = ours.pop_all()

    def _open(self, plan: Plan, ours: ExitStack) -> None:
        """Start the worker; what it is given is closed here once it has it."""
        self.folder = open_folder(ours, WORKER)
        entrust(ours, self.folder)
        with ExitStack() as theirs:
            memory = shared_memory()
            theirs.callback(os.close, memory)
            os.truncate(memory, WORDS.size)
            self._words = mmap.mmap(memory, WORDS.size)
            ours.callback(self._words.close)
            theirs_request, self.request = pipe(theirs, ours)
            self.reply, theirs_reply = pipe(ours, theirs)
            self.output, theirs_output = pipe(ours, theirs)
            theirs_lifeline, _ = pipe(theirs, ours)
            passed = (theirs_request, theirs_reply, memory, theirs_lifeline)
            self._popen = subprocess.Popen(
                [*plan.command, *map(str, passed)],
                stdin=subprocess.DEVNULL,
                stdout=theirs_output,
                stderr=theirs_output,
                env=plan.variables | self._own_variables(plan),
                cwd=self._place(plan),
                umask=ELSEWHERE_UMASK if plan.elsewhere else -1,
                pass_fds=passed,
                start_new_session=True,
            )
            ours.callback(self._end_everything)
        self.pidfd = self._open_pidfd(ours)
        for stream in (self.request, self.reply, self.output):
            os.set_blocking(stream, False)
        for stream in (self.request, self.reply):  # a whole frame at once, where the system lets us
            with suppress(OSError, AttributeError):
                fcntl.fcntl(stream, fcntl.F_SETPIPE_SZ, PIPE_SIZE)

    def _place(self, plan: Plan) -> str:
        """Give the working folder."""
        if not plan.elsewhere:
            return self.folder
        place = os.path.join(self.folder, ELSEWHERE)
        os.makedirs(place, exist_ok=True)
        return place

    def _own_variables(self, plan: Plan) -> dict[str, str]:
        """Give the consumer a home and a temporary folder that nobody shares with it.

        Heaps and thread pools sized by the number of cores would use up the address space on a large machine.
        """
        elsewhere = {"HOME": self._place(plan)} if plan.elsewhere else {}
        own = {"HOME": self.folder, "TMPDIR": self.folder, "MALLOC_ARENA_MAX": "2", "OPENBLAS_NUM_THREADS": "1"}
        return (
            {name: value for name, value in own.items() if name not in plan.variables} | elsewhere | {MARK: self.folder}
        )

    def _open_pidfd(self, ours: ExitStack) -> int | None:
        with suppress(OSError, AttributeError):
            pidfd = os.pidfd_open(self._popen.pid)
            ours.callback(os.close, pidfd)
            return pidfd
        return None

    @property
    def position(self) -> int:
        """Position of the string that is being decoded."""
        position: int = WORDS.unpack_from(self._words)[0]
        return position

    def is_dead(self) -> bool:
        """Say whether the process has ended; it is not reaped yet where the platform can tell the two apart."""
        if self.pidfd is None:
            return self._popen.poll() is not None
        return is_readable(self.pidfd, 0)

    def wait_dead(self, seconds: float) -> bool:
        """Wait for the end of the process."""
        with suppress(subprocess.TimeoutExpired):
            if self.pidfd is not None:
                return is_readable(self.pidfd, seconds)
            self._popen.wait(seconds)
            return True
        return False

    def drain_output(self) -> bool:
        """Take what the consumer printed, keep its end; False at the end of the stream."""
        try:
            data = os.read(self.output, PIPE_SIZE)
        except BlockingIOError:
            return True
        self.tail += data
        del self.tail[:-OUTPUT_KEPT]
        return bool(data)

    def printed(self) -> str:
        """Give the end of what the consumer printed, as text."""
        while self.drain_output() and is_readable(self.output, 0):
            pass
        return self.tail.decode("utf-8", "replace").strip()

    def end(self) -> str:
        """Kill the whole group, reap it and say how the process ended."""
        if not self._ended:
            # Before it is reaped: its number is then still its own.
            end_descendants(self._popen.pid)
            kill_group(self._popen)
            reason: int = WORDS.unpack_from(self._words)[1]
            self._ended = LEFT_BECAUSE.get(reason) or name_of_exit(self._popen.wait())
        return self._ended

    def _end_everything(self) -> None:
        self.end()
        self._popen.wait()
        end_strays(self.folder)

    def close(self) -> None:
        """End the process and give back everything that it held."""
        self._ours.close()


def is_readable(descriptor: int, seconds: float) -> bool:
    """Wait until there is something to read; unlike `select`, for a descriptor of any number."""
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    return bool(waiting.poll(seconds * 1000))


def shared_memory() -> int:
    """Open a file in memory for the progress words."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("auditor-progress")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def not_started(plan: Plan, error: OSError) -> ConsumerError:
    """Say why the system did not start a worker."""
    seen = f"{error.strerror}: {error.filename}" if error.filename else str(error.strerror)
    hint = "correct `interpreter`" if error.filename == plan.program else ""
    if error.errno in (errno.EMFILE, errno.ENFILE):
        hint = "raise the limit of open files: ulimit -n"
    elif error.errno in (errno.EAGAIN, errno.ENOMEM):
        hint = "the system has no process or memory left"
    elif error.errno in (errno.ENOSPC, errno.EROFS):
        hint = "TMPDIR must name a folder that can be written to"
    return ConsumerError(plan.consumer, f"start {plan.program}", seen, hint)


def name_of_exit(code: int) -> str:
    """Say how a process ended, from its return code."""
    if code >= 0:
        return f"exit code {code}"
    with suppress(ValueError):
        return f"signal {-code} {signal.Signals(-code).name}"
    return f"signal {-code}"
