"""DataFusion in the consumer's interpreter.

A cast that raises takes the whole statement with it. A plain cast is tried with the engine's own try form first, which
was measured to accept the same strings; what that gives NULL for, and any other expression, is run as it is written,
over ever fewer values.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import contextmanager

from .engine_common import (
    Refused,
    TriedFirst,
    in_place,
    known_name,
    required,
    setting_error,
    shortened,
    stage_class,
)
from .trouble import StartError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence

ZONE = "datafusion.execution.time_zone"

#: What is recorded of a session beside what the consumer sets.
RECORDED = (ZONE, "datafusion.execution.enable_ansi_mode", "datafusion.sql_parser.dialect")

PLAIN_CAST = re.compile(r"\s*cast\s*\(\s*\{value\}\s+as\s+([\w ]+(?:\([\d, ]*\))?)\s*\)\s*", re.IGNORECASE)

#: Tags by how the name of an Arrow type begins.
TAGS = (
    ("date", "date"),
    ("timestamp", "datetime"),
    ("time", "time"),
    ("int", "int"),
    ("uint", "int"),
    ("float", "float"),
    ("double", "float"),
    ("halffloat", "float"),
    ("decimal", "decimal"),
    ("bool", "bool"),
    ("string", "text"),
    ("large_string", "text"),
)


class Engine:
    """One session context."""

    gone = ()
    server = None
    moved: "Optional[Callable[[int], None]]" = None

    def __init__(self, config: "Dict[str, Any]") -> None:
        module = required("datafusion", "datafusion")
        self.arrow = required("pyarrow", "datafusion")
        self.context = module.SessionContext(
            module.SessionConfig({"datafusion.catalog.information_schema": "true"}).with_target_partitions(1)
        )
        self.options = module.SQLOptions().with_allow_ddl(False).with_allow_dml(False).with_allow_statements(False)
        given = {name.lower() for name in config["settings"]}
        if ZONE not in given:
            self._set(ZONE, os.environ.get("TZ") or "UTC")
        for name, value in config["settings"].items():
            self._set(name, value)
        self.name = "datafusion %s (%s)" % (module.__version__, self.column("SELECT version() AS x")[0])
        self.settings: "Dict[str, str]" = {}
        known = dict(zip(*self.columns("SELECT name, value FROM information_schema.df_settings")))  # noqa: B905
        for name in sorted({*given, *RECORDED}):
            if known.get(name) is not None:
                self.settings[name] = known[name]

    def _set(self, name: str, value: str) -> None:
        try:
            with self.refusing():
                self.context.sql("SET %s = '%s'" % (known_name(name), value.replace("'", "''"))).collect()
        except Refused as error:
            raise setting_error(name, value, str(error)) from error

    @contextmanager
    def refusing(self) -> "Iterator[None]":
        """Turn what the library raises into Refused."""
        try:
            yield
        except Exception as error:  # for a cast that fails the library raises this very class
            raise Refused(self.said(error)) from error

    def columns(self, sql: str) -> "List[List[Any]]":
        """Give the columns of a query; Refused where it raises."""
        with self.refusing():
            batches = self.context.sql_with_options(sql, self.options).collect()
        if not batches:
            return []
        table = self.arrow.Table.from_batches(batches)
        return [column.to_pylist() for column in table.columns]

    def column(self, sql: str) -> "List[Any]":
        """Give the first column of a query."""
        found = self.columns(sql)
        return found[0] if found else []

    def fill(self, rows: "Sequence[int]", values: "Sequence[str]") -> None:
        """Make values the table that expressions read."""
        batch = self.arrow.record_batch(
            {"i": self.arrow.array(rows, self.arrow.int64()), "value": self.arrow.array(values, self.arrow.string())}
        )
        self.context.deregister_table("mock")
        self.context.register_record_batches("mock", [[batch]])

    def mock(self, name: str, columns: "Sequence[Sequence[Optional[str]]]") -> None:
        """Make columns of texts a table, with the names c0, c1 and so on."""
        arrays = {"c%d" % at: self.arrow.array(column, self.arrow.string()) for at, column in enumerate(columns)}
        self.context.deregister_table(name)
        self.context.register_record_batches(name, [[self.arrow.record_batch(arrays)]])

    def said(self, error: BaseException) -> str:
        """Give the engine's message of an error."""
        return shortened(re.sub("^(?:DataFusion error: )?(?:Arrow error: )?", "", str(error)))

    def stage(self, spelled: "Dict[str, str]") -> "Any":
        """Give the tables in which a model runs."""
        return stage_class("embedded_stages", "DataFusion")(self, spelled)

    def reader(self, field: str, target: str, kind: str) -> "Expression":
        """Give what reads a field."""
        return Expression(self, field, target)

    def canary(self) -> "Dict[str, Any]":
        """Say what clock the engine itself sees."""
        instant = time.time()
        now = int(self.column("SELECT CAST(CAST(now() AS TIMESTAMP) AS BIGINT) AS x")[0]) / 1e9
        return {"clock": instant if abs(now - instant) < 0.001 else now}


class Expression(TriedFirst):
    """The consumer's expression over a column."""

    def __init__(self, engine: Engine, field: str, target: str) -> None:
        self.shown = target
        tried = "reads.%s = %s on %s" % (field, target, engine.name)
        sql = in_place(target, '"value"', tried)
        # The text of a value is made outside of a query of its own, or the optimiser might see through the cast.
        query = "SELECT i, CAST(x AS VARCHAR) AS t FROM (SELECT i, %s AS x FROM mock) AS r" % sql
        plain = PLAIN_CAST.fullmatch(target)
        asked = None if plain is None else query.replace(sql, 'TRY_CAST("value" AS %s)' % plain.group(1))
        super().__init__(engine, query, asked)
        try:
            with engine.refusing():
                engine.fill([0], [""])
                schema = engine.context.sql_with_options("SELECT %s AS x FROM mock" % sql, engine.options).schema()
            kinds = [str(field.type) for field in schema]
        except Refused as error:
            raise StartError(tried, str(error), "correct the expression") from error
        if len(kinds) != 1:
            raise StartError(tried, "it gives %d columns" % len(kinds), "give one expression")
        self.kind, self.tag = kinds[0], tag_of(kinds[0])


def tag_of(kind: str) -> str:
    """Give the tag of an Arrow type."""
    return next((tag for name, tag in TAGS if kind.startswith(name)), "other")


def open_engine(config: "Dict[str, Any]") -> Engine:
    """Open a session."""
    return Engine(config)
