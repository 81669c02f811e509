"""One worker process: started in a group of its own, spoken to over two pipes, ended with everything it started."""

from __future__ import annotations

import fcntl
import mmap
import os
import select
import shutil
import signal
import struct
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

from auditor.decode.plan import Plan
from auditor.errors import ConsumerError

PIPE_SIZE = 1024 * 1024
OUTPUT_KEPT = 64 * 1024
WORDS = struct.Struct("=QQ")

#: The worker's own reasons for leaving, see `auditor/worker/wire.py`.
LEFT_BECAUSE = {1: "closed the descriptors of its process", 2: "MemoryError outside the parser"}


class Process:
    """A running worker. Its streams are non-blocking; `tail` is the end of what it printed."""

    def __init__(self, plan: Plan) -> None:
        self.folder = tempfile.mkdtemp(prefix="auditor-worker-")
        self.tail = bytearray()
        self._ended = ""
        memory = shared_memory()
        os.truncate(memory, WORDS.size)
        self._words = mmap.mmap(memory, WORDS.size)
        theirs_request, self.request = os.pipe()
        self.reply, theirs_reply = os.pipe()
        self.output, theirs_output = os.pipe()
        theirs_lifeline, self._lifeline = os.pipe()
        passed = (theirs_request, theirs_reply, memory, theirs_lifeline)
        try:
            self._popen = subprocess.Popen(
                [*plan.command, *map(str, passed)],
                stdin=subprocess.DEVNULL,
                stdout=theirs_output,
                stderr=theirs_output,
                env=plan.variables | self._own_variables(plan),
                cwd=self.folder,
                pass_fds=passed,
                start_new_session=True,
            )
        except OSError as error:
            self._close(self.request, self.reply, self.output, self._lifeline)
            shutil.rmtree(self.folder, ignore_errors=True)
            hint = "correct `interpreter`" if plan.config["adapter"] != "sql" else ""
            raise ConsumerError(plan.consumer, f"start {plan.program}", str(error.strerror), hint) from error
        finally:
            self._close(*passed, theirs_output)
        self.pidfd = self._open_pidfd()
        for stream in (self.request, self.reply, self.output):
            os.set_blocking(stream, False)
        for stream in (self.request, self.reply):  # a whole frame at once, where the system lets us
            with suppress(OSError, AttributeError):
                fcntl.fcntl(stream, fcntl.F_SETPIPE_SZ, PIPE_SIZE)

    def _own_variables(self, plan: Plan) -> dict[str, str]:
        """Give the consumer a home and a temporary folder that nobody shares with it.

        Heaps and thread pools sized by the number of cores would use up the address space on a large machine.
        """
        own = {"HOME": self.folder, "TMPDIR": self.folder, "MALLOC_ARENA_MAX": "2", "OPENBLAS_NUM_THREADS": "1"}
        return {name: value for name, value in own.items() if name not in plan.variables}

    def _open_pidfd(self) -> int | None:
        with suppress(OSError, AttributeError):
            return os.pidfd_open(self._popen.pid)
        return None

    @staticmethod
    def _close(*descriptors: int) -> None:
        for descriptor in descriptors:
            with suppress(OSError):
                os.close(descriptor)

    @property
    def position(self) -> int:
        """Position of the string that is being decoded."""
        position: int = WORDS.unpack_from(self._words)[0]
        return position

    def is_dead(self) -> bool:
        """Say whether the process has ended; it is not reaped yet where the platform can tell the two apart."""
        if self.pidfd is None:
            return self._popen.poll() is not None
        return bool(select.select([self.pidfd], [], [], 0)[0])

    def wait_dead(self, seconds: float) -> bool:
        """Wait for the end of the process."""
        with suppress(subprocess.TimeoutExpired):
            if self.pidfd is not None:
                return bool(select.select([self.pidfd], [], [], seconds)[0])
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
        while self.drain_output() and select.select([self.output], [], [], 0)[0]:
            pass
        return self.tail.decode("utf-8", "replace").strip()

    def end(self) -> str:
        """Kill the whole group, reap it and say how the process ended."""
        if not self._ended:
            # Before it is reaped: its number is then still its own.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._popen.pid, signal.SIGKILL)
            reason: int = WORDS.unpack_from(self._words)[1]
            self._ended = LEFT_BECAUSE.get(reason) or name_of_exit(self._popen.wait())
        return self._ended

    def close(self) -> None:
        """End the process and give back everything that it held."""
        self.end()
        self._popen.wait()
        self._close(self.request, self.reply, self.output, self._lifeline)
        if self.pidfd is not None:
            self._close(self.pidfd)
        self._words.close()
        shutil.rmtree(Path(self.folder), ignore_errors=True)


def shared_memory() -> int:
    """Open a file in memory for the progress words."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("auditor-progress")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def name_of_exit(code: int) -> str:
    """Say how a process ended, from its return code."""
    if code >= 0:
        return f"exit code {code}"
    with suppress(ValueError):
        return f"signal {-code} {signal.Signals(-code).name}"
    return f"signal {-code}"
