"""What was loaded, beside the table of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auditor.load.blocked import Incident, incidents
from auditor.load.identity import reference_value
from auditor.load.layout import Role
from auditor.load.parts import RoleTable
from auditor.model.blocked import Blocked
from auditor.model.run import CaseCounts
from auditor.sql import literal

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True)
class ArmCases:
    """The cases of one arm, each of which it is expected to answer; `name` is None where the spec names no arm."""

    name: str | None
    cases: CaseCounts
    blocked: tuple[Blocked, ...]  # why cases were not judged
    finish_reasons: dict[str, int]
    own_notes: tuple[str, ...]  # which finish reasons were met, and how payloads were read
    predictions: RoleTable = field(repr=False, compare=False)

    @property
    def notes(self) -> tuple[str, ...]:
        """Give what there is to say of its replies, with its name before it."""
        return self._named(self.own_notes)

    @property
    def blocked_notes(self) -> tuple[str, ...]:
        """Say why cases were not judged, with its name before it."""
        return self._named(tuple(one.text for one in self.blocked))

    def _named(self, texts: tuple[str, ...]) -> tuple[str, ...]:
        return texts if self.name is None else tuple(f"arm {self.name}: {text}" for text in texts)


@dataclass(frozen=True)
class Loaded:
    """Counts and identities of the cases in the table `pairs`; with arms, an arm's answer to a case counts as a case.

    `carried` are the keys that a prediction's payload can carry, None for completions (a payload of its own);
    `finish_reasons` counts the completions of expected cases by raw reason (no reason: ""); `rows_read` counts rows by
    role (`predictions`, `references`).
    """

    cases: CaseCounts
    arms: tuple[ArmCases, ...]
    finish_reasons: dict[str, int]
    sources: tuple[dict[str, Any], ...]  # path (relative to the spec's folder), role, sha256, rows
    manifest_rows_sha256: str
    carried: frozenset[str] | None
    rows_read: dict[str, int]
    predictions: RoleTable = field(repr=False, compare=False)
    references: RoleTable = field(repr=False, compare=False)
    gold_in_input: dict[str, int] = field(default_factory=dict)  # by field, cases whose input holds the reference
    traits_sha256: dict[str, str] = field(default_factory=dict)  # of what else the manifest binds, by its name there
    notes: tuple[str, ...] = ()  # which finish reasons were met, how payloads were read, and what cases are in

    def case_at(self, connection: duckdb.DuckDBPyConnection, rows: Sequence[int]) -> dict[int, str]:
        """Give the case id of each `first_row`; a negative one is a row of the references."""
        found = _ids_at(self.predictions, connection, [row for row in rows if row > 0])
        negative = _ids_at(self.references, connection, [-row for row in rows if row < 0])
        return found | {-row: case for row, case in negative.items()}

    def cases_of(
        self, connection: duckdb.DuckDBPyConnection, field: str, tokens: Sequence[str]
    ) -> list[tuple[str, str, str | None]]:
        """Give case id, token and payload of every case whose reference of `field` is one of `tokens`, in file order.

        The payload is None where it is not read: it was not asked for, or is made of several rows.
        """
        table = self.references
        long = table.layout.form == "long"
        name = "value" if long else f"v{list(table.layout.fields).index(field)}"
        rows = table.scan(connection, ("id", "field", name) if long else ("id", name, "payload"))
        of_field = "field = $field" if long else "$field IS NOT NULL"
        query = (
            f"SELECT id, token, payload FROM (SELECT ordinal, id, {table.value(name, name).as_token()} AS token, "
            f"{'NULL' if long else 'payload'} AS payload "
            f"FROM {rows} WHERE {of_field}) WHERE token IN (SELECT unnest($tokens::VARCHAR[])) ORDER BY ordinal"
        )
        try:
            return connection.execute(query, {"field": field, "tokens": list(tokens)}).fetchall()
        finally:
            table.release()

    def rows_of(self, connection: duckdb.DuckDBPyConnection, field: str, role: Role) -> list[str]:
        """Give the raw values of a field in file order, repeated ones too, as a load of the whole file meets them.

        Predictions are those of every case that was judged or has no reference; what holds no value is left out.
        """
        table = self.predictions if role == "prediction" else self.references
        long = table.layout.form == "long"
        name = "value" if long else f"v{list(table.layout.fields).index(field)}"
        value = table.value(name, name) if role == "prediction" else reference_value(table, name)
        rows = table.scan(connection, ("outcome", "field", name) if long else ("outcome", name))
        of_field = f"field = {literal(field)}" if long else "true"
        query = (
            f"SELECT {value.as_token()} FROM {rows} WHERE outcome = 'judged' AND {of_field} "
            f"AND {value.sql} IS NOT NULL ORDER BY ordinal"
        )
        try:
            return [token for (token,) in connection.execute(query).fetchall()]
        finally:
            table.release()

    def incidents(self, connection: duckdb.DuckDBPyConnection) -> list[Incident]:
        """Give every expected case that was not judged, with the reply as it was."""
        return [
            incident
            for arm in self.arms
            for incident in incidents(arm.predictions, self.references, connection, arm=arm.name)
        ]

    @property
    def blocked(self) -> tuple[Blocked, ...]:
        """Why cases were not judged, of one arm after the other."""
        return tuple(one for arm in self.arms for one in arm.blocked)

    @property
    def files(self) -> tuple[Path, ...]:
        """The source files, each once."""
        parts = (*self.predictions.parts, *self.references.parts)
        return tuple(dict.fromkeys(part.file.path for part in parts))


def _ids_at(table: RoleTable, connection: duckdb.DuckDBPyConnection, ordinals: Sequence[int]) -> dict[int, str]:
    if not ordinals:
        return {}
    rows = table.scan(connection, ("id",))
    query = f"SELECT ordinal, id FROM {rows} SEMI JOIN (SELECT unnest($1::BIGINT[]) AS ordinal) USING (ordinal)"
    try:
        return dict(connection.execute(query, [sorted(set(ordinals))]).fetchall())
    finally:
        table.release()
