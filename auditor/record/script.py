"""The whole script for one consumer: strings in, one result out, with what it was recorded from."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from auditor.decode.records import contract_of
from auditor.errors import AuditorError
from auditor.record.attempts import ATTEMPTS, COLUMNS, ENDS, Attempt
from auditor.record.dialects import DIALECTS, Dialect
from auditor.record.literals import literal, why_not
from auditor.spec.models import ConsumerSpec

#: Strings of one statement: SQLite joins 500 selects at most, and some clients have short memories.
TOGETHER = 100

#: Products whose failed strings leave no row.
_LEAVE_NONE = ("duckdb", "sqlite", "clickhouse")

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
_BARE = re.compile(r"[A-Za-z0-9_.,:+/ -]+")


@dataclass(frozen=True)
class Script:
    """Statements in their order, the last of which gives the result (of Trino each does).

    `strings` counts those that are asked; `left_out` are those that cannot be, each with why.
    """

    engine: str
    statements: tuple[str, ...]
    strings: int
    head: tuple[str, ...]
    left_out: tuple[str, ...] = field(default=())

    @property
    def text(self) -> str:
        """Write the script as its product's own client runs it."""
        end = DIALECTS[self.engine].end
        comments = "".join(f"-- {line}\n" for line in self.head)
        return comments + "\n" + "".join(_ended(self.engine, one, end) for one in self.statements)


def _ended(engine: str, statement: str, end: str) -> str:
    if engine in ("mysql", "mariadb") and statement.startswith("CREATE PROCEDURE"):
        return f"DELIMITER //\n{statement} //\nDELIMITER ;\n"
    return statement + end


def make_script(consumer: ConsumerSpec, strings: Mapping[str, Sequence[str]]) -> Script:
    """Write the script that asks a consumer's warehouse for strings by field; AuditorError says why there is none."""
    engine = _engine_of(consumer)
    dialect = DIALECTS[engine]
    for name in strings:
        _see_expression(consumer, name, engine)
    refused = [(name, text, why) for name, some in strings.items() for text in some if (why := why_not(engine, text))]
    asked = {name: [text for text in some if not why_not(engine, text)] for name, some in strings.items()}
    count = sum(map(len, asked.values()))
    left_out = tuple(f"{name}: {json.dumps(text)[:80]}: {why}" for name, text, why in refused)
    statements = _queries(consumer, engine, asked) if engine == "trino" else _tables(consumer, engine, asked)
    settings = tuple(_setting(dialect, engine, *item) for item in consumer.settings.items())
    head = _head(consumer, engine, dialect, count, left_out)
    return Script(engine, (*settings, *statements), count, head, left_out)


def _engine_of(consumer: ConsumerSpec) -> str:
    if consumer.adapter not in ("sql", "recorded") or consumer.engine not in DIALECTS:
        what = f"on {consumer.engine}" if consumer.adapter == "sql" else f"a {consumer.adapter} consumer"
        raise AuditorError(
            f"consumer {consumer.name}: there is no SQL that records it: it is {what}\n"
            f"  next:  name one whose engine is one of {', '.join(sorted(DIALECTS))}"
        )
    if consumer.model is not None or consumer.statement != "cast":
        what = "a model file" if consumer.model is not None else f'statement = "{consumer.statement}"'
        raise AuditorError(
            f"consumer {consumer.name}: only expressions of one value can be recorded, not {what}\n"
            '  next:  name an expression for each field, such as reads.total = "try_cast({value} as decimal(18, 2))"'
        )
    return consumer.engine


def _see_expression(consumer: ConsumerSpec, name: str, engine: str) -> None:
    end = ENDS.get(engine)
    if end and end in consumer.reads[name]:
        raise AuditorError(
            f"consumer {consumer.name}: reads.{name} holds {end}, which would end the body that it stands in\n"
            f"  next:  write the text in it with another quote than {end}"
        )


def _setting(dialect: Dialect, engine: str, name: str, value: str) -> str:
    is_bare = "{bare}" in dialect.setting
    if not _NAME.fullmatch(name) or (is_bare and not _BARE.fullmatch(value)):
        raise AuditorError(f"settings.{name} = {value!r} cannot be written for {engine}: correct `settings`")
    return dialect.setting.format(name=name, bare=value, value=_quoted(value))


def _quoted(value: str) -> str:
    if "\\" in value or "\0" in value:
        raise AuditorError(f"a setting is {value!r}: a backslash in it means something else to each client")
    return "'" + value.replace("'", "''") + "'"


def _about(consumer: ConsumerSpec, engine: str, fields: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Give what the result says of itself, each an expression."""
    dialect = DIALECTS[engine]
    yield "engine", literal(engine, engine)
    yield "version", dialect.version
    yield "recorded_at", dialect.now
    for name, expression in dialect.told:
        yield f"setting.{name}", expression
    for name, value in sorted(consumer.settings.items()):
        yield f"setting.set.{name}", literal(engine, value)
    for name in fields:
        yield f"contract.{name}", literal(engine, contract_of(consumer, name))


def _tables(consumer: ConsumerSpec, engine: str, asked: Mapping[str, Sequence[str]]) -> Iterator[str]:
    dialect = DIALECTS[engine]
    values, results = dialect.name.format("auditor_values"), dialect.name.format("auditor_results")
    columns = f"n {dialect.number}, field {dialect.string}, raw_json {dialect.string}, string {dialect.string}"
    yield dialect.table.format(name=values, columns=columns)
    columns = ", ".join(f"{name} {dialect.string}" for name in COLUMNS.split(", "))
    yield dialect.table.format(name=results, columns=columns)
    for name, expression in _about(consumer, engine, asked):
        label = literal(engine, name)
        yield f"INSERT INTO {results} ({COLUMNS}) SELECT '', {label}, 'about', {expression}, '', '', ''"
    first = 1
    for number, (name, strings) in enumerate(asked.items(), 1):
        rows = [f"SELECT {first + at}, {_row(engine, name, text)}" for at, text in enumerate(strings)]
        for start in range(0, len(rows), TOGETHER):
            joined = "\nUNION ALL ".join(rows[start : start + TOGETHER])
            yield f"INSERT INTO {values} (n, field, raw_json, string)\n{joined}"
        if rows:
            attempt = Attempt(dialect, number, consumer.reads[name], first, first + len(rows) - 1)
            yield from ATTEMPTS[engine](attempt)
        first += len(rows)
    lacking = ""
    if engine in _LEAVE_NONE:
        seen = dialect.seen.replace("{x}", "string")
        lacking = f"\nUNION ALL SELECT field, raw_json, 'rejected', '', '', '', {seen} FROM {values}"
        lacking += f" WHERE (field, raw_json) NOT IN (SELECT field, raw_json FROM {results})"
    yield f"SELECT {COLUMNS} FROM {results}{lacking}"


def _row(engine: str, name: str, text: str) -> str:
    """Write field, raw value as ASCII JSON, which every export bears, and the string itself."""
    return f"{literal(engine, name)}, {literal(engine, json.dumps(text))}, {literal(engine, text)}"


def _queries(consumer: ConsumerSpec, engine: str, asked: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Give queries that need no table: each gives rows of the result."""
    rows = [
        f"('', {literal(engine, name)}, 'about', {what}, '', '', '')" for name, what in _about(consumer, engine, asked)
    ]
    yield f"SELECT * FROM (VALUES {', '.join(rows)}) AS about({COLUMNS})"
    for number, (name, strings) in enumerate(asked.items(), 1):
        for start in range(0, len(strings), TOGETHER):
            part = strings[start : start + TOGETHER]
            listed = ",\n".join(f"({_row(engine, name, text)})" for text in part)
            given = f"(VALUES {listed}) AS given(field, raw_json, string)"
            yield from ATTEMPTS[engine](Attempt(DIALECTS[engine], number, consumer.reads[name], 1, len(part), given))


def _head(
    consumer: ConsumerSpec, engine: str, dialect: Dialect, count: int, left_out: Sequence[str]
) -> tuple[str, ...]:
    to = consumer.results or f"recorded/{consumer.name}.csv"
    return (
        f"What {consumer.name} ({engine}) makes of {count:,} strings, written by `auditor record {consumer.name}`.",
        f"Run all of it in one session of that warehouse, and save the result, with its header, as {to} (CSV or JSON",
        'lines); then the consumer answers from it: adapter = "recorded".',
        *dialect.limits,
        *(f"Not asked: {one}" for one in left_out),
    )
