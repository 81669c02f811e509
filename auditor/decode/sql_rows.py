"""The plan for a warehouse model on whole rows: what of a payload goes into which column of its mocked source.

A table that some field comes from holds records. Its columns are filled from the payload; a key that nothing carries
holds the number of the row, as does one that carries the number through the model; all else is NULL. Any other table is
a lookup: where its key is set equal to a column of the records, each of them finds one row.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from auditor.decode.payload_rows import PayloadKeys, Role, column_paths, field_paths
from auditor.decode.sql_filters import dotted, only
from auditor.decode.sql_gatherings import Gathering
from auditor.decode.sql_lineage import Lineage
from auditor.decode.sql_outputs import LineageError, Name, Origin, Output
from auditor.decode.sql_syntax import Node
from auditor.model.payload_path import Steps
from auditor.spec.models import FieldSpec

_HINT = 'add scope = "field", which reads each column alone, or name a model without it'


def row_plan(
    query: Node,
    lineage: Lineage,
    located: Mapping[str, dict[str, Any]],
    fields: Mapping[str, FieldSpec],
    keys: PayloadKeys,
    reads_references: bool = True,
    dialect: str = "duckdb",
) -> dict[str, Any]:
    """Give the plan; LineageError where the records of a table meet, since each payload is read by itself."""
    rows = _Rows(lineage, located, fields, keys)
    rows.refuse_meetings()
    rows.refuse_numbers()
    lookups = dotted(rows.lookups)
    binding = [one for one in lineage.conditions if one.binds_rows(set(rows.carried), rows.equal, lookups)]
    probe: dict[str, Any] | None = only(query, lineage.conditions, binding, dialect)
    if probe is not None:
        probe["reads"] = sorted({table for condition in binding for table in condition.read})
    carrier = rows.carrier
    return {
        "columns": list(rows.carried.values()),
        "names": [column for _, column in rows.carried],
        "fields": {name: rows.place(rows.source_of(name)) for name in located},
        "sources": [rows.source(table) for table in lineage.tables],
        "number": carrier.name if carrier is not None else None,
        "apart": rows.apart(),
        "order": sorted(rows.place(origin) for origin in lineage.filters & set(rows.carried)),
        "probe": probe,
        "notes": rows.notes(reads_references),
    }


@dataclass(frozen=True)
class _Rows:
    """What is known of the records of a model."""

    lineage: Lineage
    located: Mapping[str, dict[str, Any]]
    fields: Mapping[str, FieldSpec]
    keys: PayloadKeys

    def source_of(self, name: str) -> Origin:
        """Give the source column of a field."""
        return list(self.lineage.tables)[self.located[name]["source"]], self.located[name]["column"]

    @cached_property
    def records(self) -> set[Name]:
        return {self.source_of(name)[0] for name in self.located}

    @cached_property
    def lookups(self) -> list[Name]:
        return [table for table in self.lineage.tables if table not in self.records]

    @cached_property
    def carried(self) -> dict[Origin, dict[Role, list[Steps]]]:
        """The columns of the records that payloads carry, with their paths; the fields' own are always among them."""
        found: dict[Origin, dict[Role, list[Steps]]] = {}
        for name in self.located:
            source, paths = self.source_of(name), field_paths(self.fields[name], self.keys)
            if found.setdefault(source, paths) != paths:
                seen = f"its column {_shown(source)} is read for several fields, which are at different places"
                raise LineageError(seen, _HINT)
        for table in self.lineage.tables:
            for column in sorted(self.lineage.tables[table]) if table in self.records else ():
                paths = column_paths(column, self.fields, self.keys)
                if (table, column) not in found and any(paths.values()):
                    found[table, column] = paths
        return found

    def place(self, origin: Origin) -> int:
        """Give the place of a carried column in a row."""
        return list(self.carried).index(origin)

    @cached_property
    def links(self) -> dict[Origin, Origin]:
        """The keys of lookups that are set equal to a carried column, each with the first of those."""
        found: dict[Origin, Origin] = {}
        for meeting in self.lineage.meetings:
            for _, _, origins in meeting.links:
                ends = sorted(origins)
                for key, carried in (ends, ends[::-1]) if len(ends) == 2 else ():
                    if key[0] not in self.records and carried in self.carried:
                        found.setdefault(key, carried)
        return found

    @cached_property
    def equal(self) -> set[frozenset[Origin]]:
        return {frozenset(pair) for pair in self.links.items()}

    @cached_property
    def outputs(self) -> dict[str, Output]:
        """The output column of each field."""
        named = {name: self.lineage.outputs.get(one["output"]) for name, one in self.located.items()}
        return {name: output for name, output in named.items() if output is not None}

    @cached_property
    def carrier(self) -> Output | None:
        """The output column that passes the number of a row on: no field is made of its source."""
        used = {origin for output in self.outputs.values() for origin in output.origins}
        found = [
            output
            for output in self.lineage.outputs.named.values()
            if output.bare is not None
            and output.bare[0] in self.records
            and output.bare not in used
            and output.bare not in self.carried
        ]
        found.sort(key=lambda output: (output.bare not in self.lineage.keys, not output.plain))
        return found[0] if found else None

    @cached_property
    def numbers(self) -> set[Origin]:
        """The columns that hold the number of the row."""
        keys = {origin for origin in self.lineage.keys if origin not in self.carried and origin not in self.links}
        bare = self.carrier.bare if self.carrier is not None else None
        return keys if bare is None else keys | {bare}

    def source(self, table: Name) -> dict[str, Any]:
        """Say how a table is filled."""
        filled = {column: self.place(origin) for origin in self.carried for of, column in [origin] if of == table}
        filled |= {key[1]: self.place(origin) for key, origin in self.links.items() if key[0] == table}
        numbers = sorted(column for of, column in self.numbers if of == table)
        return {"record": table in self.records, "columns": filled, "numbers": numbers}

    def refuse_meetings(self) -> None:
        """Refuse what lets the records of a table meet: production sees all of them, the audit each by itself."""
        unique = {origin for origin in self.numbers if origin[0] in self.records}
        shown = [one.shown() for one in self.lineage.gatherings if self._gathers(one, unique)]
        untied = any(meeting.untied(self.records, lambda ends: ends <= unique) for meeting in self.lineage.meetings)
        tables = ", ".join(sorted(".".join(table) for table in self.records))
        shown += [f"it reads {tables} more than once, without a key that ties one record to itself"] if untied else []
        if shown:
            seen = f"it lets the records of one table meet, and each prediction is read by itself: {shown[0]}"
            raise LineageError(seen, _HINT)

    def _gathers(self, one: Gathering, unique: Set[Origin]) -> bool:
        shown = {output.name.lower() for output in self.outputs.values()}
        matters = one.output is None or one.output in shown
        return matters and not one.inside and bool(one.tables & self.records) and not one.bare & unique

    def refuse_numbers(self) -> None:
        """Refuse a field that is made of a key which nothing carries: its value would be the number of the row."""
        for name, output in self.outputs.items():
            made = sorted(output.origins & self.numbers)
            if made:
                raise LineageError(f"field {name} is made of {_shown(made[0])}, a key that no payload carries", _HINT)

    def apart(self) -> str:
        """Say why rows must be run one by one; empty where many at once fare as each does alone."""
        tied = self.numbers | set(self.links) | set(self.links.values())
        tables = self.records | {table for table, _ in self.numbers | set(self.links)}
        if any(meeting.untied(tables, lambda ends: ends <= tied) for meeting in self.lineage.meetings):
            return "tables that meet without a key"
        if any(condition.counts(self.numbers, set(self.carried)) for condition in self.lineage.conditions):
            return "a filter on a key"
        aside = (one.clause for one in self.lineage.gatherings if one.tables and not one.tables & self.records)
        return next(aside, "")

    def notes(self, reads_references: bool) -> dict[str, list[str]]:
        """Name the columns that matter to some field and are not what production has in them."""
        matter = {origin for output in self.outputs.values() for origin in output.origins}
        matter |= self.lineage.filters | self.lineage.keys
        of_records = sorted(origin for origin in matter if origin[0] in self.records)
        unread = [one for one in of_records if one in self.carried and not self.carried[one]["reference"]]
        return {
            "null": [_shown(one) for one in of_records if one not in self.carried and one not in self.numbers],
            "number": [_shown(one) for one in of_records if one in self.numbers],
            "unasserted": [_shown(one) for one in unread if reads_references],
            "lookups": [".".join(table) for table in self.lookups],
        }


def _shown(origin: Origin) -> str:
    table, column = origin
    return f"{'.'.join(table)}.{column}"
