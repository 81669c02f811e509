"""Which log a file is, by what it holds, and its records as JSON text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from auditor.errors import LoadError
from auditor.load.files import SourceFile, mistake
from auditor.load.json_lines import items, members, read_chunks
from auditor.load.logs.anthropic_batch import is_anthropic_batch
from auditor.load.logs.inspect_ai import epochs_of, header_of, is_inspect_log, model_of, samples_of
from auditor.load.logs.langfuse import is_langfuse_item
from auditor.load.logs.lm_eval import is_lm_eval_sample
from auditor.load.logs.openai_batch import is_openai_batch
from auditor.load.logs.promptfoo import is_promptfoo_document, is_promptfoo_row
from auditor.load.logs.reply import at
from auditor.spec.models import CasesSpec, LogFormat

Shape = Literal["lines", "document", "zip"]
Is = Callable[[set[str]], bool]

#: What the keys of a line, of a document or of the rows of an array say; the first that fits counts.
_OF_LINES: Final[tuple[tuple[Is, LogFormat], ...]] = (
    (is_anthropic_batch, "anthropic-batch"),
    (is_openai_batch, "openai-batch"),
    (is_promptfoo_row, "promptfoo"),
    (is_lm_eval_sample, "lm-eval"),
    (is_langfuse_item, "langfuse"),
)
_OF_DOCUMENTS: Final[tuple[tuple[Is, LogFormat], ...]] = (
    (is_inspect_log, "inspect-ai"),
    (is_promptfoo_document, "promptfoo"),
)

#: Where a document has its records; the first place with an array counts.
_RECORDS: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    "inspect-ai": (("samples",),),
    "promptfoo": (("results", "results"), ("results",), ()),
    "langfuse": (("data",), ()),
}


@dataclass(frozen=True)
class Log:
    """A file that is a log: of which format, and how its records stand in it."""

    format: LogFormat
    shape: Shape


def recognise(file: SourceFile, cases: CasesSpec | None = None, *, named: LogFormat | None = None) -> Log | None:
    """Say which log a file is, None where it is none; a format that is `named` counts, whatever the file holds.

    A file whose column of completions the spec names is read as it says.
    """
    if file.format == "eval":
        return Log("inspect-ai", "zip")
    if file.format != "jsonl" or (cases is not None and cases.completion and named is None):
        return None
    line = _first_line(file)
    if (keys := _keys(line)) is not None:
        if (known := _known(keys, _OF_DOCUMENTS)) is not None:
            return Log(named or known, "document")
        if "data" in keys and named in (None, "langfuse") and _rows_are_langfuse(line):
            return Log("langfuse", "document")
        chosen = named or _known(keys, _OF_LINES)
        return None if chosen is None else Log(chosen, "lines")
    # A document is written over many lines or as an array; what else starts so is a broken line, and not read whole.
    return _recognise_document(file, named) if line.strip() == "{" or line.lstrip().startswith("[") else None


def _recognise_document(file: SourceFile, named: LogFormat | None) -> Log | None:
    text = _whole(file.path)
    keys = _keys(text)
    if keys is not None and (known := _known(keys, _OF_DOCUMENTS)) is not None:
        return Log(named or known, "document")
    if named is not None:
        return Log(named, "document")
    if keys is not None:
        return Log("langfuse", "document") if "data" in keys and _rows_are_langfuse(text) else None
    found = _of_first_row(text)
    return None if found is None else Log(found, "document")


def _first_line(file: SourceFile) -> str:
    for _, chunk in read_chunks(file):
        return chunk.lstrip().partition(b"\n")[0].decode()
    return ""


def _keys(text: str) -> set[str] | None:
    try:
        return {key for key, _ in members(text)}
    except (ValueError, RecursionError):
        return None


def _known(keys: set[str], formats: tuple[tuple[Is, LogFormat], ...]) -> LogFormat | None:
    return next((name for fits, name in formats if fits(keys)), None)


def _rows_are_langfuse(text: str) -> bool:
    first = at(text, "data", 0)
    keys = None if first is None else _keys(first)
    return keys is not None and is_langfuse_item(keys)


def _of_first_row(text: str) -> LogFormat | None:
    """Recognise an array of rows by its first one."""
    try:
        first = next(iter(items(text)), "")
    except (ValueError, RecursionError):
        return None
    known = _known(_keys(first) or set(), _OF_LINES)
    return known if known in _RECORDS else None


def _whole(path: Path) -> str:
    return path.read_text(encoding="utf-8-sig").strip()


class Records:
    """The records of a log as JSON text, one after the other; `number` and `current` are of the last one given."""

    def __init__(self, file: SourceFile, log: Log) -> None:
        self.file, self.log = file, log
        self.number, self.current = 0, ""
        self.epochs = 1
        self.model: str | None = None  # of an eval, which names it once for all samples

    @property
    def place(self) -> str:
        """Say where the last record is."""
        what = "line" if self.log.shape == "lines" else "record"
        return f"{self.file.name}, {what} {self.number}" if self.number else self.file.name

    def __iter__(self) -> Iterator[str]:
        for number, record in self._numbered():
            self.number, self.current = number, record
            yield record

    def _numbered(self) -> Iterator[tuple[int, str]]:
        if self.log.shape == "lines":
            for first, chunk in read_chunks(self.file):
                for number, line in enumerate(chunk.split(b"\n"), first):
                    if line.strip():
                        yield number, line.decode().strip()
        elif self.log.shape == "zip":
            self._read_header(header_of(self.file.path))
            yield from enumerate(samples_of(self.file.path), 1)
        else:
            text = _whole(self.file.path)
            if self.log.format == "inspect-ai":
                self._read_header(text)
            yield from enumerate(self._of_document(text), 1)

    def _read_header(self, header: str) -> None:
        self.epochs, self.model = epochs_of(header), model_of(header)

    def _of_document(self, text: str) -> list[str]:
        for path in _RECORDS[self.log.format]:
            found = text if not path and text[:1] == "[" else at(text, *path) if path else None
            if found is not None and found[:1] == "[":
                return items(found)
        raise self.broken("holds no list of records")

    def broken(self, what: str) -> LoadError:
        """Make the error for a record that cannot be read."""
        hint = f"it is read as a log of {self.log.format}; is it complete? [cases] format names another"
        return mistake(self.place, what, hint)
