"""From digests of the cases and the cases of today, one that differs can be named: exactly, where all are listed."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from auditor.load import case_digests
from auditor.load.case_digests import Difference, differences, digest_cases
from auditor.model.lock import CaseDigests
from tests.rooms.load_workspace import Workspace

Rows = list[dict[str, Any]]
FIELDS = {"day": "date", "total": "integer"}


def rows_of(count: int) -> Rows:
    chance = random.Random(7)
    ids = [str(uuid.UUID(int=chance.getrandbits(128))) for _ in range(count - 2)] + ["é", "C-1"]
    return [{"case_id": case, "day": f"2024-{n % 12 + 1:02}-01", "total": n % 9} for n, case in enumerate(ids)]


def loaded(folder: Path, rows: Sequence[dict[str, Any]], **cases: Any) -> Workspace:
    workspace = Workspace(folder)
    predictions = [{key: row[key] for key in ("case_id", "day", "total")} for row in rows]
    names = workspace.json_lines("p.jsonl", predictions), workspace.json_lines("r.jsonl", rows)
    workspace.load(*names, FIELDS, **cases)
    return workspace


def frozen(folder: Path, rows: Sequence[dict[str, Any]], **cases: Any) -> CaseDigests:
    workspace = loaded(folder, rows, **cases)
    return digest_cases(workspace.spec("p.jsonl", "r.jsonl", FIELDS, **cases), workspace.loaded, workspace.connection)


def found(folder: Path, digests: CaseDigests, rows: Sequence[dict[str, Any]], **cases: Any) -> list[Difference]:
    workspace = loaded(folder, rows, **cases)
    spec = workspace.spec("p.jsonl", "r.jsonl", FIELDS, **cases)
    return differences(spec, workspace.loaded, workspace.connection, digests)


def test_each_difference_of_a_few_cases_is_named(tmp_path: Path) -> None:
    rows = rows_of(40)
    digests = frozen(tmp_path, rows)
    assert (digests.count, len(digests.listed), digests.buckets) == (40, 40, ())
    assert found(tmp_path, digests, list(reversed(rows))) == [], "their order does not count"
    changed = [*rows[1:], {"case_id": "new", "day": "2024-01-01", "total": 1}]
    changed[3] = changed[3] | {"total": str(changed[3]["total"])}
    changed[5] = changed[5] | {"day": None}
    assert set(found(tmp_path, digests, changed)) == {
        Difference("new", "added"),
        Difference(rows[0]["case_id"], "removed"),
        Difference(changed[3]["case_id"], "total"),
        Difference(changed[5]["case_id"], "day"),
    }


def test_no_reference_stands_in_a_digest_and_equal_ones_do_not_show(tmp_path: Path) -> None:
    digests = frozen(tmp_path, [{"case_id": name, "day": "2024-03-01", "total": 7} for name in ("a", "b")])
    assert digests.listed["a"][0] != digests.listed["b"][0]
    assert all(len(one) == 8 for one in digests.listed["a"])


def test_a_prompt_is_a_column_where_the_cases_give_one(tmp_path: Path) -> None:
    rows = [{"case_id": f"c{n}", "day": "2024-03-01", "total": n, "text": f"contract {n}"} for n in range(3)]
    digests = frozen(tmp_path, rows, input="text")
    assert digests.columns == ("day", "total", "prompt")
    rows[1]["text"] += "!"
    assert found(tmp_path, digests, rows, input="text") == [Difference("c1", "prompt")]


def change(rows: Rows, count: int) -> tuple[Rows, set[Difference]]:
    chosen = random.Random(count).sample(range(len(rows)), count)
    changed = [row | {"day": "1999-09-09"} if n in chosen else row for n, row in enumerate(rows)]
    return changed, {Difference(rows[n]["case_id"], "day") for n in chosen}


def remove(rows: Rows, count: int) -> tuple[Rows, set[Difference]]:
    return rows[:-count], {Difference(row["case_id"], "removed") for row in rows[-count:]}


def add(rows: Rows, count: int) -> tuple[Rows, set[Difference]]:
    new = [{"case_id": f"new {n}", "day": None, "total": 1} for n in range(count)]
    return [*rows, *new], {Difference(row["case_id"], "added") for row in new}


@pytest.mark.parametrize("make", [change, remove, add])
@pytest.mark.parametrize("count", [1, 2])
def test_one_of_many_cases_is_named_from_sums(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[Rows, int], tuple[Rows, set[Difference]]],
    count: int,
) -> None:
    monkeypatch.setattr(case_digests, "LISTED", 100)
    monkeypatch.setattr(case_digests, "SAMPLED", 5)
    rows = rows_of(3_000)
    digests = frozen(tmp_path, rows)
    assert (len(digests.listed), len(digests.buckets)) == (5, 1024)
    assert found(tmp_path, digests, rows) == []
    changed, expected = make(rows, count)
    assert set(found(tmp_path, digests, changed)) == expected


@pytest.mark.parametrize("count", [300, 2_500])
def test_of_many_differences_some_are_named_and_none_that_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr(case_digests, "LISTED", 100)
    monkeypatch.setattr(case_digests, "SAMPLED", 50)
    rows = rows_of(3_000)
    digests = frozen(tmp_path, rows)
    changed, expected = change(rows, count)
    named = found(tmp_path, digests, changed)
    assert named
    assert set(named) <= expected
