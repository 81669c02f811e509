"""A consumer on an SQL engine other than DuckDB whose model file runs whole; fields beside it have an expression."""

from __future__ import annotations

import json

from .engine_model import Model
from .engine_model_reader import Reader
from .engine_model_rows import RowSource
from .sql_columns import ColumnAdapter
from .sql_model_run import notes_of
from .sql_rows import Rows
from .sql_tags import take

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional

    from .sql_columns import Decoded


class ModelAdapter(ColumnAdapter):
    """One engine, its model, and what reads each field."""

    def __init__(self, config: "Dict[str, Any]") -> None:
        self.plan: "Dict[str, Any]" = config["plan"]
        super().__init__(config)

    def make_readers(self) -> "Dict[str, Any]":
        """Give what reads each field: an output column of the model, or an expression."""
        self.model = Model(self.engine.stage(self.plan["spelled"]), self.plan)
        self.located = {
            field: Reader(self.model, field, kind)
            for field, kind in self.config["fields"].items()
            if field in self.plan["fields"]
        }
        self.rows: "Optional[Rows]" = None
        if self.plan["rows"]:
            self.source = RowSource(self.model, list(self.located.values()))
            self.rows = Rows(self.model, self.source, list(self.located))
        return {**super().make_readers(), **self.located}

    def expressions(self) -> "Dict[str, str]":
        """Give the reads that are no columns of the model."""
        return {field: target for field, target in self.config["reads"].items() if field not in self.plan["fields"]}

    def ready(self) -> "Dict[str, Any]":
        """Say what reads each field, and what that is made of."""
        ready = super().ready()
        ready["version_parts"]["model"] = self.plan["text"]
        ready["settings"] = {**ready["settings"], **notes_of(self.plan)}
        note = self.plan["scope_note"] if self.rows is None else self.rows.note()
        alone = [field for field in self.readers if field not in self.located]
        scope = "field" if self.rows is None else "payload"
        return {**ready, "scope": scope, "scope_note": note, "alone": alone}

    def decode_payloads(self, field: str, values: "List[str]") -> "Decoded":
        """Decode the field in whole rows, each the JSON text of a list of texts."""
        assert self.rows is not None, "rows are sent in payload scope only"
        reader = self.located[field]
        texts, faults = take(self.rows.read(field, values), reader.kind)
        return texts, faults, self._warnings_of_rows(field, values) if self.source.warnings else {}

    def _warnings_of_rows(self, field: str, values: "List[str]") -> "Dict[int, str]":
        """Give the warnings of rows to the fields whose own value makes the engine warn, or to all where none does."""
        found = {}
        for index, text in enumerate(values):
            row = json.loads(text)
            warned = self.source.warnings.get(tuple(row))
            if warned:
                own = {name: self._own_warning(name, row[self.plan["rows"]["fields"][name]]) for name in self.located}
                told = own[field] if any(own.values()) else warned
                if told:
                    found[index] = told
        return found

    def _own_warning(self, field: str, value: "Optional[str]") -> str:
        if value is None:
            return ""
        reader = self.located[field]
        reader.read([value])
        return reader.warnings.get(value, "")

    def _read(self, field: str, values: "List[str]") -> "Decoded":
        if field not in self.located:
            return super()._read(field, values)
        reader = self.located[field]
        reader.moved = self.moved
        texts, faults = take(reader.read(values), reader.kind)
        warned = reader.warnings
        return texts, faults, {index: warned[value] for index, value in enumerate(values) if value in warned}
