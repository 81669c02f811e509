"""Finds the string that killed or hung a worker, and makes it cost one decoding.

The progress word names a suspect; it is condemned only where it fails alone, in a fresh process. Where it does not,
the rest of its frame is decoded string by string: a parser that, say, closes its descriptors dies some strings later.
What fails in company and not alone is a warning: the parser keeps state. What takes too long alone, and then its usual
time in the same process, has loaded something: that is a warning too, and the process goes on.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from auditor.decode.exchange import Exchange, Limits, Lost
from auditor.decode.frames import MOST_BYTES, SECONDS, Frame, Job, Pace, Queue, Reply, in_parts
from auditor.decode.meter import Meter
from auditor.decode.placing import Placing
from auditor.errors import ConsumerError
from auditor.model.decoding import SLOW_AT_FIRST, Decodings
from auditor.model.figures import plural

#: Deaths that no single string explains, after which there is no faithful answer.
MOST_UNEXPLAINED = 100

#: How many times its limit a string may take that takes too long alone: whoever loads something does that once.
SLOW = 5.0

#: Parts into which a frame is cut that was decoded in one call and lost: four rounds find one string among 8,192.
PARTS = 16

#: Crashes that are put up with beyond as many time-outs: one costs two starts, and not twice the time of a string.
CRASHES = 30


class Supervisor:
    """Decodes jobs in one worker after another; `start` gives a fresh one.

    It gives up with ConsumerError when more than `most_lost` strings have timed out, or CRASHES more than that have
    crashed; never where it is None. `slow` strings that take too long are given much more time, and as many more as
    turn out to be slow the first time only.
    """

    def __init__(
        self, consumer: str, start: Callable[[], Exchange], limits: Limits, most_lost: int | None = None, slow: int = 0
    ) -> None:
        self.consumer, self.limits, self.most_lost, self._slow = consumer, limits, most_lost, slow
        self._lost: Counter[str] = Counter()
        self._start = start
        self._exchange: Exchange | None = None
        self._base = 1
        self._pace = Pace(min(SECONDS, limits.string / 4))
        self._known_good: dict[tuple[str, str], str] = {}
        self._unexplained = 0
        self._placing = Placing(consumer)

    def close(self) -> None:
        """End the worker."""
        if self._exchange is not None:
            exchange, self._exchange = self._exchange, None
            exchange.close()

    def adopt(self, exchange: Exchange) -> None:
        """Use a worker that is already running."""
        self._exchange = exchange

    @property
    def exchange(self) -> Exchange:
        """The running worker; a fresh one where the last is gone."""
        if self._exchange is None:
            self._exchange = self._start()
        return self._exchange

    def decode(self, job: Job, indices: Sequence[int], found: Decodings, meter: Meter) -> None:
        """Decode the values at `indices` of a job into `found`."""
        queue = Queue()
        queue.put_back([indices])
        with self._closing_on_error():
            while queue.parts:
                try:
                    self._stream(job, queue, found, meter)
                except Lost as lost:
                    self.close()
                    queue.put_back([lost.frame.indices, *(frame.indices for frame in lost.unanswered)])
                    self._recover(job, lost, queue, found, meter)

    @contextmanager
    def _closing_on_error(self) -> Iterator[None]:
        """End the worker where an error leaves the block: replies are on their way, and it answers nobody any more."""
        with ExitStack() as failed:
            failed.callback(self.close)
            yield
            failed.pop_all()

    def decode_batch(self, job: Job, indices: Sequence[int], found: Decodings, meter: Meter) -> None:
        """Decode the values at `indices` in one call, never in parts: production would not read the parts otherwise.

        A batch that is lost is given to a fresh process once more, and is lost for each of its rows only then.
        """
        if not len(indices):
            return
        frame, limits = self._frame(job, indices), self.limits.of_batch(len(indices))
        for is_last in (False, True):
            try:
                with self._closing_on_error():
                    self._placing.put(indices, self.exchange.ask(frame, limits), found)
                break
            except Lost as lost:
                if is_last:
                    self._lose_batch(lost, indices, found)
                else:
                    found.warnings[indices[0]] = f"{lost.status}: {lost.error} with a batch, not again"
        meter.done(len(indices))

    def _lose_batch(self, lost: Lost, indices: Sequence[int], found: Decodings) -> None:
        rows = f"{len(indices)} row{'' if len(indices) == 1 else 's'}"
        fault = self._placing.fault(lost.status, f"the batch of {rows}: {lost.error}")
        found.warnings.pop(indices[0], None)
        found.failures.append(fault)
        found.faults.update(dict.fromkeys(indices, fault))

    def _stream(self, job: Job, queue: Queue, found: Decodings, meter: Meter) -> None:
        """Decode frame after frame until the queue is empty or the worker is lost."""
        last = time.monotonic()
        for frame, reply in self.exchange.run(lambda: self._next_frame(job, queue), self.limits, meter.look):
            self._placing.put(frame.indices, reply, found)
            meter.done(len(frame.indices) - self._ask_again(frame, queue, found))
            now = time.monotonic()
            self._pace.measure(len(frame.indices), now - last)
            last = now
            self._remember(job, frame, reply)

    def _ask_again(self, frame: Frame, queue: Queue, found: Decodings) -> int:
        """Put back what took too long in a process that was still importing; give the number of values."""
        if not self.exchange.take_slow_start():
            return 0
        again = frame.indices if self.limits.per_frame else frame.indices[:1]
        queue.put_back([again])
        for index in again:
            found.faults.pop(index, None)
            found.engine_warnings.pop(index, None)
        return len(again)

    def _next_frame(self, job: Job, queue: Queue) -> Frame | None:
        most = self._pace.most
        while queue.parts:
            indices = queue.take(most)
            frame = self._frame(job, indices)
            if len(frame.data) <= MOST_BYTES or len(indices) == 1:
                return frame
            queue.put_back([indices])
            most = max(1, len(indices) // 4)
        return None

    def _frame(self, job: Job, indices: Sequence[int]) -> Frame:
        frame = job.frame(indices, self._base)
        self._base = frame.end + 1  # the position between two frames belongs to neither
        return frame

    def _remember(self, job: Job, frame: Frame, reply: Reply) -> None:
        """Keep one value that was decoded, to warm up a fresh process with."""
        key = job.field, job.mode
        if key not in self._known_good:
            for index, text in zip(frame.indices, reply.texts, strict=False):
                if text:
                    self._known_good[key] = job.tokens[index]
                    return

    def _recover(self, job: Job, lost: Lost, queue: Queue, found: Decodings, meter: Meter) -> None:
        """Find the string that is to blame, and leave in the queue what is still to decode."""
        indices = queue.parts.popleft()
        if self.limits.per_frame and len(indices) > 1:
            queue.put_back(in_parts(indices, PARTS))
            self._warm_up(job)
            return
        suspect = lost.index
        if lost.replied is not None:
            self._placing.put(indices, lost.replied, found)
            meter.done(suspect)
            indices, suspect = indices[suspect:], 0
        rest = [*indices[:suspect], *indices[suspect + 1 :]]
        if self._settled_alone(job, indices[suspect], found):
            meter.done(1)
            queue.put_back([rest])
            return
        meter.done(1)
        left = self._one_by_one(job, rest, found, meter)
        if left is not None:
            queue.put_back([left])
        else:
            self._unexplain(job, indices[suspect], lost, found)

    def _settled_alone(self, job: Job, index: int, found: Decodings) -> bool:
        """Decode one value in a fresh process: it fails there too, or is only slow there; False where neither is so."""
        lost = self._ask_fresh(job, index, found, self.limits)
        if lost is None:
            return False
        if lost.status == "timed_out" and self._slow > 0:
            lost = self._ask_patiently(job, index, found, lost)
        if lost is not None:
            found.texts[index] = None
            found.faults[index] = self._placing.fault(lost.status, lost.error)
            self._count_lost(lost)
        return True

    def _ask_fresh(self, job: Job, index: int, found: Decodings, limits: Limits) -> Lost | None:
        """Decode one value in a fresh process."""
        self.close()
        self._warm_up(job)
        return self._ask(job, index, found, limits)

    def _ask(self, job: Job, index: int, found: Decodings, limits: Limits) -> Lost | None:
        try:
            self._placing.put([index], self.exchange.ask(self._frame(job, [index]), limits), found)
        except Lost as lost:
            self.close()
            return lost
        return None

    def _ask_patiently(self, job: Job, index: int, found: Decodings, lost: Lost) -> Lost | None:
        """Give a value much more time in a fresh process, then its usual time in the same one; None if that will do.

        What it crashes of, given the time, says more than that it was late.
        """
        self._slow -= 1
        began = time.monotonic()
        slower = self._ask_fresh(job, index, found, self.limits.times(SLOW))
        took = time.monotonic() - began
        if slower is not None:
            return lost if slower.status == "timed_out" else slower
        if self._ask(job, index, found, self.limits) is not None:
            return lost
        self._slow += 1
        found.warnings[index] = (
            f"{SLOW_AT_FIRST}{took:.1f} s in a fresh process, then within the {self.limits.string:g} s of `timeout`"
        )
        return None

    def _count_lost(self, lost: Lost) -> None:
        self._lost[lost.status] += 1
        more = CRASHES if lost.status == "crashed" else 0
        if self.most_lost is not None and self._lost[lost.status] > self.most_lost + more:
            what = "crashed" if lost.status == "crashed" else "gave no answer"
            seen = f"it {what} on {plural(self._lost[lost.status], 'string')}, the last: {lost.error}"
            raise ConsumerError(self.consumer, "read all strings", seen)

    def _warm_up(self, job: Job) -> None:
        """Decode a value that is known to be good: what a parser imports at its first call takes its own time."""
        good = self._known_good.get((job.field, job.mode))
        if good is not None:
            warm = replace(job, tokens=[good])
            try:
                self.exchange.ask(self._frame(warm, range(1)), self.limits)
            except Lost:
                self.close()

    def _one_by_one(self, job: Job, indices: list[int], found: Decodings, meter: Meter) -> list[int] | None:
        """Decode values each in a frame of its own; give what is left after the one to blame, None where none is."""
        at = 0
        while at < len(indices):
            singles = iter(indices[at:])
            try:
                for frame, reply in self.exchange.run(lambda: self._single(job, singles), self.limits):  # noqa: B023
                    self._placing.put(frame.indices, reply, found)
                    meter.done(1)
                    at += 1
            except Lost as lost:
                self.close()
                meter.done(1)
                at += 1
                if self._settled_alone(job, lost.frame.indices[0], found):
                    return indices[at:]
                self._unexplain(job, lost.frame.indices[0], lost, found)
        return None

    def _single(self, job: Job, singles: Iterator[int]) -> Frame | None:
        index = next(singles, None)
        return None if index is None else self._frame(job, [index])

    def _unexplain(self, job: Job, index: int, lost: Lost, found: Decodings) -> None:
        """Warn of a failure that does not repeat; too many of them are no audit."""
        found.warnings[index] = f"{lost.status}: {lost.error} among other values, not alone: the parser keeps state"
        self._unexplained += 1
        if self._unexplained > MOST_UNEXPLAINED:
            raise ConsumerError(
                self.consumer,
                f"decode {job.field}, each time in a fresh process after a failure",
                f"{self._unexplained} failures ({lost.error}) of values that decode well alone",
                "the parser's outcome depends on what it read before: make it keep no state",
            )
