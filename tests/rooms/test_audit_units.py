"""Distinct raw values are numbered by where they first appear, however many threads the database has."""

from __future__ import annotations

import duckdb
import pytest

from auditor.audit import transfer
from auditor.audit.transfer import CHUNK
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


def test_a_long_column_is_cut_as_answers_are() -> None:
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE units AS SELECT i AS unit, 'a' AS field, '\"' || i || '\"' AS token, NULL::VARCHAR AS payload, "
        f"true AS role_prediction, false AS role_reference FROM range({CHUNK + 5}) t(i)"
    )
    columns = field_units(connection, "a", CHUNK + 5, payloads=False).columns
    for name in ("unit", "token", "payload"):
        assert [len(columns[name].chunk(number)) for number in range(columns[name].chunk_count)] == [CHUNK, 5]
    assert columns["token"].chunk(1) == [f'"{number}"' for number in range(CHUNK, CHUNK + 5)]


@pytest.mark.parametrize("count", [0, 1, 7, 8, 20, 21, 100])
@pytest.mark.parametrize("most", [1, 3, 10, 1000])
def test_values_of_a_column_are_taken_evenly_over_all_of_its_chunks(
    monkeypatch: pytest.MonkeyPatch, count: int, most: int
) -> None:
    monkeypatch.setattr(transfer, "CHUNK", 7)
    cells = transfer.Cells(int)
    cells.extend(range(count))
    taken = cells.spread(most)
    assert len(taken) == len(set(taken)) <= most
    assert taken == list(range(0, count, max(1, -(-count // most))))
