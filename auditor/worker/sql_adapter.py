"""Adapter for SQL: an expression per field, or on DuckDB the warehouse's whole model on a mocked source.

``reads`` maps a field to an expression with ``{value}`` in the place of the column. ``plan`` is None or, as
`auditor/decode/sql_model.py` makes it, the model with the source column and the output column of each field. Its
``rows`` say how payloads become rows of the source (scope ``payload``); without them, and for every raw value that
comes without its payload, the source has one column filled (scope ``field``).
"""

# ruff: noqa: B905 - zip has no `strict` on Python 3.8

from __future__ import annotations

import os

from . import sql_loads, sql_model_run
from .sql_engine import SURROGATE, Engine, can_be_sent, message_of, parts_of
from .sql_expression import Expression
from .sql_row_source import RowSource
from .sql_rows import Rows
from .sql_tags import take

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional, Tuple


def not_watched(done: int) -> None:
    """Take no note of how many values are done."""


class SqlAdapter:
    """One database, and per field what reads a column of texts into marks (`sql_tags`)."""

    def __init__(self, config: "Dict[str, Any]") -> None:
        zone = os.environ.get("TZ") or "UTC"
        self.engine = Engine(config["settings"], zone, config["memory"])
        self.plan = config["plan"]
        self.statement: str = config.get("statement") or "cast"
        self.emulates: "Dict[str, str]" = config.get("emulates", {})
        self.reads: "Dict[str, str]" = config["reads"]
        self.readers: "Dict[str, Any]" = {}
        self.model = sql_model_run.Model(self.engine, self.plan) if self.plan else None
        self.rows: "Optional[Rows]" = None
        self.moved: "Callable[[int], None]" = not_watched
        self.functions: "Dict[str, str]" = {}
        if config.get("catalogue"):
            text = " ".join([*self.reads.values(), self.plan["text"] if self.plan else ""])
            self.functions = self.engine.stabilities(text)
        if self.statement == "copy":
            self.engine.folder = sql_loads.folder()
        self.engine.seal()
        reader = sql_loads.LOADS.get(self.statement, Expression)
        for field in config["fields"]:
            if self.model is not None and field in self.plan["fields"]:
                self.readers[field] = self.model.reader(field)
            elif field in self.reads:
                self.readers[field] = reader(self.engine, field, self.reads[field])
        if self.model is not None and self.plan["rows"]:
            located = [field for field in config["fields"] if field in self.plan["fields"]]
            self.rows = Rows(self.model, RowSource(self.model, located), located)

    def ready(self) -> "Dict[str, Any]":
        """Say what reads each field, and what that is made of."""
        settings = {"engine": self.engine.name, "TimeZone": self.engine.zone_in_force, **self.engine.settings}
        texts = {field: reader.text for field, reader in self.readers.items()}
        settings.update(self.emulates)
        if self.statement != "cast":
            settings["statement"] = self.statement
        parts = {"engine": self.engine.name, "settings": settings, "reads": texts}
        if self.model is not None:
            parts["model"] = self.plan["text"]
            settings.update(sql_model_run.notes_of(self.plan))
        reads = {field: reader.shown for field, reader in self.readers.items()}
        ready: "Dict[str, Any]" = {"reads": reads, "version_parts": parts, "settings": settings}
        ready["functions"] = self.functions
        if self.model is not None:
            note = self.plan["scope_note"] if self.rows is None else self.rows.note()
            alone = [field for field in self.readers if field not in self.plan["fields"]]
            scope = "field" if self.rows is None else "payload"
            ready.update({"scope": scope, "scope_note": note, "alone": alone})
        return ready

    def decode_batch(self, field: str, values: "List[str]") -> "Tuple[List[Optional[str]], Dict[int, List[str]]]":
        """Decode a column of texts; what the engine cannot be sent costs itself alone."""
        reader = self.readers[field]
        sendable = values if can_be_sent("".join(values)) else [value for value in values if can_be_sent(value)]
        marks: "List[str]" = []
        try:
            for part in parts_of(sendable):
                reader.moved = counted_from(part.start, self.moved)
                marks += reader.read(sendable[part.start : part.stop])
        except self.engine.fatal as error:
            return self._lost(error, values)
        texts, faults = take(marks, reader.kind)
        return (texts, faults) if sendable is values else put_back(values, texts, faults)

    def decode_payloads(self, field: str, values: "List[str]") -> "Tuple[List[Optional[str]], Dict[int, List[str]]]":
        """Decode the field in whole rows, each the JSON text of a list of texts."""
        assert self.rows is not None, "rows are sent in payload scope only"
        try:
            marks = self.rows.read(field, values)
        except self.engine.fatal as error:
            return self._lost(error, values)
        return take(marks, self.readers[field].kind)

    def _lost(self, error: BaseException, values: "List[str]") -> "Tuple[List[Optional[str]], Dict[int, List[str]]]":
        """Open the engine anew after an error that ended it; one value is to blame only where it was alone."""
        self._reopen()
        if len(values) > 1:
            raise error
        # Production has lost its database, too: that is no rejection of a value.
        return [None], {0: ["crashed", "%s: %s" % (type(error).__name__, message_of(error))]}

    def _reopen(self) -> None:
        self.engine.reopen()
        if self.model is not None:
            self.model.build()
        self.engine.seal()


def counted_from(start: int, moved: "Callable[[int], None]") -> "Callable[[int], None]":
    """Give what counts the values that are done in a part."""
    return lambda done: moved(start + done)


def put_back(
    values: "List[str]", texts: "List[Optional[str]]", faults: "Dict[int, List[str]]"
) -> "Tuple[List[Optional[str]], Dict[int, List[str]]]":
    """Put the strings that are no texts back in their places."""
    whole: "List[Optional[str]]" = [None] * len(values)
    places = [index for index, value in enumerate(values) if can_be_sent(value)]
    moved = {places[index]: fault for index, fault in faults.items()}
    for place, text in zip(places, texts):
        whole[place] = text
    sent = set(places)
    moved.update({index: ["rejected", SURROGATE] for index in range(len(values)) if index not in sent})
    return whole, moved


def open_adapter(config: "Dict[str, Any]") -> "Any":
    """Open the engine, and check every expression and the model on empty tables."""
    if config.get("engine", "duckdb") != "duckdb":
        package = __name__.rpartition(".")[0]
        if config["plan"] is not None:
            return __import__(package + ".engine_model_adapter", fromlist=["_"]).ModelAdapter(config)
        return __import__(package + ".sql_columns", fromlist=["_"]).ColumnAdapter(config)
    return SqlAdapter(config)
