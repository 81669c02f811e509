"""One source file as a relation with fixed column names, whatever its format.

The names: `ordinal id locale jurisdiction finish outcome why`; in the long form `field value`; else a column `v0 v1 …`
per field of the spec, and `payload`. `why` says of an outcome what its finish reason does not. A value is either a text
(the content of a string) or a token.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from auditor.load.census import Census
from auditor.load.files import SourceFile
from auditor.load.json_lines import all_keys
from auditor.load.layout import Layout
from auditor.load.tokens import text_token_sql

if TYPE_CHECKING:
    import duckdb

_CASE_COLUMNS = ("id", "locale", "jurisdiction", "field")


@dataclass(frozen=True)
class Value:
    """An SQL expression; `token` says whether it gives tokens or the content of strings."""

    sql: str
    token: bool = False

    def as_token(self) -> str:
        """Give the expression for the value as a token."""
        return self.sql if self.token else text_token_sql(self.sql)

    def as_json(self) -> str:
        """Give a shorter expression for the value as JSON text: a token but for the case of letters in escapes."""
        return self.sql if self.token else f"CAST(to_json({self.sql}) AS VARCHAR)"


@dataclass(frozen=True)
class CompletionKeys:
    """What completions held: how many could be read, fields that none of them holds, and keys of the first ones."""

    read: int
    unsent: frozenset[str]
    keys: tuple[str, ...]


@dataclass(frozen=True)
class Part:
    """A source file, opened: `relation` gives a text for FROM, which one query may read."""

    file: SourceFile
    layout: Layout
    count: int
    relation: Callable[[duckdb.DuckDBPyConnection], str]
    columns: dict[str, Value]
    carried: frozenset[str] | None = None
    release: Callable[[], None] = lambda: None
    ordinal: str = "ordinal"  # SQL of the 1-based number of a row
    header: tuple[str, ...] = ()  # of CSV and Parquet
    completions: CompletionKeys | None = None
    censuses: Mapping[str | None, Census] = field(default_factory=dict)  # of completions, by arm
    left_out: int = 0  # rows that are other attempts of a case
    other_arms: int = 0  # rows that are of other arms
    epochs: int = 1  # of each row of references: a row stands for so many cases
    epochs_of_log: int = 0  # of predictions: how often each sample was asked

    def all_names(self) -> Sequence[str]:
        """Give the columns of the file, or the keys of all its lines."""
        return self.header if self.file.format != "jsonl" else all_keys(self.file)


@dataclass(frozen=True)
class RoleTable:
    """All files of a role: the same form in each, their rows counted through."""

    parts: tuple[Part, ...]
    tokens: frozenset[str] = field(default_factory=frozenset)  # value columns that hold tokens

    @property
    def layout(self) -> Layout:
        """The layout of the first file; the others have the same form."""
        return self.parts[0].layout

    @property
    def count(self) -> int:
        """Rows in all files, those apart that are other attempts, or of other arms."""
        return sum(part.count - part.left_out - part.other_arms for part in self.parts)

    @property
    def names(self) -> frozenset[str]:
        """Columns that at least one part has."""
        return frozenset().union(*(part.columns for part in self.parts))

    def all_names(self) -> list[str]:
        """Give the columns of all files, or the keys of their lines."""
        return list(dict.fromkeys(key for part in self.parts for key in part.all_names()))

    def scan(self, connection: duckdb.DuckDBPyConnection, names: tuple[str, ...], *, numbered: bool = True) -> str:
        """Give a text for FROM with the columns `names`, and `ordinal` if `numbered`; one query may read it."""
        selects, offset = [], 0
        for part in self.parts:
            columns = [f"{self._expression(part, name)} AS {name}" for name in names]
            if numbered:
                columns.append(f"{part.ordinal} + {offset} AS ordinal" if offset else f"{part.ordinal} AS ordinal")
            selects.append(f"SELECT {', '.join(columns)} FROM {part.relation(connection)}")
            offset += part.count
        return "(" + " UNION ALL ".join(selects) + ")"

    def _expression(self, part: Part, name: str) -> str:
        value = part.columns.get(name)
        if value is None:
            return "'judged'" if name == "outcome" else "CAST(NULL AS VARCHAR)"
        return value.as_token() if name in self.tokens else value.sql

    def release(self) -> None:
        """Take what scans left in connections away."""
        for part in self.parts:
            part.release()

    def value(self, name: str, sql: str) -> Value:
        """Give the value that the column `name` holds, at the place `sql` of a query."""
        return Value(sql, name in self.tokens)

    def rows(self, ordinals: Sequence[int]) -> str:
        """Say where some rows are: each file once, with its rows."""
        places: dict[str, list[str]] = {}
        for ordinal in ordinals:
            name, _, number = self.row(ordinal).rpartition(", row ")
            places.setdefault(name, []).append(number)
        said = []
        for name, numbers in places.items():
            listed = " and ".join(filter(None, (", ".join(numbers[:-1]), numbers[-1])))
            after = " (after the header)" if name.lower().endswith((".csv", ".tsv")) else ""
            said.append(f"{name}, row{'s' if len(numbers) > 1 else ''} {listed}{after}")
        return "; ".join(said)

    def row(self, ordinal: int) -> str:
        """Say where a row is: file and row."""
        for part in self.parts:
            if ordinal <= part.count:
                return f"{part.file.name}, row {(ordinal - 1) // part.epochs + 1}"
            ordinal -= part.count
        return f"row {ordinal}"


def references_of(pairs: RoleTable) -> RoleTable:
    """Give the references of a long file that is both: its other column is the value."""
    parts = []
    for part in pairs.parts:
        columns = {name: part.columns[name] for name in _CASE_COLUMNS if name in part.columns}
        columns["value"] = part.columns["other"]
        parts.append(replace(part, layout=replace(part.layout, role="reference"), columns=columns))
    return role_table(parts)


def role_table(parts: list[Part]) -> RoleTable:
    """Join the parts of a role; a value column holds tokens as soon as one part's does."""
    tokens = {name for part in parts for name, value in part.columns.items() if value.token}
    return RoleTable(tuple(parts), frozenset(tokens))
