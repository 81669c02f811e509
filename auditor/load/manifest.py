"""The digest that binds a run to its ids and references: `manifest_rows_sha256`. Its definition is final."""

from __future__ import annotations

import array
import hashlib
import json
import sys
from collections.abc import Sequence
from typing import Any

from auditor.load.tokens import string_token

_ESCAPED_PATTERN = '["\\\\\\x00-\\x1f]'


class ColumnDigest:
    """sha256 of a column of values, each a token or none.

    A string token is taken without its two quotes, any other as it is. The digest is the sha256 of two sha256 digests:
    of the taken texts (UTF-8, one after the other), and of a signed 32-bit little-endian integer per value: n for a
    string of n bytes, -1 for none, -2-n for any other token of n bytes. So the pairs ("ab", "c") and ("a", "bc"), the
    string "3" and the number 3, an empty text and none are told apart; how a column is cut into batches is not.
    """

    def __init__(self) -> None:
        self.count = 0
        self._contents = hashlib.sha256()
        self._lengths = hashlib.sha256()

    def add(self, values: Sequence[str | None], *, tokens: bool) -> None:
        """Append values: tokens, or the contents of strings."""
        contents, lengths = [], array.array("i")
        for value in values:
            if value is None:
                lengths.append(-1)
                continue
            string = not tokens or value[0] == '"'
            taken = ((value if tokens else string_token(value))[1:-1] if string else value).encode()
            contents.append(taken)
            lengths.append(len(taken) if string else -2 - len(taken))
        if sys.byteorder == "big":
            lengths.byteswap()
        self._update(b"".join(contents), lengths.tobytes(), len(values))

    def add_arrow(self, values: Any, *, tokens: bool) -> None:
        """Append an Arrow string array of tokens, or of the contents of strings."""
        import pyarrow.compute as compute

        strings = None
        if tokens:
            strings = compute.starts_with(values, '"')
            values = compute.if_else(strings, compute.utf8_slice_codeunits(values, 1, -1), values)
        elif _may_need_escapes(values):
            special = compute.match_substring_regex(values, _ESCAPED_PATTERN)
            escaped = [string_token(value)[1:-1] for value in values.filter(special).to_pylist()]
            values = compute.replace_with_mask(values, compute.fill_null(special, False), escaped)
        lengths = compute.binary_length(values)
        if strings is not None:
            lengths = compute.if_else(strings, lengths, compute.subtract(-2, lengths).cast("int32"))
        lengths = compute.fill_null(lengths, -1)
        numbers = memoryview(lengths.buffers()[1])[lengths.offset * 4 : (lengths.offset + len(lengths)) * 4]
        self._update(contents_of(values), numbers, len(values))

    def digest(self) -> bytes:
        """Give the digest of the values so far."""
        return hashlib.sha256(self._contents.digest() + self._lengths.digest()).digest()

    def _update(self, contents: bytes | memoryview, lengths: bytes | memoryview, count: int) -> None:
        self._contents.update(contents)
        self._lengths.update(lengths)
        self.count += count


def contents_of(values: Any) -> memoryview:
    """Give the bytes of all texts of an Arrow array, one after the other."""
    present = values.drop_null() if values.null_count else values
    _, offsets, contents = present.buffers()
    if contents is None or len(present) == 0:
        return memoryview(b"")
    numbers = memoryview(offsets).cast("i")
    return memoryview(contents)[numbers[present.offset] : numbers[present.offset + len(present)]]


def _may_need_escapes(values: Any) -> bool:
    import pyarrow
    import pyarrow.compute

    contents = contents_of(values).tobytes()
    if not contents:
        return False
    numbers = pyarrow.Array.from_buffers(pyarrow.uint8(), len(contents), [None, pyarrow.py_buffer(contents)])
    # Searches of the whole batch, at memory speed; a pattern is fifty times slower.
    return b'"' in contents or b"\\" in contents or pyarrow.compute.min_max(numbers)["min"].as_py() < 32


class Manifest:
    """The digest of ids and references.

    Take the dense table of references: a row per expected id, in shortlex order of the ids (number of UTF-8 bytes
    compared first, bytes second); the ids as a column of strings; and for each field of the spec a column with the
    references' tokens. A reference that is missing (no row, no key, null, JSON null, an empty string) is none. The
    manifest is the sha256 over one line of JSON, ended by a line feed, of ``["fidelity-auditor references 1", number of
    ids, digest of the ids, [[field, digest of its column], …]]``: fields in the order of their code points, digests as
    `ColumnDigest` gives them in lower-case hexadecimal, separators `,` and `:`, and no character escaped that JSON does
    not demand. Nothing else enters it: not the files, their formats, their order, or how cases are spread over them.
    """

    def __init__(self, fields: Sequence[str]) -> None:
        self.ids = ColumnDigest()
        self.columns = {field: ColumnDigest() for field in fields}

    @property
    def dense(self) -> bool:
        """Whether every column has an entry for every id."""
        return all(column.count == self.ids.count for column in self.columns.values())

    def sha256(self) -> str:
        """Give the digest."""
        columns = [[field, self.columns[field].digest().hex()] for field in sorted(self.columns)]
        lines = ["fidelity-auditor references 1", self.ids.count, self.ids.digest().hex(), columns]
        text = json.dumps(lines, ensure_ascii=False, separators=(",", ":")) + "\n"
        return hashlib.sha256(text.encode()).hexdigest()
