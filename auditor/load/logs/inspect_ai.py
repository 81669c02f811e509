"""Inspect AI's logs: `.json`, and `.eval`, a zip whose members are compressed with Zstandard or, in older logs, not.

A sample has a case of its own per epoch: its id is `id#epoch`, and a reference of the plain id is one of each epoch.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from auditor.load.json_lines import items
from auditor.load.logs.openai_batch import with_tool
from auditor.load.logs.reply import Reply, at, joined_texts, objects_of, reference_members, text_at

_ZSTANDARD: Final = 93
_LOCAL_HEADER: Final = struct.Struct("<4s5H3I2H")


def is_inspect_log(keys: set[str]) -> bool:
    """Say whether a document with these keys is a log."""
    return {"version", "status", "eval"} <= keys


def samples_of(path: Path) -> Iterator[str]:
    """Give the samples of a packed log as JSON text, in the order of their names in it."""
    with zipfile.ZipFile(path) as packed:
        for entry in packed.infolist():
            if entry.filename.startswith("samples/") and entry.filename.endswith(".json"):
                yield _member(packed, path, entry).decode()


def header_of(path: Path) -> str:
    """Give what a packed log says beside its samples."""
    with zipfile.ZipFile(path) as packed:
        names = set(packed.namelist())
        name = "header.json" if "header.json" in names else "_journal/start.json"
        return _member(packed, path, packed.getinfo(name)).decode() if name in names else "{}"


def _member(packed: zipfile.ZipFile, path: Path, entry: zipfile.ZipInfo) -> bytes:
    """Give the bytes of a member; ValueError where it is damaged."""
    try:
        return packed.read(entry) if entry.compress_type != _ZSTANDARD else _unpacked(path, entry)
    # NotImplementedError is what zipfile raises for a way to compress that it does not know.
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, OSError, struct.error) as error:
        raise ValueError(f"the member {entry.filename} is damaged: {error}") from error


def _unpacked(path: Path, entry: zipfile.ZipInfo) -> bytes:
    """Give the bytes of a member that is compressed with Zstandard, which Python's own reader knows from 3.14 on."""
    import pyarrow

    with path.open("rb") as file:
        file.seek(entry.header_offset)
        names = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))[-2:]
        file.seek(sum(names), 1)
        packed_bytes = file.read(entry.compress_size)
    with pyarrow.CompressedInputStream(pyarrow.BufferReader(packed_bytes), "zstd") as stream:
        plain = bytes(stream.read())
    if len(plain) != entry.file_size or zlib.crc32(plain) != entry.CRC:
        raise zipfile.BadZipFile("its checksum is another")
    return plain


def inspect_replies(samples: Iterator[str], tool: str | None) -> Iterator[Reply]:
    """Give the reply of each sample."""
    for sample in samples:
        name, epoch = text_at(sample, "id"), text_at(sample, "epoch") or "1"
        asked = {"model": text_at(sample, "output", "model")}
        reply = Reply(f"{name}#{epoch}" if name else "", references=_references(sample), asked=asked)
        error = text_at(sample, "error", "message") or text_at(sample, "output", "error")
        yield replace(reply, error=error) if error is not None else _of_output(reply, sample, tool)


def _of_output(reply: Reply, sample: str, tool: str | None) -> Reply:
    choice = at(sample, "output", "choices", 0)
    message = at(choice, "message")
    content = at(message, "content")
    refusal = None
    if content is not None and content[:1] == "[":
        parts = list(objects_of(content))
        refusal = next((text_at(part, "text") for part in parts if at(part, "refusal") == "true"), None)
        content = joined_texts([text_at(part, "text") for part in parts if text_at(part, "type") == "text"])
    content = _attached(sample, content if content is not None else at(sample, "output", "completion"))
    calls = [(text_at(call, "function") or "", at(call, "arguments")) for call in objects_of(at(message, "tool_calls"))]
    found = replace(reply, finish=text_at(choice, "stop_reason"), text=content, refusal=refusal)
    return with_tool(found, calls, tool)


def _attached(sample: str, content: str | None) -> str | None:
    """Give a large text from where the log has moved it."""
    mark = '"attachment://'
    if content is None or not content.startswith(mark):
        return content
    return at(sample, "attachments", content[len(mark) : -1]) or content


def _references(sample: str) -> dict[str, str]:
    target = at(sample, "target")
    if target is not None and target[:1] == "[" and len(given := items(target)) == 1:
        target = given[0]
    named = {"target": target, "metadata": at(sample, "metadata")}
    return {name: value for name, value in named.items() if value is not None} | reference_members(target)


def model_of(header: str) -> str | None:
    """Name the model that an eval was of."""
    return text_at(header, "eval", "model")


def epochs_of(header: str) -> int:
    """Give the epochs that an eval was to run."""
    epochs = text_at(header, "eval", "config", "epochs")
    return int(epochs) if epochs is not None and epochs.isdigit() else 1
