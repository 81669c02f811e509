"""Frames in flight between the parent and one worker: both sides busy, and a watch on the string that does not end."""

from __future__ import annotations

import os
import selectors
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

import msgspec

from auditor.decode.frames import LENGTHS, Frame, Reply, Told, read_reply
from auditor.decode.plan import Plan
from auditor.decode.process import PIPE_SIZE, Process, not_started
from auditor.decode.stop import Stop, Stopped

#: Frames in flight: one that is decoded and one that waits, so that a worker never waits for its parent.
IN_FLIGHT = 2

#: Seconds between two looks at the progress word.
LOOK = 0.1

#: Seconds that a worker may take between strings: reading a frame, writing a reply.
BETWEEN_STRINGS = 60.0

#: Rows of a batch that have as long as one string has: a parser that reads 500 a second is in time by default.
ROWS = 1000


class Lost(Exception):
    """A worker that gave no reply to a frame: it died or was stopped at `index` of it; `replied` is what it had."""

    def __init__(self, frame: Frame, index: int, status: str, error: str, replied: Reply | None = None) -> None:
        super().__init__(error)
        self.frame, self.index, self.status, self.error, self.replied = frame, index, status, error, replied
        self.unanswered: list[Frame] = []


@dataclass
class Limits:
    """Seconds that the worker may stand still: at a string, and at the first string of a fresh process.

    An adapter that decodes a frame in one call (`per_frame`) has no longer for a frame than for a string: one that
    takes longer is asked again in parts, down to the single string.
    """

    string: float
    first: float
    per_frame: bool = False

    def of_batch(self, rows: int) -> Limits:
        """Give the limits of a batch, which is one call: those of a string, and again for each thousand rows."""
        more = self.string * rows / ROWS
        return Limits(self.string + more, self.first + more)

    def times(self, factor: float) -> Limits:
        """Give limits that are so many times as long."""
        return Limits(self.string * factor, self.first * factor, self.per_frame)

    def at(self, frame: Frame, position: int, first: bool) -> float:
        """Give the limit for the present position."""
        if not frame.base <= position < frame.end:
            return max(BETWEEN_STRINGS, self.string)
        return self.first if first and position == frame.base else self.string


class Exchange:
    """The conversation with one process; `told` takes up what its replies tell of.

    `slow_start` says that the first string took longer than a string may, in a process that was still importing.
    """

    def __init__(self, process: Process, stop: Stop, told: Told) -> None:
        self.process, self.told = process, told
        self.fresh, self.slow_start = True, False
        self._stop = stop.waiting
        self._selector = selectors.DefaultSelector()  # the one thing here that can fail
        for stream in (process.reply, process.output, process.pidfd, self._stop):
            if stream is not None:
                self._selector.register(stream, selectors.EVENT_READ)
        self._inbox = bytearray()
        self._outbox: deque[memoryview] = deque()
        self._waiting: deque[Frame] = deque()
        self._closed = False

    def close(self) -> None:
        """End the process."""
        self._selector.close()
        self.process.close()

    def run(
        self, next_frame: Callable[[], Frame | None], limits: Limits, look: Callable[[Frame, int], None] | None = None
    ) -> Iterator[tuple[Frame, Reply]]:
        """Send frames as long as there are any and yield each with its reply; raise Lost where none comes."""
        still = self.process.position
        since = time.monotonic()
        self._fill(next_frame)
        while self._waiting:
            ended = self._turn()
            while (answered := self._next_reply()) is not None:
                since = time.monotonic()
                self._fill(next_frame)
                yield answered
            if not self._waiting:
                break
            if ended:
                raise self._lost(*self._ending())
            position, now = self.process.position, time.monotonic()
            if position != still:
                still, since = position, now
            elif now - since > limits.string:
                self._check(position, now - since, limits)
            if look is not None:
                look(self._waiting[0], position)

    def _check(self, position: int, seconds: float, limits: Limits) -> None:
        """Raise Lost where the worker has stood still for too long."""
        frame = self._waiting[0]
        if seconds > limits.at(frame, position, self.fresh):
            raise self._lost("timed_out", f"no answer within {limits.string:.4g} s")
        self.slow_start = self.slow_start or frame.base <= position < frame.end

    def ask(self, frame: Frame, limits: Limits) -> Reply:
        """Send one frame and give its reply; after a slow start it is asked again, since the last word has no grace."""
        frames = iter((frame,))
        for _, reply in self.run(lambda: next(frames, None), limits):
            if self.take_slow_start():
                return self.ask(frame, limits)
            return reply
        raise AssertionError("a frame has a reply or is lost")

    def take_slow_start(self) -> bool:
        """Say whether the first string took too long for any other, once."""
        slow, self.slow_start = self.slow_start, False
        return slow

    def greet(self, data: bytes, seconds: float) -> bytes:
        """Send the configuration and give the header of the first reply; Lost where none comes in time."""
        self._waiting.append(Frame((), -1, data))
        self._outbox.append(memoryview(data))
        until = time.monotonic() + seconds
        while True:
            ended = self._turn()
            if (reply := self._take()) is not None:
                self._waiting.popleft()
                return reply[0]
            if ended:
                raise self._lost(*self._ending())
            if time.monotonic() > until:
                raise self._lost("timed_out", f"not ready within {seconds:g} s")

    def _fill(self, next_frame: Callable[[], Frame | None]) -> None:
        while len(self._waiting) < IN_FLIGHT and (frame := next_frame()) is not None:
            self._waiting.append(frame)
            self._outbox.append(memoryview(frame.data))

    def _turn(self) -> bool:
        """Move what can be moved; True when the worker has ended or has closed its end."""
        self._write()
        ready = {key.fd for key, _ in self._selector.select(LOOK)}
        if self._stop in ready:
            raise Stopped
        if self.process.output in ready and not self.process.drain_output():
            self._selector.unregister(self.process.output)
        ended = self.process.pidfd in ready or (not ready and self.process.is_dead())
        if self.process.reply in ready or ended:
            self._read()
        return ended or self._closed

    def _write(self) -> None:
        with suppress(BlockingIOError, BrokenPipeError):
            while self._outbox:
                rest = self._outbox[0]
                rest = rest[os.write(self.process.request, rest) :]
                if rest:
                    self._outbox[0] = rest
                else:
                    self._outbox.popleft()
        self._watch_request(bool(self._outbox))

    def _watch_request(self, wanted: bool) -> None:
        watched = self.process.request in self._selector.get_map()
        if wanted and not watched:
            self._selector.register(self.process.request, selectors.EVENT_WRITE)
        elif watched and not wanted:
            self._selector.unregister(self.process.request)

    def _read(self) -> None:
        with suppress(BlockingIOError):
            while data := os.read(self.process.reply, PIPE_SIZE):
                self._inbox += data
                if len(data) < 65536:
                    return
            if not self._closed:
                self._selector.unregister(self.process.reply)
                self._closed = True

    def _take(self) -> tuple[bytes, bytes] | None:
        """Take one whole frame out of what was read."""
        inbox = self._inbox
        if len(inbox) < 8:
            return None
        head, body = LENGTHS.unpack_from(inbox)
        end = 8 + head + body
        if len(inbox) < end:
            return None
        with memoryview(inbox) as view:
            frame = bytes(view[8 : 8 + head]), bytes(view[8 + head : end])
        del inbox[:end]
        return frame

    def _next_reply(self) -> tuple[Frame, Reply] | None:
        parts = self._take()
        if parts is None:
            return None
        frame = self._waiting[0]
        try:
            reply = read_reply(*parts)
        except (msgspec.DecodeError, RecursionError):
            reply = None
        if reply is None or reply.header.base != frame.base or len(reply.texts) > len(frame.indices):
            raise self._lost("crashed", "wrote on the descriptors of its process")
        self.told.imported.update(reply.header.modules)
        self.told.add_reads(reply.header.sites)
        if len(reply.texts) < len(frame.indices):
            if not reply.header.stop:
                raise self._lost("crashed", "wrote on the descriptors of its process")
            raise self._lost("crashed", reply.header.stop, reply)
        self._waiting.popleft()
        self.fresh = False
        return frame, reply

    def _ending(self) -> tuple[str, str]:
        """Say how the process ended; one that only closed our pipe is given a moment to end by itself."""
        if not self.process.wait_dead(1.0):
            return "crashed", "closed the descriptors of its process"
        return "crashed", self.process.end()

    def _lost(self, status: str, error: str, replied: Reply | None = None) -> Lost:
        frame = self._waiting[0]
        index = len(replied.texts) if replied else self.process.position - frame.base
        lost = Lost(frame, min(max(index, 0), max(len(frame.indices) - 1, 0)), status, error, replied)
        lost.unanswered = list(self._waiting)[1:]
        return lost


def open_exchange(plan: Plan, stop: Stop, told: Told) -> Exchange:
    """Start a worker to speak to; ConsumerError where the system does not let us."""
    process = Process(plan)
    try:
        return Exchange(process, stop, told)
    except OSError as error:
        process.close()
        raise not_started(plan, error) from error
