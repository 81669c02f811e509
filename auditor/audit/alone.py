"""Asks for each string by itself where its whole payload was not accepted: which strings are at fault, which are not.

A payload that one field spoils is lost to all of its fields: their verdict says so, because production loses them too.
What a report says of the shapes of a field must rest on the field's own strings. So a string that its consumer takes
by itself is no shape that the consumer refuses, whatever the rest of the payload was. Adapters need no part in it: a
payload that is rejected, dropped or deadly is asked for again, one string at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from duckdb import DuckDBPyConnection

from auditor.audit.transfer import CHUNK, Cells, shown
from auditor.decode.session import Session
from auditor.judge.answers import answers
from auditor.model.decoding import PAYLOAD_REJECTED, WHOLE_MODEL
from auditor.spec.models import AuditSpec, FieldSpec

#: What the pydantic adapter says of a string that has no meaning outside its payload.
_NOT_ALONE = "a nested field can only be read in its payload"

#: What the error says was at fault instead, empty where it does not say. Without the rest of its payload a string may
#: be refused for what is missing then, so a named sibling counts more than that.
_SIBLING = f"regexp_extract(coalesce(f.error, ''), '{PAYLOAD_REJECTED}', 2)"

_NOT_ACCEPTED = "('r', 'd', 'c', 't')"
_DEADLY = "('c', 't')"


def ask_alone(
    connection: DuckDBPyConnection,
    spec: AuditSpec,
    sessions: Mapping[str, Session],
    readers: Mapping[str, Sequence[str]],
    index: Mapping[str, int],
) -> None:
    """Create ``alone`` and the relation ``own_outcomes``.

    ``alone(unit, consumer, status, value, key)`` has a row per raw value that is not at fault for what became of its
    payload, with what the consumer makes of it by itself; the status is NULL where that cannot be known.
    ``own_outcomes`` is ``outcomes`` with those in place of what became of the payload.
    """
    connection.execute(
        "CREATE OR REPLACE TABLE alone (unit BIGINT, consumer INTEGER, status VARCHAR, value VARCHAR, key VARCHAR)"
    )
    for consumer, session in sessions.items():
        fields = [spec.fields[name] for name, consumers in readers.items() if consumer in consumers]
        in_payloads = [field for field in fields if session.readiness.scope_of(field.name) == "payload"]
        for field in in_payloads:
            _ask(connection, session, field, index[consumer])
        if in_payloads:
            _keep_unexplained_deaths(connection, index[consumer])
    _create_own_outcomes(connection)


def _ask(connection: DuckDBPyConnection, session: Session, field: FieldSpec, number: int) -> None:
    lost = f"field = $field AND payload IS NOT NULL AND s{number} IN {_NOT_ACCEPTED}"
    found = connection.execute(
        f"SELECT token FROM outcomes WHERE {lost} GROUP BY token ORDER BY min(unit)", {"field": field.name}
    )
    tokens = [token for (token,) in found.fetchall()]
    for start in range(0, len(tokens), CHUNK):
        asked = tokens[start : start + CHUNK]
        with shown(connection, "asked_alone", _answers(session, field, asked)):
            connection.execute(
                f"INSERT INTO alone SELECT unit, {number}, CASE WHEN status = 'v' THEN 'v' END, value, key FROM ("
                f" SELECT o.unit, a.status, a.value, a.key, {_SIBLING} AS sibling FROM asked_alone a"
                f" JOIN (SELECT unit, token FROM outcomes WHERE {lost}) o USING (token)"
                f" LEFT JOIN faults f ON f.unit = o.unit AND f.consumer = {number})"
                f" WHERE status = 'v' OR sibling <> '' AND (status IS NULL OR sibling <> '{WHOLE_MODEL}')",
                {"field": field.name},
            )


def _answers(session: Session, field: FieldSpec, tokens: Sequence[str]) -> dict[str, Cells]:
    """Give what the consumer makes of each string: a value with its key, no value (`r`), or NULL where nobody knows."""
    decodings = session.decode(field.name, tokens)
    unknown = {row for row, fault in decodings.faults.items() if fault.error.endswith(_NOT_ALONE)}
    found = answers(field, decodings)
    status = [None if row in unknown else "v" if one.letter == "v" else "r" for row, one in enumerate(found)]
    return {
        "token": Cells(str, tokens),
        "status": Cells(str, status),
        "value": Cells(str, [one.text for one in found]),
        "key": Cells(str, [one.key for one in found]),
    }


def _keep_unexplained_deaths(connection: DuckDBPyConnection, number: int) -> None:
    """Where no string of a deadly payload is deadly by itself, each of them stays the one that may be."""
    dead = f"SELECT unit, payload FROM outcomes WHERE payload IS NOT NULL AND s{number} IN {_DEADLY}"
    excused = f"SELECT unit FROM alone WHERE consumer = {number}"
    connection.execute(
        f"DELETE FROM alone WHERE consumer = {number} AND unit IN (SELECT unit FROM ({dead}) WHERE payload NOT IN"
        f" (SELECT payload FROM ({dead}) WHERE unit NOT IN ({excused})))"
    )


def _create_own_outcomes(connection: DuckDBPyConnection) -> None:
    numbers = [number for (number,) in connection.execute("SELECT DISTINCT consumer FROM alone ORDER BY 1").fetchall()]
    columns = ", ".join(
        f"CASE WHEN a{i}.unit IS NULL THEN o.{letter}{i} ELSE a{i}.{name} END AS {letter}{i}"
        for i in numbers
        for letter, name in (("s", "status"), ("v", "value"), ("k", "key"))
    )
    joins = " ".join(
        f"LEFT JOIN (SELECT * FROM alone WHERE consumer = {i}) a{i} ON a{i}.unit = o.unit" for i in numbers
    )
    replaced = f" REPLACE ({columns})" if numbers else ""
    # A view of a join would be joined anew for every question; the plain one costs nothing.
    kind = "TABLE" if numbers else "VIEW"
    connection.execute(f"CREATE OR REPLACE {kind} own_outcomes AS SELECT o.*{replaced} FROM outcomes o {joins}")
