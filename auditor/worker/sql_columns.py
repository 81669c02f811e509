"""Consumers on SQL engines other than DuckDB: each field has an expression, or the type of a column that is loaded."""

from __future__ import annotations

from .engine_texts import tag_column
from .engines import open_engine
from .sql_engine import SURROGATE, can_be_sent, parts_of
from .trouble import Ended

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

    Decoded = Tuple[List[Optional[str]], Dict[int, List[str]], Dict[int, str]]


def not_watched(done: int) -> None:
    """Take no note of how many values are done."""


class ColumnAdapter:
    """One engine, and what reads each field."""

    def __init__(self, config: "Dict[str, Any]") -> None:
        self.config = config
        self.moved: "Callable[[int], None]" = not_watched
        self.engine = open_engine(config)
        self.readers = self.make_readers()

    def make_readers(self) -> "Dict[str, Any]":
        """Give what reads each field."""
        reads = self.expressions()
        return {
            field: self.engine.reader(field, reads[field], kind)
            for field, kind in self.config["fields"].items()
            if field in reads
        }

    def expressions(self) -> "Dict[str, str]":
        """Give the expression, or the type of a column, of each field."""
        reads: "Dict[str, str]" = self.config["reads"]
        return reads

    def ready(self) -> "Dict[str, Any]":
        """Say what reads each field, and what that is made of."""
        statement = self.config["statement"]
        settings = {"engine": self.engine.name, "statement": statement, **self.engine.settings}
        reads = {field: reader.shown for field, reader in self.readers.items()}
        parts = {"engine": self.engine.name, "settings": settings, "reads": reads}
        return {"reads": reads, "version_parts": parts, "settings": settings, "canary": self.engine.canary()}

    def decode_batch(self, field: str, values: "List[str]") -> "Decoded":
        """Decode a column of texts, with what the engine warned of; what it cannot be sent costs itself alone."""
        if can_be_sent("".join(values)):
            places: "Sequence[int]" = range(len(values))
            if len(parts_of(values)) == 1:
                return self._read(field, values)
        else:
            places = [index for index, value in enumerate(values) if can_be_sent(value)]
        texts: "List[Optional[str]]" = [None] * len(values)
        faults = {}
        warnings: "Dict[int, str]" = {}
        if len(places) < len(values):
            sent = set(places)
            faults = {index: ["rejected", SURROGATE] for index in range(len(values)) if index not in sent}
        for part in parts_of([values[place] for place in places]):
            where = places[part.start : part.stop]
            found, why, said = self._read(field, [values[place] for place in where])
            for place, text in zip(where, found):  # noqa: B905 - no `strict` on Python 3.8
                texts[place] = text
            faults.update({where[at]: fault for at, fault in why.items()})
            warnings.update({where[at]: warning for at, warning in said.items()})
        return texts, faults, warnings

    def close(self) -> None:
        """End a private server; one that is not closed ends with the process."""
        if self.engine.server is not None:
            self.engine.server.close()

    def _read(self, field: str, values: "List[str]") -> "Decoded":
        reader = self.readers[field]
        self.engine.moved = self.moved
        try:
            column = reader.read(values)
        except self.engine.gone as error:
            raise Ended("%s: %s" % (type(error).__name__, self.engine.said(error))) from error
        texts, faults = tag_column(column, reader.tag, reader.kind)
        return texts, faults, column.warnings
