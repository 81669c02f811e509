"""The loop: one raw value after another through the consumer's parser, into tagged text or a fault."""

from __future__ import annotations

from builtins import (
    BaseException,
    Exception,
    KeyError,
    MemoryError,
    enumerate,
    hasattr,
    isinstance,
    len,
    list,
    range,
    sorted,
    type,
)
from sys import getrecursionlimit, setrecursionlimit

from .batch import rows_of, tag_rows
from .canonical import Null, Tags, Unexpected
from .trouble import Broken, Ended, describe
from .wire import OUT_OF_MEMORY, encode_texts, leave, scan_once

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional, Tuple

    from .attribution import Attribution
    from .wire import Channel


#: Bytes of the longest value: more than a field of any document has, and no more than the parent's database can hold.
LONGEST_TEXT = 16 * 1024 * 1024


class Outcome:
    """What one frame gave: texts ("" for none), and the faults by index with equal ones written once."""

    def __init__(self) -> None:
        self.texts: List[str] = []
        self.at: List[int] = []
        self.kinds: List[int] = []
        self.known: Dict[Tuple[str, str], int] = {}
        self.stop = ""
        self.failed = False
        self.broken: List[str] = []
        self.warned: Dict[int, str] = {}

    def fault(self, index: int, status: str, error: str) -> None:
        """Note that a string has no value."""
        self.at.append(index)
        self.kinds.append(self.known.setdefault((status, error), len(self.known)))

    def fail(self, rows: int, status: str, error: str) -> None:
        """Note that a batch failed as a whole: each of its rows has that fate."""
        self.failed, self.texts = True, [""] * rows
        for index in range(rows):
            self.fault(index, status, error)

    def encoded(self) -> bytes:
        """Give the reply's body; what is too long to be a field's value must not use up the parent's memory."""
        body = encode_texts(self.texts)
        if len(body) <= LONGEST_TEXT:  # then so is each text
            return body
        for index, text in enumerate(self.texts):
            content = text.partition(":")[2] if 4 * len(text) > LONGEST_TEXT else ""
            if len(content.encode("utf-8", "surrogatepass")) > LONGEST_TEXT:
                length = len(content), LONGEST_TEXT // 1024 // 1024
                self.fault(index, "rejected", "unexpected type: a text of %d characters is longer than %d MiB" % length)
                self.texts[index] = ""
        return encode_texts(self.texts)

    def header(self, base: int) -> Dict[str, Any]:
        """Give the reply's header."""
        faults = [[status, error] for status, error in self.known]
        header: Dict[str, Any] = {"base": base, "at": self.at, "kinds": self.kinds, "faults": faults, "stop": self.stop}
        if self.failed:
            header["failed"] = True
        if self.broken:
            header["broken"] = self.broken
        if self.warned:
            header["warned"] = list(self.warned.items())
        return header


def status_of(error: BaseException) -> Tuple[str, str]:
    """Say what an error means for the one string that raised it."""
    if isinstance(error, Null):
        return "null", error.args[0]
    if isinstance(error, Unexpected):
        return "rejected", error.args[0]
    return ("rejected" if isinstance(error, Exception) else "crashed"), describe(error)


def decode_each(parse: Callable[[Any], Any], values: List[Any], base: int, tags: Tags, channel: Channel) -> Outcome:
    """Decode string by string; everything in this loop is a local name, since each costs every string."""
    outcome = Outcome()
    append, fault, exact, other = outcome.texts.append, outcome.fault, tags.exact, tags.other
    words, forked = channel.words, channel.forked
    for position, value in enumerate(values, base):
        words[0] = position
        try:
            result = parse(value)
            if forked:
                leave(0)
            if result is not None:
                try:
                    append(exact[type(result)](result))
                except KeyError:
                    append(other(result))
                continue
            status, error = "null", "None"
        except BaseException as raised:  # noqa: BLE001 - whatever a parser raises is its decoding
            if forked:
                leave(0)
            if isinstance(raised, MemoryError):
                outcome.stop = describe(raised)
                break
            status, error = status_of(raised)
        fault(position - base, status, error)
        append("")
    return outcome


def decode_whole(decode: Callable[..., Any], field: str, values: List[Any]) -> Outcome:
    """Decode a frame in one call of an adapter that works on columns."""
    outcome = Outcome()
    texts, faults, *warned = decode(field, values)
    if warned:
        outcome.warned = warned[0]
    outcome.texts = [text or "" for text in texts]
    for index in sorted(faults):
        status, error = faults[index]
        outcome.fault(index, status, error)
    return outcome


def decode_rows(parse: Callable[[Any], Any], values: List[Any], tags: Tags, channel: Channel) -> Outcome:
    """Decode a batch in one call of a parser that takes all its rows."""
    outcome, count = Outcome(), len(values)
    try:
        rows = rows_of(parse(values), count)
        if channel.forked:
            leave(0)
        tag_rows(rows, tags, outcome, status_of)
    except BaseException as raised:  # noqa: BLE001 - whatever a parser raises is the decoding of all rows
        if channel.forked:
            leave(0)
        if isinstance(raised, MemoryError):
            outcome.stop = describe(raised)
            return outcome
        status, error = status_of(raised)
        outcome.fail(count, status, "the batch of %d row%s: %s" % (count, "" if count == 1 else "s", error))
    return outcome


class Kernel:
    """Answers requests until there are no more."""

    def __init__(
        self, channel: Channel, adapter: Any, fields: Dict[str, str], watched: Optional[Attribution] = None
    ) -> None:
        self.channel, self.adapter, self.watched = channel, adapter, watched
        self.tags = {field: Tags(kind) for field, kind in fields.items()}
        self.parsers: Dict[Tuple[str, str], Callable[[Any], Any]] = {}
        self.whole = hasattr(adapter, "decode_batch")
        self.imports = getattr(adapter, "imports", None)
        self.depth = getrecursionlimit()

    def serve(self) -> None:
        """Answer one request after another; a parser that used up the memory ends the process."""
        while True:
            header, body = self.channel.receive()
            try:
                self.answer(header, body)
            except MemoryError:
                self.channel.quit(OUT_OF_MEMORY)

    def answer(self, request: Dict[str, Any], body: str) -> None:
        """Decode one frame and send what came of it."""
        values, base = scan_once(body, 0)[0], request["base"]
        outcome = self.decode(request["field"], request["mode"], values, base)
        self.channel.words[0] = base + len(values)
        if getrecursionlimit() != self.depth:
            setrecursionlimit(self.depth)
        reply = outcome.encoded()
        header = outcome.header(base)
        if self.imports is not None and self.imports.have_come():
            header["modules"] = self.imports.news()
        if self.watched is not None:
            header["sites"] = self.watched.news()
        self.channel.send(header, reply)
        if outcome.stop or outcome.broken:  # nobody is asked for what the next frame holds
            leave(1)

    def decode(self, field: str, mode: str, values: List[Any], base: int) -> Outcome:
        """Choose how this frame is decoded."""
        if mode in ("batch", "batch_item"):
            self.channel.words[0] = base
            return decode_rows(self.parser(field, mode), values, self.tags[field], self.channel)
        if not self.whole:
            return decode_each(self.parser(field, mode), values, base, self.tags[field], self.channel)
        self.channel.words[0] = base
        adapter = self.adapter
        if hasattr(adapter, "moved"):
            adapter.moved = lambda done: self.channel.words.__setitem__(0, base + min(done, len(values) - 1))
        try:
            return decode_whole(adapter.decode_payloads if mode == "payload" else adapter.decode_batch, field, values)
        except (MemoryError, Ended) as error:
            outcome = Outcome()
            outcome.stop = describe(error)
            return outcome
        except Broken as error:
            outcome = Outcome()
            outcome.broken = [error.tried, error.seen, error.hint, error.what]
            outcome.texts = [""] * len(values)
            return outcome
        except BaseException as error:  # noqa: BLE001 - a frame of one carries the engine's error, a longer one is split
            outcome = Outcome()
            if len(values) > 1:
                outcome.stop = describe(error)
                return outcome
            outcome.fault(0, *status_of(error))
            outcome.texts.append("")
            return outcome

    def parser(self, field: str, mode: str) -> Callable[[Any], Any]:
        """Give the parser of a field, with the JSON parsed first in modes `item` and `batch_item`."""
        key = field, mode
        if key not in self.parsers:
            self.parsers[key] = self.parser_of(field, mode)
        return self.parsers[key]

    def parser_of(self, field: str, mode: str) -> Callable[[Any], Any]:
        """Ask the adapter for a parser."""
        if mode == "payload":
            payload_parser: Callable[[Any], Any] = self.adapter.payload_parser(field)
            return payload_parser
        if mode in ("batch", "batch_item"):
            batch_parser: Callable[[Any], Any] = self.adapter.batch_parser(field)
            return after_each_json(batch_parser) if mode == "batch_item" else batch_parser
        parser: Callable[[Any], Any] = self.adapter.parser(field)
        return after_json(parser) if mode == "item" else parser


def after_json(parse: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Parse the JSON text of one value, then the value: a value that json cannot take costs no other."""
    return lambda text: parse(scan_once(text, 0)[0])


def after_each_json(parse: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Parse the JSON text of each row, then the batch: rows that json cannot take, no load would take either."""
    return lambda texts: parse([scan_once(text, 0)[0] for text in texts])
