"""Frames: how raw values are written for a worker, how many at once, and how its replies are read."""

from __future__ import annotations

import struct
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

LENGTHS = struct.Struct(">II")

#: A frame holds at most so many strings and bytes, and about so many seconds of work.
MOST_STRINGS = 8192
MOST_BYTES = 4 * 1024 * 1024
SECONDS = 0.5

#: A longer JSON value may be too deep or too big for `json.loads`: the worker then parses each one for itself.
LONGEST_SAFE_JSON = 900

#: The mode in which the worker parses the JSON of each value for itself.
ITEM_OF = {"value": "item", "batch": "batch_item"}


class Header(msgspec.Struct):
    """Header of a reply; `faults` are the distinct [status, error], `kinds[i]` is the fault of the value `at[i]`.

    `failed` says that a batch failed as a whole. `modules` are name and file of what was imported since the last reply;
    `sites` are the lines that read the clock since then, each as [file, line, function, at import, reads]. `broken` is
    [tried, seen, hint, what] of a consumer that cannot be audited; `warned` are index and text of what an engine said
    beside its values.
    """

    base: int
    at: list[int]
    kinds: list[int]
    faults: list[tuple[str, str]]
    stop: str
    failed: bool = False
    modules: list[tuple[str, str]] = []
    sites: list[tuple[str, int, str, bool, int]] = []
    broken: list[str] = []
    warned: list[tuple[int, str]] = []


@dataclass
class Told:
    """What the workers of one session tell beside their decodings: modules, and clock reads by line."""

    imported: set[tuple[str, str]] = field(default_factory=set)
    reads: Counter[tuple[str, int, str, bool]] = field(default_factory=Counter)

    def add_reads(self, sites: Iterable[Sequence[Any]]) -> None:
        """Count reads by [file, line, function, at import, reads]."""
        for file, line, function, at_import, reads in sites:
            self.reads[file, line, function, at_import] += reads


@dataclass(frozen=True)
class Reply:
    """A whole reply; a text is empty where there is no value."""

    header: Header
    texts: list[str]


@dataclass(frozen=True)
class Frame:
    """Raw values on their way: `indices` into the job, `base` the position of the first."""

    indices: Sequence[int]
    base: int
    data: bytes

    @property
    def end(self) -> int:
        """Position of the worker between this frame and the next."""
        return self.base + len(self.indices)


_encode = msgspec.json.Encoder().encode
_header = msgspec.json.Decoder(Header)
_texts = msgspec.json.Decoder(list[str])


def pack(header: dict[str, object], body: bytes) -> bytes:
    """Write a frame."""
    head = _encode(header)
    return b"".join((LENGTHS.pack(len(head), len(body)), head, body))


def read_reply(header: bytes, body: bytes) -> Reply:
    """Read a reply; msgspec.DecodeError where it is none."""
    return Reply(_header.decode(header), _texts.decode(body))


def as_text(token: str) -> str:
    """Give the string token that a text parser receives for a raw value: other scalars as their source text."""
    return token if token[0] == '"' else _encode(token).decode()


@dataclass(frozen=True)
class Job:
    """The raw values of one call: `tokens` as they are written, `quoted` where each is sent as the text of its JSON.

    The values of a `parsed` job are parsed by the worker, a whole frame at once where that is safe.
    """

    field: str
    mode: str
    tokens: Sequence[str]
    quoted: bool = False
    parsed: bool = False

    def frame(self, indices: Sequence[int], base: int) -> Frame:
        """Write some of the values as a frame."""
        if isinstance(indices, range):
            tokens = self.tokens[indices.start : indices.stop]
        else:
            tokens = list(map(self.tokens.__getitem__, indices))
        mode, quoted = self.mode, self.quoted
        if self.parsed and max(map(len, tokens)) > LONGEST_SAFE_JSON:
            mode, quoted = ITEM_OF[mode], True
        body = _encode(tokens) if quoted else b"".join((b"[", ",".join(tokens).encode(), b"]"))
        return Frame(indices, base, pack({"field": self.field, "mode": mode, "base": base}, body))


def in_parts(indices: Sequence[int], parts: int) -> list[Sequence[int]]:
    """Cut indices into at most so many parts of one size."""
    size = -(-len(indices) // parts)
    return [indices[start : start + size] for start in range(0, len(indices), size)]


@dataclass
class Queue:
    """Indices still to decode, in order; what was lost comes back to the front."""

    parts: deque[Sequence[int]] = field(default_factory=deque)

    def put_back(self, parts: Iterable[Sequence[int]]) -> None:
        """Put parts before everything else, the first one first."""
        self.parts.extendleft(reversed([part for part in parts if len(part)]))

    def take(self, most: int) -> Sequence[int]:
        """Take the next indices, at most `most`."""
        part = self.parts.popleft()
        if most < len(part):
            self.parts.appendleft(part[most:])
        return part[:most]


@dataclass
class Pace:
    """How many strings a frame of `seconds` holds, from how fast the last one came back."""

    seconds: float = SECONDS
    most: int = 256

    def measure(self, strings: int, seconds: float) -> None:
        """Learn from a reply."""
        fitting = MOST_STRINGS if seconds <= 0 else int(strings / seconds * self.seconds)
        self.most = max(1, min(MOST_STRINGS, fitting, self.most * 8))
