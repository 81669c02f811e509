"""A consumer's own program: started, spoken to in lines over its stdin and stdout, and watched.

`consumers/protocol/PROTOCOL.md` is the protocol. The program is in the worker's process group and dies with the worker;
what it prints on stderr goes where the worker's own output goes.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import subprocess
import time

from . import program_state
from .trouble import Broken, Ended

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional

#: Lines on their way: one that is answered and one that waits, so that the program never waits for us.
IN_FLIGHT = 2

#: Seconds between two looks at the program's memory, and from the end of its output to its own end.
LOOK = 0.05
LAST_BREATH = 1.0

PIECE = 1024 * 1024

#: Bytes of an answer without an end of line, beyond some multiple of its question: a flood and no answer.
LONGEST_ANSWER = 64 * 1024 * 1024

PR_SET_PDEATHSIG = 1

#: For messages: so much of what a program wrote is shown.
SHOWN = 200


class Number(str):
    """The source text of a JSON number, none of whose digits is lost."""


def no_constant(text: str) -> None:
    """Refuse what Python writes and JSON does not have."""
    raise ValueError("%s is no JSON: a value that is none is null" % text)


decode_json = json.JSONDecoder(parse_float=Number, parse_int=Number, parse_constant=no_constant).decode
encode_json = json.JSONEncoder(separators=(",", ":")).encode  # ASCII, so every string has a text, surrogates too


def line_of(message: "Dict[str, Any]") -> bytes:
    """Write a message as a line."""
    return encode_json(message).encode("ascii") + b"\n"


def shown(line: bytes) -> str:
    """Show what a program wrote."""
    text = line.decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= SHOWN else text[:SHOWN] + "…")


class Program:
    """A running program. `memory` is how many bytes it and what it starts may keep resident."""

    def __init__(self, command: "List[str]", folder: str, memory: int, launcher: "Optional[List[str]]" = None) -> None:
        self.command, self.memory = command, memory
        self.process = subprocess.Popen(
            [*(launcher or ()), *command],
            cwd=folder,
            env=inherited_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            preexec_fn=make_own(),
        )
        assert self.process.stdin is not None and self.process.stdout is not None
        self.into, self.out = self.process.stdin.fileno(), self.process.stdout.fileno()
        for stream in (self.into, self.out):
            os.set_blocking(stream, False)
        self.inbox = bytearray()
        self.searched = 0
        self.looked = 0.0
        self.fed = True

    @property
    def name(self) -> str:
        """Give the command as one would type it."""
        return " ".join(self.command)

    def converse(self, lines: "List[bytes]", seconds: "Optional[float]" = None) -> "List[bytes]":
        """Send lines and give the line that answers each, in order.

        Raises Ended where the program is gone, Broken where it floods its output, MemoryError where it keeps too much,
        TimeoutError where `seconds` are over.
        """
        answers: "List[bytes]" = []
        outbox: "List[memoryview]" = [memoryview(line) for line in reversed(lines)]
        started = 0
        rest = memoryview(b"")
        until = None if seconds is None else time.monotonic() + seconds
        while len(answers) < len(lines):
            if not rest and outbox and started - len(answers) < IN_FLIGHT:
                rest = outbox.pop()
                started += 1
            self._wait(bool(rest), until)
            if rest:
                rest = self._write(rest)
            while len(answers) < len(lines) and self._take(answers):
                pass
            if len(self.inbox) > LONGEST_ANSWER + 16 * max(map(len, lines)):
                seen = "it wrote %d MiB on stdout without an end of line" % (len(self.inbox) // 1024**2)
                raise Broken("read an answer of %s" % self.name, seen, "an answer is one line of JSON")
        return answers

    def _wait(self, writing: bool, until: "Optional[float]") -> None:
        """Wait until something can be read or written; the pace of looking at the program."""
        waiting = select.poll()
        waiting.register(self.out, select.POLLIN)
        if writing and self.fed:
            waiting.register(self.into, select.POLLOUT)
        if until is not None and time.monotonic() > until:
            raise TimeoutError("no answer")
        ready = waiting.poll(1000 * LOOK)
        now = time.monotonic()
        if now - self.looked > LOOK:
            self.looked = now
            self._look(bool(ready))

    def _look(self, ready: bool) -> None:
        """See that the program is there, and how much memory it keeps."""
        if not ready and self.process.poll() is not None:
            raise Ended(self.ending())
        kept = program_state.resident(self.process.pid)
        if kept > self.memory:
            self.end()
            raise MemoryError("the program kept %d MiB resident, and may %d" % (kept >> 20, self.memory >> 20))

    def _write(self, rest: memoryview) -> memoryview:
        try:
            return rest[os.write(self.into, rest[:PIECE]) :]
        except BlockingIOError:
            return rest
        except BrokenPipeError:  # what it wrote before it closed its end may still be read
            self.fed = False
            if not self.wait_ended(LAST_BREATH):
                raise Ended("closed its stdin") from None
            raise Ended(self.ending()) from None

    def _take(self, answers: "List[bytes]") -> bool:
        """Take one line out of what was read, reading once where there is none; False where nothing is left."""
        end = self.inbox.find(b"\n", self.searched)
        if end < 0:
            self.searched = len(self.inbox)
            try:
                data = os.read(self.out, PIECE)
            except BlockingIOError:
                return False
            if not data:
                raise Ended(self.ending() if self.wait_ended(LAST_BREATH) else "closed its stdout")
            self.inbox += data
            return len(self.inbox) <= LONGEST_ANSWER
        answers.append(bytes(self.inbox[:end]))
        del self.inbox[: end + 1]
        self.searched = 0
        return True

    def unasked(self, seconds: float) -> bytes:
        """Give what the program writes within some time although nothing was asked."""
        until = time.monotonic() + seconds
        while not self.inbox and time.monotonic() < until:
            try:
                data = os.read(self.out, PIECE)
                if not data:
                    break
                self.inbox += data
            except BlockingIOError:
                time.sleep(0.01)
        return bytes(self.inbox)

    def wait_ended(self, seconds: float) -> bool:
        """Wait for the program's end."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def ending(self) -> str:
        """Say how the program ended."""
        code = self.process.wait()
        if code >= 0:
            return "exit code %d" % code
        try:
            return "signal %d %s" % (-code, signal.Signals(-code).name)
        except ValueError:
            return "signal %d" % -code

    def end(self) -> None:
        """Kill the program; what it started ends with the worker's group."""
        self.process.kill()
        self.process.wait()


def make_own() -> "Any":
    """Give what the new process does before it becomes the program: die with us, and have all the address space.

    The worker's own limit is one of address space, of which a JVM or a V8 reserves far more than it ever uses.
    """
    prctl = getattr(ctypes.CDLL(None), "prctl", None)

    def own() -> None:
        if prctl is not None:
            prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        import resource

        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))

    return own


def inherited_environment() -> "Dict[bytes, bytes]":
    """Give the environment as it was handed to the worker: its interpreter may have added to its own."""
    try:
        with open("/proc/self/environ", "rb") as block:
            pairs = [entry.partition(b"=") for entry in block.read().split(b"\0")]
    except OSError:
        return dict(os.environb)
    return {name: value for name, equals, value in pairs if equals}
