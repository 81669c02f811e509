"""The SQLAlchemy adapter over connections of its own: SQLite's and a PostgreSQL that runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from auditor.worker.trouble import Ended, StartError
from tests.engines.adapters import adapter_of, decode, need
from tests.sessions import open_consumer, quoted, shown


def test_values_are_bound_and_each_has_its_own_fate() -> None:
    need("sqlalchemy")
    reads = {"d": "date({value})", "j": "json_extract({value}, '$.a:b') -- 100 %", "n": "cast({value} as real)"}
    kinds = {"d": "date", "j": "identifier", "n": "decimal"}
    adapter = adapter_of("sqlalchemy", reads, kinds, connection="sqlite://")
    values = ["2024-03-01", "N/A", "'); DROP TABLE x; --", ":v0", "%s", "é"]
    assert [found[:2] for found in decode(adapter, "d", values)] == [
        ("value", "date:2024-03-01"),
        *[("null", "NULL")] * 5,
    ]
    many = ['{"a:b": 7}' if number % 3 else "no json" for number in range(250)]
    assert [found[:2] for found in decode(adapter, "j", many)] == [
        ("value", "text:7") if number % 3 else ("rejected", "malformed JSON") for number in range(250)
    ]
    assert [found[1] for found in decode(adapter, "n", ["1.5", "1e3", "x"])] == [
        "decimal:1.5",
        "decimal:1000.0",
        "decimal:0.0",
    ]
    assert adapter.ready()["settings"]["engine"].startswith("sqlite 3.")


def test_a_warehouse_is_asked_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need("sqlalchemy")
    need("postgres")
    private = adapter_of("postgres", {"f": "{value}::date"})
    socket = os.path.join(private.engine.server.folder, "socket")
    url = f"postgresql+psycopg://auditor:hunter2@/postgres?host={socket}"
    monkeypatch.setenv("WAREHOUSE_URL", url)
    consumer: dict[str, Any] = {"adapter": "sql", "engine": "sqlalchemy", "connection": "env:WAREHOUSE_URL"}
    with open_consumer(
        tmp_path, {"f": "{value}::date"}, types={"f": "date"}, settings={"DateStyle": "ISO, DMY"}, **consumer
    ) as session:
        found = shown(session.decode("f", quoted(["01/03/2024", "2024-02-30", "2024-03-01"])))
        assert found[::2] == ["date:2024-03-01", "date:2024-03-01"]
        assert found[1].startswith("rejected: ") and "out of range" in found[1]
        assert {"clock", "zone", "locale"} <= set(session.readiness.not_fixed)
        assert "hunter2" not in repr(session.readiness)
    adapter = adapter_of("sqlalchemy", {"f": "{value}::date"}, connection=url)
    private.close()
    with pytest.raises(Ended, match="lost"):
        adapter.decode_batch("f", ["2024-03-01"])


@pytest.mark.parametrize(
    ("url", "seen"),
    [
        ("postgresql+psycopg://auditor:hunter2@127.0.0.1:1/wh", "refused"),
        ("nosuch://auditor:hunter2@127.0.0.1/wh", "nosuch"),
        ("hunter2", "parse"),
    ],
)
def test_a_warehouse_that_does_not_answer_is_named_without_its_password(url: str, seen: str) -> None:
    need("sqlalchemy")
    need("postgres")
    with pytest.raises(StartError) as caught:
        adapter_of("sqlalchemy", {"f": "{value}"}, connection=url)
    assert seen in caught.value.seen and "hunter2" not in caught.value.seen + caught.value.tried


@pytest.mark.parametrize("target", ["cast({value} as", "nosuch({value})", "max({value})"])
def test_what_is_no_expression_of_one_value_is_refused_at_the_start(target: str) -> None:
    need("sqlalchemy")
    with pytest.raises(StartError):
        adapter_of("sqlalchemy", {"f": target}, connection="sqlite://")
