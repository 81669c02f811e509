"""A first look at records, for `init`: the values of each name, as raw JSON text. The load room reads them for real."""

from __future__ import annotations

import csv
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from auditor.errors import LoadError, Mistake
from auditor.load.finish import outcome_of
from auditor.load.payload import read_completion

#: Rows that are looked at, at most. They are all of most files, so that what is said of the values holds of all.
SAMPLE = 50_000
_ID_NAMES = ("case_id", "id", "example_id", "document_id", "doc_id", "record_id", "sample_id", "uuid", "key")

#: Names of a column of finish reasons, in lower case and without underscores.
FINISH_NAMES = ("finish", "finishreason", "stopreason")
_ERROR_NAMES = frozenset({"error", "transport_error", "error_message"})

Row = dict[str, str]


@dataclass(frozen=True)
class Sample:
    """Rows of one file: each maps a name (dotted where nested) to a raw token."""

    rows: list[Row]
    completion: str | None = None
    malformed: int = 0  # completions that hold an object amid other text, as the load room does not read them
    finish: str | None = None  # the column of their finish reasons
    unfinished: int = 0  # completions without one there
    error: str | None = None  # the column of their transport errors
    is_cut: bool = False  # the file has more rows
    lists: tuple[str, ...] = ()  # names whose values are JSON arrays, which are not looked into

    @property
    def names(self) -> list[str]:
        """Give all names, in the order in which they come."""
        return list(dict.fromkeys(name for row in self.rows for name in row))

    def values(self, name: str) -> list[str]:
        """Give the tokens of a name."""
        return [row[name] for row in self.rows if name in row]


class _Number(str):
    """The source text of a JSON number."""

    __slots__ = ()


def sample(path: Path, role: str) -> Sample:
    """Look at the first rows of a file of predictions or references; `role` names its value column in long form."""
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise _unreadable(
            path, f"the suffix {path.suffix or '(none)'} is not known", f"there are: {' '.join(_READERS)}"
        )
    try:
        found = list(itertools.islice(reader(path), SAMPLE + 1))
    except (OSError, ValueError, csv.Error) as error:
        raise _unreadable(
            path, f"cannot be read: {error}", "give a file of predictions and one of references"
        ) from error
    is_cut, found = len(found) > SAMPLE, found[:SAMPLE]
    rows = [_flat(row) for row in found]
    if not rows:
        raise _unreadable(path, "has no rows", "give a file with a few records")
    if all("field" in row for row in rows) and any(role in row for row in rows):
        return Sample(_pivoted(rows, role), is_cut=is_cut)
    completion = _completion_column(rows)
    if completion is None:
        return Sample(rows, is_cut=is_cut, lists=_lists(found))
    tokens = [row.get(completion, "0") for row in rows]
    malformed = sum(bool(_object_within(token)) and not _object_in(token) for token in tokens)
    # Where most are malformed, the names of what is within are still the fields that were asked for.
    read = _object_within if 2 * malformed > len(tokens) else _object_in
    finish = _finish_column(rows, completion)
    return Sample(
        [_opened(row, completion, read) for row in rows],
        completion,
        malformed,
        finish,
        sum(row.get(finish, '""') == '""' for row in rows) if finish else 0,
        next((name for row in rows for name in row if name.lower() in _ERROR_NAMES), None),
        is_cut,
        _lists([read(row.get(completion, "0")) for row in rows]),
    )


def _lists(rows: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for row in rows for name, value in row.items() if isinstance(value, list)))


def find_id(predictions: Sample, references: Sample) -> str | None:
    """Give the name that most likely tells the cases apart in both files."""
    shared = [name for name in references.names if name in predictions.names]
    for usual in _ID_NAMES:
        if found := [name for name in shared if name.lower() == usual]:
            return found[0]
    return next((name for name in shared if _is_distinct(references.values(name))), None)


def _is_distinct(values: list[str]) -> bool:
    return len(values) > 1 and len(set(values)) == len(values)


def _unreadable(path: Path, what: str, hint: str) -> LoadError:
    return LoadError([Mistake(str(path), what, hint)])


def _csv_rows(path: Path) -> Iterator[dict[str, Any]]:
    csv.field_size_limit(2**31 - 1)
    with path.open(encoding="utf-8-sig", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t" if path.suffix.lower() == ".tsv" else ","):
            yield {name: cell for name, cell in row.items() if name and isinstance(cell, str) and cell != ""}


def _json_rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            row = _loads(line)
            if not isinstance(row, dict):
                raise ValueError(f"line {number} is not a JSON object")
            yield row


def _parquet_rows(path: Path) -> Iterator[dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        for batch in pq.ParquetFile(path).iter_batches(SAMPLE):
            yield from batch.to_pylist()
    except pa.ArrowException as error:
        raise ValueError(str(error)) from error


_READERS = {
    ".csv": _csv_rows,
    ".tsv": _csv_rows,
    ".jsonl": _json_rows,
    ".ndjson": _json_rows,
    ".parquet": _parquet_rows,
}


def _loads(text: str) -> Any:
    return json.loads(text, parse_int=_Number, parse_float=_Number, parse_constant=_Number)


def _flat(row: Mapping[str, Any], above: str = "") -> Row:
    flat: Row = {}
    for name, value in row.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{above}{name}.")
        elif value is not None and not isinstance(value, list):
            flat[f"{above}{name}"] = _token(value)
    return flat


def flat_object(text: str) -> Row | None:
    """Give the values of a JSON object by their dotted names; None where the text is no object."""
    try:
        found = _loads(text)
    except (ValueError, RecursionError):
        return None
    return _flat(found) if isinstance(found, dict) else None


def _token(value: object) -> str:
    if isinstance(value, _Number):
        return str(value)
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    return json.dumps(str(value), ensure_ascii=False)


def _pivoted(rows: Iterable[Row], role: str) -> list[Row]:
    """Turn rows of one value each into rows of one case each; only their fields and their id matter here."""
    pivoted = []
    for row in rows:
        kept = {name: token for name, token in row.items() if name not in ("field", "prediction", "reference")}
        if role in row:
            kept[json.loads(row["field"])] = row[role]
        pivoted.append(kept)
    return pivoted


def _completion_column(rows: list[Row]) -> str | None:
    """Find the column whose cells are JSON objects: the completions of a model."""
    for name in dict.fromkeys(name for row in rows for name in row):
        tokens = [row[name] for row in rows if name in row]
        if 2 * sum(bool(_object_within(token)) for token in tokens) > len(tokens):
            return name
    return None


def _finish_column(rows: list[Row], completion: str) -> str | None:
    """Find the column of finish reasons: by its name, else by holding nothing but reasons that are known."""
    # A dotted name is of a value within a column, which the load room does not look into.
    seen = dict.fromkeys(name for row in rows for name in row)
    names = [name for name in seen if name != completion and "." not in name]
    for usual in FINISH_NAMES:
        if found := [name for name in names if name.lower().replace("_", "") == usual]:
            return found[0]
    return next((name for name in names if _holds_reasons([row[name] for row in rows if name in row])), None)


def _holds_reasons(tokens: list[str]) -> bool:
    contents = [json.loads(token) for token in tokens]
    return all(isinstance(content, str) and outcome_of(content, None) != "unknown" for content in contents)


def _opened(row: Row, completion: str, read: Callable[[str], dict[str, Any]]) -> Row:
    return {name: token for name, token in row.items() if name != completion} | _flat(read(row.get(completion, "0")))


def _object_in(token: str) -> dict[str, Any]:
    """Give the object that a completion is, read as the load room reads it."""
    content = _loads(token)
    if not isinstance(content, str) or isinstance(content, _Number) or read_completion(content, {}) is None:
        return {}
    return dict(_loads(content))


def _object_within(token: str) -> dict[str, Any]:
    """Give the object that a completion is or holds amid other text, such as a fence."""
    content = _loads(token)
    if not isinstance(content, str) or isinstance(content, _Number) or "{" not in content:
        return {}
    try:
        inner = _loads(content[content.index("{") : content.rindex("}") + 1])
    except ValueError:
        return {}
    return inner if isinstance(inner, dict) else {}
