"""Verdicts, columns and intervals."""

from __future__ import annotations

import duckdb
import pytest
from scipy.stats import binomtest

from auditor.score.columns import ColumnTraits, count_patterns, make_columns, string_equality, usable_everywhere
from auditor.score.intervals import wilson
from auditor.score.verdict_table import create_judged
from auditor.spec.models import AuditSpec, CasesSpec, ConsumerSpec, FieldSpec


@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (0, 240), (240, 240), (149, 240), (1, 10**6), (7, 8)])
def test_wilson_is_scipys(k: int, n: int) -> None:
    """The closed form against scipy's."""
    ours, theirs = wilson(k, n), binomtest(k, n).proportion_ci(method="wilson")
    assert ours is not None
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_wilson_of_nothing_is_none() -> None:
    """No trials, no interval."""
    assert wilson(0, 0) is None


def spec(reference: str) -> AuditSpec:
    return AuditSpec(
        name="t",
        file="audit.toml",
        folder=".",
        cases=CasesSpec(predictions=("p",), references=("r",)),
        fields={"d": FieldSpec(name="d", type="date", reference=reference)},
        consumers={name: ConsumerSpec(name=name, adapter="python", reads={"d": "m:f"}) for name in ("a", "b")},
    )


def judged(reference: str) -> duckdb.DuckDBPyConnection:
    """Two consumers: a reads everything that starts with 2, b only 2024-03-01; one row for every kind of verdict."""
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE outcomes (unit BIGINT, field VARCHAR, token VARCHAR, role_prediction BOOLEAN DEFAULT true, "
        "role_reference BOOLEAN DEFAULT true, shape VARCHAR, s0 VARCHAR, k0 VARCHAR, s1 VARCHAR, k1 VARCHAR, "
        "k_typed VARCHAR)"
    )
    rows = [  # token, status and key of a, of b, of typed
        ('"2024-03-01"', "v", "2024-03-01", "v", "2024-03-01", "2024-03-01"),
        ('"2 March"', "v", "2024-03-02", "r", None, None),
        ('"1 March 2024"', "v", "2024-03-01", "n", None, None),
        ('"N/A"', "r", None, "c", None, None),
    ]
    for unit, (token, sa, ka, sb, kb, kt) in enumerate(rows):
        connection.execute(
            "INSERT INTO outcomes (unit, field, token, shape, s0, k0, s1, k1, k_typed) "
            "VALUES (?, 'd', ?, 'x', ?, ?, ?, ?, ?)",
            [unit, token, sa, ka, sb, kb, kt],
        )
    connection.execute(
        "CREATE TABLE pairs (field VARCHAR, outcome VARCHAR, prediction VARCHAR, reference VARCHAR, payload VARCHAR, "
        "reference_payload VARCHAR, place VARCHAR, n BIGINT, first_row BIGINT)"
    )
    good = '"2024-03-01"'
    cases = [
        ("judged", good, good, 10),
        ("judged", '"2 March"', good, 5),
        ("judged", '"1 March 2024"', good, 4),
        ("judged", '"N/A"', good, 3),
        ("judged", None, good, 2),
        ("judged", "null", good, 1),
        ("missing", None, good, 6),
        ("truncated", None, good, 7),
        ("judged", good, None, 8),
        ("judged", None, None, 9),
        ("judged", good, '"N/A"', 11),
        ("judged", '"N/A"', '"N/A"', 12),
    ]
    for row, (outcome, prediction, truth, n) in enumerate(cases):
        connection.execute(
            "INSERT INTO pairs VALUES ('d', ?, ?, ?, NULL, NULL, NULL, ?, ?)", [outcome, prediction, truth, n, row]
        )
    create_judged(connection, spec(reference), {"d": ["a", "b"]}, {"a": 0, "b": 1}, payloads=False)
    return connection


def test_every_verdict_is_counted_once() -> None:
    """Counts by hand from the rows above; N/A against N/A is a broken reference, never a pass."""
    patterns = count_patterns(judged("a"), {"d": ("a", "b")})["d"]
    a, b = make_columns(patterns, {"a": ColumnTraits("native"), "b": ColumnTraits("native")}, withhold_rates=False)
    assert (a.support, a.judged, a.blocked, a.blocked_by) == (38, 25, 13, {"missing": 6, "truncated": 7})
    assert {k: v for k, v in a.verdicts.items() if v} == {"ok": 14, "wrong": 5, "rejected": 3, "absent": 3}
    assert {k: v for k, v in b.verdicts.items() if v} == {"ok": 10, "rejected": 5, "null": 4, "crashed": 3, "absent": 3}
    assert (a.unreferenced, a.unexpected, a.broken_references) == (17, 8, 23)
    assert (a.content_rate, a.usable_rate, a.coverage, a.ceiling) == (14 / 25, 14 / 38, 25 / 38, 19 / 25)
    assert (a.recoverable, b.recoverable, b.lost_to_shape) == (0, 4, 12)
    assert usable_everywhere(patterns, withhold_rates=False).count == 10
    assert (
        string_equality(patterns, withhold_rates=False).count,
        a.support + a.unreferenced + a.broken_references,
    ) == (10, 78)


def test_each_consumer_may_read_its_own_reference() -> None:
    """With `each` a null equals nothing, not even another null."""
    patterns = count_patterns(judged("each"), {"d": ("a", "b")})["d"]
    _, b = make_columns(patterns, {"a": ColumnTraits("native"), "b": ColumnTraits("native")}, withhold_rates=False)
    assert (b.verdicts["ok"], b.broken_references) == (10, 23)


def test_withheld_rates_are_none_and_counts_stay() -> None:
    """Broken references withhold every rate."""
    patterns = count_patterns(judged("typed"), {"d": ("a", "b")})["d"]
    a, _ = make_columns(patterns, {"a": ColumnTraits("native"), "b": ColumnTraits("native")}, withhold_rates=True)
    assert (a.content_rate, a.usable_rate, a.coverage, a.ceiling, a.interval) == (None, None, None, None, None)
    assert a.verdicts["ok"] == 14
