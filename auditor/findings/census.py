"""Groups strings that fared alike, so that every later question is about a few groups and not about a million strings.

A group holds the strings of one field that have one shape, one status per consumer, and the same differences. The
tables, dropped at the end:

- `f_strings(unit, grp, given, text)`: the group of each row of `outcomes`; `given` if it is a prediction; `text` tells
  strings apart where rows do not.
- `f_groups(grp, field, shape, form, statuses, standing, sound, differences, drifts, strings, predicted)`: `form` is the
  JSON type, with whole numbers apart, of fields that a json or python consumer reads, else empty; `statuses` has a
  letter per consumer by its number, `.` where it does not read the field, `standing` the same, with `.` for each
  version of a consumer but the first, and `sound` the same, with `*` for each value that is one by accident;
  `differences` and `drifts` are those of `differences.py`; `predicted` of the `strings` are predictions.
- `f_cells(cell, field, p_grp, r_grp, pattern, arm, n)`: cases by groups of prediction and reference, verdicts and arm.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from auditor.findings import sql
from auditor.findings.context import Context
from auditor.findings.differences import write_differences
from auditor.findings.draft import Role
from auditor.findings.sentinel_readings import Sentinel, accidental_readings, sentinels_of
from auditor.findings.versions import standing
from auditor.model.verdicts import OUTSIDE_SUPPORT

#: The verdict patterns of cases in support: some reader has a verdict other than the three outside support.
SUPPORTED = f"regexp_matches(pattern, '[^{OUTSIDE_SUPPORT}]')"

#: Somebody takes a value from these strings.
READ = "contains(statuses, 'v')"

#: Somebody takes a value from these strings, and not by accident.
READ_SOUNDLY = "contains(sound, 'v')"

#: Somebody takes a value from these strings, and of those that were asked another refuses it or takes another value.
READ_OTHERWISE = "(contains(standing, 'v') AND (differences <> '' OR regexp_matches(standing, '[nrdct]')))"

#: The same, of all versions of all consumers.
READ_OTHERWISE_BY_ANY = f"({READ} AND (differences <> '' OR drifts <> '' OR regexp_matches(statuses, '[nrdct]')))"

#: Of these strings some consumer has no record, so that nobody knows what all of them make of it.
NOT_ALL_KNOWN = "contains(statuses, 'N')"

_FORM = """CASE substr(token, 1, 1) WHEN '"' THEN 'string' WHEN 't' THEN 'boolean' WHEN 'f' THEN 'boolean'
    WHEN '{' THEN 'object' WHEN '[' THEN 'array'
    ELSE CASE WHEN token = 'null' THEN 'null' WHEN regexp_full_match(token, '-?[0-9]+') THEN 'whole number'
        ELSE 'number' END END"""

_TABLES = (
    "f_differences",
    "f_read",
    "f_strings",
    "f_shortest",
    "f_groups",
    "f_cells",
    "f_wanted",
    "f_matches",
    "f_picked",
    "f_dates",
)


@dataclass(frozen=True)
class Census:
    """A context whose strings are grouped.

    `accidental` gives, by consumer, the SQL condition on ``own_outcomes`` of values that say nothing of their string.
    """

    context: Context
    has_repeats: bool  # a string may have several rows: one per payload that it came in, or one per role
    sentinels: Sequence[Sentinel]
    accidental: Mapping[str, str]

    def query(self, statement: str) -> list[tuple[Any, ...]]:
        """Run a statement and give all its rows."""
        return self.context.connection.execute(statement).fetchall()

    def readers(self, field: str) -> tuple[str, ...]:
        """Give the consumers that read a field, in the order of the letters of a verdict pattern."""
        return self.context.readers[field]

    def role_of(self, field: str, consumers: Iterable[str]) -> Role:
        """Say where the strings of a finding count: a text reference never reaches a consumer that is due another type.

        References in CSV are text whatever the field's type, so that a strict JSON consumer refuses each of them.
        """
        spec = self.context.spec
        has_text = spec.fields[field].type in ("date", "datetime", "category", "identifier")
        is_json = any(spec.consumers[name].receives != "text" for name in consumers)
        return "prediction" if is_json and not has_text else "either"

    def sound_pattern(self, field: str, pattern: str, sound: str) -> str:
        """Write `*` in a verdict pattern for each reader whose value of the prediction is one by accident."""
        if not self.accidental:
            return pattern
        numbers = (self.context.index[reader] for reader in self.readers(field))
        pairs = zip(pattern, numbers, strict=True)
        return "".join("*" if letter in "ow" and sound[number] == "*" else letter for letter, number in pairs)

    def numbered(self, numbers: Iterable[int]) -> tuple[str, ...]:
        """Give the consumers of some numbers."""
        names = {number: name for name, number in self.context.index.items()}
        return tuple(names[number] for number in numbers)


@contextmanager
def census_of(context: Context) -> Iterator[Census]:
    """Group the strings of a context for as long as its findings are built."""
    try:
        found = context.connection.execute("SELECT 1 FROM own_outcomes WHERE payload IS NOT NULL LIMIT 1").fetchall()
        by_role = any(consumer.batch for consumer in context.spec.consumers.values())
        sentinels = sentinels_of(context)
        census = Census(context, bool(found) or by_role, sentinels, accidental_readings(context, sentinels))
        _group_strings(census)
        _group_cases(context)
        yield census
    finally:
        for table in _TABLES:
            context.connection.execute(f"DROP TABLE IF EXISTS temp.{table}")


def status_of(number: int) -> str:
    """Write the SQL expression for the status letter of the consumer of a number."""
    return f"substr(statuses, {number + 1}, 1)"


def verdict_of(position: int) -> str:
    """Write the SQL expression for the verdict letter of the reader at a position."""
    return f"substr(pattern, {position + 1}, 1)"


def _group_strings(census: Census) -> None:
    context, connection = census.context, census.context.connection
    difference, drift, join = "''", "''", ""
    if write_differences(context):
        difference, drift = "coalesce(differences, '')", "coalesce(drifts, '')"
        join = "LEFT JOIN f_differences USING (unit)"
    form = _form(context)
    statuses = ", ".join(f"s{number}" for number in sorted(context.index.values()))
    sound = _sound(census)
    text, each = ("hash(token)", "DISTINCT text") if census.has_repeats else ("NULL", "*")
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE f_strings AS"
        f" SELECT unit, hash(field, shape, {form}, {statuses}, {sound if census.accidental else 'NULL'}, {difference},"
        f" {drift}) AS grp, role_prediction AS given, {text} AS text FROM own_outcomes {join}"
    )
    letters = _letters(context, range(max(context.index.values()) + 1))
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE f_groups AS"
        f" SELECT grp, field, coalesce(shape, '') AS shape, {form} AS form, {letters} AS statuses,"
        f" {_letters(context, standing(context))} AS standing, {sound} AS sound, {difference} AS differences,"
        f" {drift} AS drifts, strings, predicted"
        f" FROM (SELECT grp, min(unit) AS unit, count({each}) AS strings, count({each}) FILTER (given) AS predicted"
        " FROM f_strings GROUP BY grp)"
        f" JOIN own_outcomes USING (unit) {join}"
    )


def _letters(context: Context, shown: Container[int]) -> str:
    """Write the SQL for a letter per number: those of `shown`, and `.` for the others."""
    numbers = range(max(context.index.values()) + 1)
    return " || ".join(f"coalesce(s{number}, '.')" if number in shown else "'.'" for number in numbers)


def _sound(census: Census) -> str:
    """Write the SQL for the letters of all consumers, with `*` for values that are such by accident."""
    index = census.context.index
    names = {number: name for name, number in index.items() if name in census.accidental}

    def letter(number: int) -> str:
        if number not in index.values():
            return "'.'"
        own = f"coalesce(s{number}, '.')"
        if number not in names:
            return own
        return f"CASE WHEN s{number} = 'v' AND ({census.accidental[names[number]]}) THEN '*' ELSE {own} END"

    return " || ".join(letter(number) for number in range(max(index.values()) + 1))


def _form(context: Context) -> str:
    consumers = context.spec.consumers
    typed = [
        field
        for field, readers in context.readers.items()
        if any(consumers[name].receives != "text" for name in readers)
    ]
    return f"CASE WHEN field IN {sql.texts(typed)} THEN {_FORM} ELSE '' END" if typed else "''"


def _group_cases(context: Context) -> None:
    arm = "j.arm" if context.spec.cases.arm else "NULL::VARCHAR AS arm"
    context.connection.execute(
        "CREATE OR REPLACE TEMP TABLE f_cells AS SELECT row_number() OVER () AS cell, * FROM ("
        " SELECT j.field, p.grp AS p_grp, r.grp AS r_grp, j.pattern, "
        f"{arm}, sum(j.n)::BIGINT AS n FROM judged j"
        " LEFT JOIN f_strings p ON p.unit = j.p_unit LEFT JOIN f_strings r ON r.unit = j.r_unit GROUP BY ALL)"
    )
