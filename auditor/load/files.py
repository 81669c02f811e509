"""Which files a role names, and whether their bytes can be read at all."""

from __future__ import annotations

import codecs
import difflib
import hashlib
import os
import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from auditor.errors import LoadError, Mistake
from auditor.load.tokens import ESCAPED
from auditor.spec.mistakes import nearest

FORMAT_OF_SUFFIX: Final = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_PACKED: Final = {
    "gzip": b"\x1f\x8b",
    "zip, or a spreadsheet": b"PK\x03\x04",
    "zstd": b"\x28\xb5\x2f\xfd",
    "xz": b"\xfd7zXZ\x00",
    "bzip2": b"BZh91AY&SY",
}
_CHUNK = 1 << 20
_HEAD = 4096
_ESCAPED = ESCAPED.encode()
_UTF8_MARK = b"\xef\xbb\xbf"


Identity = tuple[int, int]


@dataclass(frozen=True)
class SourceFile:
    """A file as it was found: `name` is its path relative to the spec's folder."""

    path: Path
    name: str
    format: str
    sha256: str
    lone_returns: bool = False  # a carriage return without a line feed: DuckDB cannot read such CSV
    spaced_quotes: bool = False  # a space beside an outer quote: DuckDB would drop it
    marked: bool = False  # holds ESCAPED, with which rewritten ids start

    @property
    def identity(self) -> Identity:
        """The file that the path stands for, which may have several names."""
        return identity_of(self.path)


def mistake(where: str, what: str, hint: str = "") -> LoadError:
    """Make the error for one mistake."""
    return LoadError([Mistake(where, what, hint)])


def near_hint(name: str, names: Sequence[str]) -> str:
    """Give a hint with the nearest of `names`, or an empty text."""
    close = nearest(name, reversed(names))
    return f"did you mean {close!r}?" if close is not None else ""


def identity_of(path: Path) -> Identity:
    """Give what is the same for every name of a file: spellings, symbolic and hard links."""
    status = path.stat()
    return status.st_dev, status.st_ino


def find_files(folder: Path, patterns: Sequence[str], role: str, known: Sequence[SourceFile] = ()) -> list[SourceFile]:
    """Find the files of a role, each once, in the order of the patterns; a glob's matches are sorted.

    What is among the `known` files, under whatever name, is taken from there.
    """
    found: dict[Identity, Path] = {}
    for pattern in patterns:
        for path in _matches(folder, pattern, role):
            found.setdefault(identity_of(path), path)
    examined = {file.identity: file for file in known}
    return [examined.get(identity) or _examined(path, folder) for identity, path in found.items()]


def _matches(folder: Path, pattern: str, role: str) -> list[Path]:
    exact = folder / pattern
    if exact.exists():
        return [exact]
    anchor, relative = (Path(exact.anchor), str(exact.relative_to(exact.anchor)))
    paths = sorted(path for path in anchor.glob(relative) if path.is_file()) if re.search(r"[*?\[]", pattern) else []
    if not paths:
        raise mistake(
            f"[cases] {role}",
            f"no file matches {pattern!r} in the folder {folder}",
            _near_files(exact, folder, pattern),
        )
    return paths


def _near_files(exact: Path, folder: Path, pattern: str) -> str:
    parent = exact.parent if exact.parent.is_dir() else folder
    names = sorted(path.name for path in parent.iterdir() if path.suffix in FORMAT_OF_SUFFIX) if parent.is_dir() else []
    if not names:
        return f"{parent} holds no CSV, JSONL or Parquet file"
    close = difflib.get_close_matches(Path(pattern).name, names, n=3, cutoff=0.5) or names[:5]
    return f"files in {parent}: {', '.join(close)}"


def _examined(path: Path, folder: Path) -> SourceFile:
    name = os.path.relpath(path, folder)
    if path.is_dir():
        raise mistake(name, "is a folder, not a file", "name a file or a glob such as 'records/*.jsonl'")
    if not path.is_file():
        raise mistake(name, "is a pipe or a device, not a file", "it is read several times: write it to a file first")
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
            if len(head) < _HEAD and not head.removeprefix(_UTF8_MARK).strip():
                raise mistake(name, "the file is empty")
            file.seek(0)
            return _read_through(SourceFile(path, name, _format(path, head), ""), iter(lambda: file.read(_CHUNK), b""))
    except OSError as error:
        raise mistake(name, f"cannot be read: {error.strerror}", "check the path and its permissions") from error


def _format(path: Path, head: bytes) -> str:
    if head.startswith(_PACKED["zip, or a spreadsheet"]) and _is_eval_log(path):
        return "eval"
    for packed, magic in _PACKED.items():
        if head.startswith(magic):
            raise mistake(path.name, f"is compressed ({packed})", "unpack it first")
    if head.startswith(b"PAR1") and b"\0" in head:  # whatever its name says
        return "parquet"
    if known := FORMAT_OF_SUFFIX.get(path.suffix.lower()):
        return known
    return "jsonl" if head.removeprefix(_UTF8_MARK).lstrip().startswith(b"{") else "csv"


def _is_eval_log(path: Path) -> bool:
    """Say whether a zip is a log of Inspect AI."""
    try:
        with zipfile.ZipFile(path) as packed:
            return any(name == "header.json" or name.startswith("_journal/") for name in packed.namelist())
    except (zipfile.BadZipFile, OSError):
        return False


_LONE_RETURN = re.compile(rb"\r[^\n]")
_SPACED_QUOTE = re.compile(rb'(?:^|[,\t\n\r])[ ]+"|"[ ]+(?:[,\t\n\r]|$)')


def _read_through(file: SourceFile, chunks: Iterator[bytes]) -> SourceFile:
    """Hash the bytes and, in a text format, check the encoding and look for what a CSV reader stumbles over."""
    digest = hashlib.sha256()
    decoder = codecs.getincrementaldecoder("utf-8")()
    delimited = file.format in ("csv", "tsv")
    lone_returns = spaced_quotes = marked = False
    offset, tail, edge = 0, b"", b""
    for chunk in chunks:
        digest.update(chunk)
        if file.format not in ("parquet", "eval") and not (chunk.isascii() and decoder.getstate()[0] == b""):
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError as error:
                raise _wrong_encoding(file, offset + len(chunk) - len(error.object) + error.start) from error
        if delimited and not chunk.isascii():
            marked = marked or _ESCAPED in edge + chunk
        edge = chunk[-2:]
        if delimited and any(mark in part for part in (chunk, tail) for mark in (b"\r", b'"')):
            window = tail + chunk
            lone_returns = lone_returns or (b"\r" in window and _LONE_RETURN.search(window) is not None)
            if not spaced_quotes and (b' "' in window or b'" ' in window):
                spaced_quotes = _SPACED_QUOTE.search(window) is not None
        tail = chunk[-64:]
        offset += len(chunk)
    if decoder.getstate()[0]:
        raise mistake(
            f"{file.name}, line {_line_at(file, offset)}, byte {offset}",
            "ends within a character of UTF-8",
            "is the file cut off?",
        )
    lone_returns = lone_returns or (delimited and tail.endswith(b"\r"))
    return SourceFile(file.path, file.name, file.format, digest.hexdigest(), lone_returns, spaced_quotes, marked)


def _line_at(file: SourceFile, offset: int) -> int:
    with file.path.open("rb") as opened:
        return opened.read(offset).count(b"\n") + 1


def _wrong_encoding(file: SourceFile, offset: int) -> LoadError:
    with file.path.open("rb") as opened:
        head = opened.read(200)
        opened.seek(offset)
        found = opened.read(1)
    likely, encoding = "Latin-1 (ISO-8859-1) or Windows-1252", "ISO-8859-1"
    if head[:4] in (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE):
        likely = encoding = "UTF-32"
    elif head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) or head.count(0) > len(head) // 4:
        likely = encoding = "UTF-16"
    return mistake(
        f"{file.name}, line {_line_at(file, offset)}, byte {offset}",
        f"is not UTF-8 (byte 0x{found.hex()})",
        f"the file looks like {likely}: convert it, e.g. `iconv -f {encoding} -t UTF-8`",
    )
