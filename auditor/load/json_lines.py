"""JSON lines, read without loss: each wanted value as its source text.

msgspec reads a chunk of lines at once and leaves values as source text. What it refuses (lone surrogates, NaN) or what
it would hide (a key that occurs twice in a line) is read again with the scanner of the standard library.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from json.decoder import scanstring  # type: ignore[attr-defined]  # typeshed leaves it out
from operator import attrgetter
from typing import Any

from auditor.errors import LoadError
from auditor.load.files import SourceFile, mistake

_CHUNK = 4 << 20
_FIRST = 100  # lines whose keys tell the form of a file
_MARK = b"\xef\xbb\xbf"
_SPACE = " \t\n\r"
#: A key that may be spelled with escapes, so that counting its plain spelling does not find it.
ESCAPED_KEY = re.compile(rb'\\[u/][^"\n]*"\s*:')

_scan = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str).raw_decode


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} in the JSON")


_scan_strictly = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_no_constant).raw_decode


@dataclass(frozen=True)
class Records:
    """Some records of a file: a source text (or None) per record, for each wanted key."""

    first_line: int
    values: dict[str, list[str | None]]
    whole: list[list[tuple[str, str]]] | None = None  # all members of each record, when asked for


def members(text: str, *, constants: bool = True) -> list[tuple[str, str]]:
    """Give the keys of a JSON object with the source texts of their values; ValueError where `text` is no object.

    Without `constants`, NaN and Infinity are a ValueError anywhere: they are no JSON, but many readers take them.
    """
    scan = _scan if constants else _scan_strictly
    position = _skip(text, 0)
    if text[position : position + 1] != "{":
        raise json.JSONDecodeError("is not a JSON object", text, position)
    found: list[tuple[str, str]] = []
    position = _skip(text, position + 1)
    if text[position : position + 1] == "}":
        return _ended(text, position + 1, found)
    while True:
        if text[position : position + 1] != '"':
            raise json.JSONDecodeError("a key in double quotes is expected", text, position)
        key, position = scanstring(text, position + 1, True)
        position = _skip(text, position)
        if text[position : position + 1] != ":":
            raise json.JSONDecodeError("':' is expected", text, position)
        start = _skip(text, position + 1)
        position = scan(text, start)[1]
        found.append((key, text[start:position]))
        position = _skip(text, position)
        mark = text[position : position + 1]
        if mark == "}":
            return _ended(text, position + 1, found)
        if mark != ",":
            raise json.JSONDecodeError("',' or '}' is expected", text, position)
        position = _skip(text, position + 1)


def scan_value(text: str, position: int) -> int:
    """Give where the JSON value ends that starts at a position; ValueError where there is none."""
    try:
        return int(_scan(text, position)[1])
    except StopIteration as stop:  # of a scanner that is asked beyond the end
        raise json.JSONDecodeError("a value is expected", text, int(stop.value or position)) from stop


def items(source: str) -> list[str]:
    """Give the source texts of the items of a JSON array; ValueError where it is none."""
    position = _skip(source, 0)
    if source[position : position + 1] != "[":
        raise json.JSONDecodeError("is not a JSON array", source, position)
    found: list[str] = []
    position = _skip(source, position + 1)
    if source[position : position + 1] == "]":
        return found
    while True:
        end = scan_value(source, position)
        found.append(source[position:end])
        position = _skip(source, end)
        mark = source[position : position + 1]
        if mark == "]":
            return found
        if mark != ",":
            raise json.JSONDecodeError("',' or ']' is expected", source, position)
        position = _skip(source, position + 1)


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in _SPACE:
        position += 1
    return position


def _ended(text: str, position: int, found: list[tuple[str, str]]) -> list[tuple[str, str]]:
    position = _skip(text, position)
    if position < len(text):
        raise json.JSONDecodeError("text follows the object", text, position)
    return found


def read_chunks(file: SourceFile) -> Iterator[tuple[int, bytes]]:
    """Give whole lines as chunks, each with the number of its first line."""
    line, rest = 1, b""
    with file.path.open("rb") as opened:
        if opened.read(3) != _MARK:
            opened.seek(0)
        while block := opened.read(_CHUNK):
            cut = block.rfind(b"\n") + 1
            if cut == 0:
                rest += block
                continue
            chunk, rest = rest + block[:cut], block[cut:]
            yield line, chunk
            line += chunk.count(b"\n")
    if rest.strip():
        yield line, rest + b"\n"


def first_keys(file: SourceFile) -> list[str]:
    """Give the keys of the first lines, in order of appearance."""
    keys: dict[str, None] = {}
    for first_line, chunk in read_chunks(file):
        for number, line in enumerate(chunk.split(b"\n", _FIRST)[:_FIRST], first_line):
            if line.strip():
                keys.update(dict.fromkeys(key for key, _ in _members_of(file, number, line)))
        break
    return list(keys)


def all_keys(file: SourceFile) -> list[str]:
    """Give the keys of all lines, in order of appearance."""
    keys: dict[str, None] = {}
    for first_line, chunk in read_chunks(file):
        for number, line in enumerate(chunk.split(b"\n"), first_line):
            if line.strip():
                keys.update(dict.fromkeys(key for key, _ in _members_of(file, number, line)))
    return list(keys)


def read_records(file: SourceFile, keys: Sequence[str], *, whole: bool = False) -> Iterator[Records]:
    """Give the values of `keys` in every record of a file."""
    decode = None if whole else _chunk_decoder(keys)
    twice = [(key, json.dumps(key).encode(), json.dumps(key, ensure_ascii=False).encode()) for key in keys]
    for first_line, chunk in read_chunks(file):
        columns = decode(chunk) if decode is not None else None
        if columns is None or _may_repeat(chunk, columns, twice):
            yield _read_lines(file, first_line, chunk, keys, whole)
        else:
            yield Records(first_line, columns)


def _chunk_decoder(keys: Sequence[str]) -> Callable[[bytes], dict[str, list[str | None]] | None]:
    """Make the function that reads a chunk at once, or gives None where a line needs the slow reader."""
    import msgspec

    nothing = msgspec.Raw(b"")
    slots = [f"k{i}" for i in range(len(keys))]
    record = msgspec.defstruct(
        "Record", [(slot, msgspec.Raw, nothing) for slot in slots], rename=dict(zip(slots, keys, strict=True)), gc=False
    )
    decoder: Any = msgspec.json.Decoder(record)

    def decode(chunk: bytes) -> dict[str, list[str | None]] | None:
        try:
            records = decoder.decode_lines(chunk)
        except (msgspec.MsgspecError, RecursionError):
            return None
        if len(records) != chunk.count(b"\n") and len(records) != sum(map(bool, map(bytes.strip, chunk.split(b"\n")))):
            return None
        columns: dict[str, list[str | None]] = {}
        for slot, key in zip(slots, keys, strict=True):
            # No value holds a line feed, so that one text can be made of all, and cut again: cheaper than one by one.
            texts = b"\n".join(map(attrgetter(slot), records)).decode().split("\n")
            columns[key] = [text or None for text in texts] if "" in texts else list(texts)
        return columns

    return decode


def _may_repeat(
    chunk: bytes, columns: dict[str, list[str | None]], spellings: Sequence[tuple[str, bytes, bytes]]
) -> bool:
    """Whether a wanted key may occur twice in a line: its spelling is found more often than there are values."""
    if b"\\" in chunk and ESCAPED_KEY.search(chunk):
        return True
    for key, ascii_spelling, spelling in spellings:
        if not any(columns[key]):
            continue
        found = chunk.count(spelling) + (chunk.count(ascii_spelling) if ascii_spelling != spelling else 0)
        if found > len(columns[key]) - columns[key].count(None):
            return True
    return False


def _read_lines(file: SourceFile, first_line: int, chunk: bytes, keys: Sequence[str], whole: bool) -> Records:
    columns: dict[str, list[str | None]] = {key: [] for key in keys}
    kept: list[list[tuple[str, str]]] = []
    for number, line in enumerate(chunk.split(b"\n"), first_line):
        if not line.strip():
            continue
        found = _members_of(file, number, line)
        values = dict(found)
        if len(values) < len(found):
            _refuse_repeated(file, number, [key for key, _ in found], keys)
        for key, column in columns.items():
            column.append(values.get(key))
        if whole:
            kept.append(found)
    return Records(first_line, columns, kept if whole else None)


def _refuse_repeated(file: SourceFile, number: int, found: Sequence[str], keys: Sequence[str]) -> None:
    for key in keys:
        if found.count(key) > 1:
            raise mistake(
                f"{file.name}, line {number}", f"the key {key!r} occurs {found.count(key)} times", "keep one of them"
            )


def _members_of(file: SourceFile, number: int, line: bytes) -> list[tuple[str, str]]:
    text = line.decode()
    try:
        return members(text)
    except json.JSONDecodeError as error:
        raise _broken_line(file, number, error) from error
    except RecursionError as error:
        raise mistake(f"{file.name}, line {number}", "the value is nested too deeply to be read") from error


def _broken_line(file: SourceFile, number: int, error: json.JSONDecodeError) -> LoadError:
    text = error.doc.strip()
    what = error.msg[:1].lower() + error.msg[1:].removesuffix(" at")
    if number == 1 and text.startswith("["):
        return mistake(f"{file.name}, line 1, column 1", "is a JSON array, not JSON lines", "write one object a line")
    hint = "write each record on one line" if text in ("{", "") else ""
    return mistake(f"{file.name}, line {number}, column {error.pos + 1}", f"is not valid JSON: {what}", hint)
