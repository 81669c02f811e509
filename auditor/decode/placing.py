"""Where the values of a reply belong: at the places of the strings that were asked for."""

from __future__ import annotations

from collections.abc import Sequence

from auditor.decode.frames import Reply
from auditor.errors import ConsumerError
from auditor.model.decoding import Decodings, Fault

#: Distinct failures that are kept at a time.
MOST_FAULTS = 100_000


class Placing:
    """Puts the replies of one consumer where they belong; equal failures are one object."""

    def __init__(self, consumer: str) -> None:
        self.consumer = consumer
        self._faults: dict[tuple[str, str], Fault] = {}

    def put(self, indices: Sequence[int], reply: Reply, found: Decodings) -> None:
        """Put a reply where it belongs; ConsumerError where it says that the consumer cannot be audited."""
        header = reply.header
        if header.broken:
            tried, seen, hint, what = header.broken
            raise ConsumerError(self.consumer, tried, seen, hint, what=what)
        texts: list[str | None] = [*reply.texts]
        if header.at:
            kinds = [self.fault(status, error) for status, error in header.faults]
            for at, kind in zip(header.at, header.kinds, strict=True):
                texts[at] = None
                found.faults[indices[at]] = kinds[kind]
            if header.failed:
                found.failures.append(kinds[0])
        found.engine_warnings.update((indices[at], text) for at, text in header.warned)
        if isinstance(indices, range):
            found.texts[indices.start : indices.start + len(texts)] = texts
        else:
            for index, text in zip(indices, texts, strict=False):
                found.texts[index] = text

    def fault(self, status: str, error: str) -> Fault:
        """Give one object for all equal failures."""
        known = self._faults.get((status, error))
        if known is None:
            if len(self._faults) > MOST_FAULTS:
                self._faults.clear()
            known = self._faults[status, error] = Fault(status, error)  # type: ignore[arg-type]
        return known
