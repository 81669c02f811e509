"""Frames over two descriptors and the shared progress words; built to outlive what a parser does to the process.

Everything that is used after the consumer is imported is bound here before it: a parser may replace any function of
any module, close descriptors, or come back twice from a fork.
"""

from __future__ import annotations

import fcntl
import json
import mmap
import os
import re
import struct
from builtins import (
    BrokenPipeError,
    OSError,
    UnicodeEncodeError,
    bytes,
    dict,
    isinstance,
    len,
    list,
    memoryview,
    min,
    ord,
    range,
    str,
)
from json import encoder
from os import close, fstat, getpgrp, getpid, read, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, NoReturn, Tuple

LENGTHS = struct.Struct(">II")

#: What JSON escapes in a string.
TO_ESCAPE = bytes([*range(32), 34, 92])

#: What a text starts with that was rewritten because it holds NUL or a lone surrogate: U+241B, the picture of ESC.
ESCAPED = "\u241b"
MARKED = (":" + ESCAPED).encode("utf-8")
SURROGATE = re.compile("[\ud800-\udfff]")

#: Reasons for leaving, in the second progress word: the exit code alone may be the parser's own.
LOST_DESCRIPTORS, OUT_OF_MEMORY = 1, 2

leave: Callable[[int], NoReturn] = os._exit
scan_once: Callable[[str, int], Tuple[Any, int]] = getattr(json.JSONDecoder(), "scan_once")  # noqa: B009


def make_encoder() -> Callable[[Any], str]:
    """Give an encoder that holds no reference into the json module, which a parser may patch."""
    make = getattr(encoder, "c_make_encoder", None)
    if make is None:
        return encoder.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
    chunks = make(None, None, encoder.encode_basestring, None, ":", ",", False, False, True)
    join = "".join
    return lambda value: join(chunks(value, 0))


encode = make_encoder()


def die_with_parent(lifeline: int) -> None:
    """Let the kernel end this process group when the parent is gone, even in the middle of a hang."""
    try:
        own_group = getpgrp() == getpid()
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, -getpid() if own_group else getpid())
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    except (OSError, AttributeError):
        pass  # the end of the request pipe ends an idle worker all the same


def identity(descriptor: int) -> Tuple[int, int]:
    """Name what a descriptor is open on, so that a number that was closed and reused is seen."""
    status = fstat(descriptor)
    return status.st_dev, status.st_ino


def close_if_open(descriptor: int) -> None:
    """Close a descriptor that the parser may have closed."""
    try:
        close(descriptor)
    except OSError:
        return


class Channel:
    """The two ends of the protocol and the progress words."""

    def __init__(self, request: int, reply: int, progress: int) -> None:
        self.request, self.reply = request, reply
        self.requested, self.replied = identity(request), identity(reply)
        self.words = memoryview(mmap.mmap(progress, 16)).cast("Q")
        self.pid = getpid()
        self.forked: List[int] = []
        os.register_at_fork(after_in_child=self.after_fork)

    def after_fork(self) -> None:
        """Keep a child of the parser off the protocol: it must neither speak nor hold the pipes open."""
        self.forked.append(1)
        for descriptor in (self.request, self.reply):
            close_if_open(descriptor)

    def check(self, descriptor: int, expected: Tuple[int, int]) -> None:
        """Leave where this process is a fork, or where the descriptor is no longer the protocol's."""
        if self.forked or getpid() != self.pid:
            leave(0)
        try:
            if identity(descriptor) == expected:
                return
        except OSError:
            pass
        self.quit(LOST_DESCRIPTORS)

    def quit(self, reason: int) -> NoReturn:
        """Leave with a reason that the parent reads."""
        self.words[1] = reason
        leave(1)

    def receive(self) -> Tuple[Any, str]:
        """Read a request: its header, and its body as text; leave at the end of requests."""
        self.check(self.request, self.requested)
        header, body = LENGTHS.unpack(self._read(8))
        return scan_once(self._read(header).decode("utf-8"), 0)[0], self._read(body).decode("utf-8")

    def _read(self, size: int) -> bytes:
        parts, missing = [], size
        while missing:
            try:
                part = read(self.request, min(missing, 1 << 20))
            except OSError:
                self.quit(LOST_DESCRIPTORS)
            if not part:
                leave(0)
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)

    def send(self, header: Dict[str, Any], body: bytes) -> None:
        """Write a reply."""
        head = encode_header(header)
        self.check(self.reply, self.replied)
        self._write(b"".join((LENGTHS.pack(len(head), len(body)), head, body)))

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[write(self.reply, rest) :]
        except BrokenPipeError:
            leave(0)
        except OSError:
            self.quit(LOST_DESCRIPTORS)


def encode_texts(texts: List[str]) -> bytes:
    """Encode the texts of a reply: joined where nothing in them needs an escape, which is nearly always."""
    try:
        joined = '","'.join(texts).encode("utf-8")
    except UnicodeEncodeError:
        return encode([escaped(text) for text in texts]).encode("utf-8")
    if b"\0" in joined or MARKED in joined:
        return encode([escaped(text) for text in texts]).encode("utf-8")
    if len(joined) - len(joined.translate(None, TO_ESCAPE)) == 2 * len(texts) - 2:
        return b'["' + joined + b'"]'
    return encode(texts).encode("utf-8")


def escaped(text: str) -> str:
    """Write the content of a tagged text without NUL and lone surrogates, so that no two contents become one.

    What is rewritten starts with ESCAPED, and what starts with it is rewritten. `auditor/judge/escape.py` is the same.
    """
    tag, colon, content = text.partition(":")
    if "\0" in content or content[:1] == ESCAPED or SURROGATE.search(content):
        content = ESCAPED + without_surrogates(content.replace("\\", "\\\\").replace("\0", "\\u0000"))
    return tag + colon + content


def without_surrogates(text: str) -> str:
    """Write lone surrogates as JSON escapes them."""
    return SURROGATE.sub(lambda found: "\\u%04x" % ord(found.group()), text)


def encode_header(header: Dict[str, Any]) -> bytes:
    """Encode a header, whose texts are for reading only: NUL and lone surrogates become the escapes of JSON."""
    text = encode(header)
    if "\\u0000" in text or SURROGATE.search(text):
        text = encode(printable(header))
    return text.encode("utf-8")


def printable(value: Any) -> Any:
    """Escape lone surrogates and NUL in every text of a header."""
    if isinstance(value, str):
        return without_surrogates(value.replace("\0", "\\u0000"))
    if isinstance(value, dict):
        return {printable(key): printable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [printable(item) for item in value]
    return value
