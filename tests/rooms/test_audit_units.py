"""Distinct raw values are numbered by where they first appear, however many threads the database has."""

from __future__ import annotations

import duckdb

from auditor.audit.units import create_units, field_units

ROWS = 300_000


def test_units_are_numbered_by_first_appearance() -> None:
    connection = duckdb.connect()
    connection.execute("SET threads = 4")
    connection.execute(
        "CREATE TABLE pairs AS SELECT ['a', 'b'][1 + i % 2] AS field, 'judged' AS outcome, "
        f"'\"' || (i * 7919 % {ROWS}) || '\"' AS prediction, '\"r' || (i % 1000) || '\"' AS reference, "
        "NULL::VARCHAR AS payload, NULL::VARCHAR AS reference_payload, NULL::VARCHAR AS place, 1::BIGINT AS n, "
        f"1 + i * 104729 % {ROWS} AS first_row FROM range({ROWS}) t(i)"
    )
    first: dict[tuple[str, str], int] = {}
    for field, prediction, reference, row in connection.execute(
        "SELECT field, prediction, reference, first_row FROM pairs"
    ).fetchall():
        for token in (prediction, reference):
            first[field, token] = min(row, first.get((field, token), row))
    expected = sorted(first, key=lambda key: (first[key], *key))
    create_units(connection, payloads=False)
    found = connection.execute("SELECT field, token FROM units ORDER BY unit").fetchall()
    assert found == expected
    of_a = [token for field, token in expected if field == "a"]
    units = field_units(connection, "a", len(of_a), payloads=False)
    assert units.columns["token"].values() == of_a
    assert units.columns["unit"].values() == [number for number, key in enumerate(expected) if key[0] == "a"]
