"""The parts of the service that need no socket: histories, drawings, tokens, names of hosts."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from auditor.errors import StoreError
from auditor.model.run import ShapeRow
from auditor.service.access import host_name
from auditor.service.charts import script_json, shape_data, trend_data
from auditor.service.comparison import own_shapes
from auditor.service.history import incident, seen, trends, versions
from auditor.service.runs import Entry, Runs
from auditor.service.sparkline import sparkline
from auditor.service.tokens import TokenFile, holder, new_token, read_tokens, write_tokens
from auditor.service.workspace import Workspace
from auditor.store.reading import read_run
from auditor.store.records import ColumnRecord, read_figures, read_record
from auditor.store.series import latest_run

REPORT = Path(__file__).parents[2] / "reports" / "contracts.json"


def stored(folder: Path, run_id: str, **changes: object) -> Path:
    """Write a run of one column, `total` for billing, of ten judged cases."""
    column = {"field": "total", "consumer": "billing", "ok": 9, "judged": 10, "content_rate": 0.9}
    document: dict[str, object] = {
        "schema": 1,
        "run_id": run_id,
        "name": "contracts",
        "manifest_sha256": "m1",
        "created_at": run_id,
        "cases": {"expected": 10, "judged": 10},
        "consumers": [{"name": "billing", "version": "v1", "settings": {}}],
        "columns": [column],
        "findings": [],
    }
    path = folder / run_id / "run.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document | changes))
    return path


def entries(folder: Path) -> tuple[Entry, ...]:
    return Runs(folder).look().of("contracts")


def column(ok: int, **changes: object) -> dict[str, object]:
    return {"field": "total", "consumer": "billing", "ok": ok, "judged": 10, "content_rate": ok / 10, **changes}


def test_a_record_is_the_whole_run_in_short() -> None:
    record, whole, figures = read_record(REPORT), read_run(REPORT), read_figures(REPORT)
    assert (record.run_id, record.name, record.created_at) == (whole.run_id, whole.name, whole.created_at)
    assert [(one.field, one.consumer, one.ok, one.content_rate) for one in record.columns] == [
        (one.field, one.consumer, one.verdicts["ok"], one.content_rate) for one in whole.columns
    ]
    assert [(one.interval, one.ceiling) for one in record.columns] == [
        ((one.interval.low, one.interval.high) if one.interval else None, one.ceiling) for one in whole.columns
    ]
    assert [one.fingerprint for one in record.findings] == [one.fingerprint for one in whole.findings]
    assert figures.columns == whole.columns
    assert [one.title for one in figures.findings] == [one.title for one in whole.findings]
    assert not any(one.witnesses for one in figures.findings)


def test_a_run_whose_names_are_half_of_a_pair_is_read(tmp_path: Path) -> None:
    """JSON lets half of a surrogate pair through, which some readers of JSON refuse."""
    path = tmp_path / "r1" / "run.json"
    path.parent.mkdir()
    path.write_text(REPORT.read_text().replace('"name": "contracts"', '"name": "\\ud800"'))
    assert read_record(path).name == "\ud800"
    assert Runs(tmp_path).look().audits == ("\ud800",)


def test_a_redecoding_is_no_point_of_the_trend_and_never_the_latest(tmp_path: Path) -> None:
    """It reads old outputs with other parsers: what it says is no later state of what the model writes."""
    bug = {"code": "unstable", "severity": "high", "fingerprint": "f1"}
    stored(tmp_path, "20240101T000000Z-a", columns=[column(9)], findings=[bug])
    stored(tmp_path, "20240102T000000Z-b", columns=[column(8)])
    stored(tmp_path, "20240103T000000Z-c", columns=[column(1)], findings=[bug], redecoded_of="20240101T000000Z-a")
    shelf = Runs(tmp_path).look()
    assert [one.run_id[-1] for one in shelf.series("contracts")] == ["b", "a"]
    assert latest_run(tmp_path).name == "20240102T000000Z-b"
    assert trends(shelf.series("contracts"))["total", "billing"].text == "90.0 → 80.0 over 2 runs"
    assert not seen(shelf.series("contracts"))["f1"].is_in_latest
    assert [one.run_id[-1] for one in shelf.of("contracts")] == ["c", "b", "a"]
    assert [one.run_id[-1] for one in shelf.around(shelf.entries[0])] == ["c", "b", "a"]
    assert [one.run_id[-1] for one in shelf.around(shelf.entries[1])] == ["b", "a"]


def test_of_two_runs_of_one_second_the_latest_is_the_one_that_was_written_last(tmp_path: Path) -> None:
    """Their ids end with a digest, which says nothing of time."""
    second = "2024-01-01T00:00:00+00:00"
    for number, name in enumerate(("20240101T000000Z-f", "20240101T000000Z-0", "20240101T000000Z-7")):
        path = stored(tmp_path, name, created_at=second)
        os.utime(path, ns=(number, number))
    assert latest_run(tmp_path).name == "20240101T000000Z-7"
    assert [one.run_id[-1] for one in Runs(tmp_path).look().series("contracts")] == ["7", "0", "f"]


def test_the_latest_run_is_not_one_before_a_damaged_one(tmp_path: Path) -> None:
    stored(tmp_path, "20240102T000000Z-b")
    stored(tmp_path, "20240101T000000Z-a").write_text("{")
    assert latest_run(tmp_path).name == "20240102T000000Z-b"
    stored(tmp_path, "20240103T000000Z-c").write_text("{")
    with pytest.raises(StoreError, match="20240103T000000Z-c"):
        latest_run(tmp_path)


def test_where_there_are_redecodings_alone_there_is_no_latest_run(tmp_path: Path) -> None:
    stored(tmp_path, "20240103T000000Z-c", redecoded_of="gone")
    with pytest.raises(StoreError, match="1 that decode another one's outputs again"):
        latest_run(tmp_path)


def test_a_folder_of_another_name_is_as_old_as_its_run(tmp_path: Path) -> None:
    """Somebody keeps a run by renaming it: no letter makes it the latest."""
    stored(tmp_path, "kept-before-the-move", created_at="2024-01-01T00:00:00+00:00")
    stored(tmp_path, "20240102T000000Z-b", created_at="2024-01-02T00:00:00+00:00")
    assert latest_run(tmp_path).name == "20240102T000000Z-b"


def test_a_closed_gate_is_an_incident_and_no_point(tmp_path: Path) -> None:
    closed = {"open": False, "reason": "3 of 10 blocked", "min_judged": 8, "max_blocked": 0.2}
    stored(tmp_path, "2024-01-01", columns=[column(9)])
    stored(tmp_path, "2024-01-02", columns=[column(1)], gate=closed)
    stored(tmp_path, "2024-01-03", columns=[column(8)], gate={**closed, "open": True, "reason": ""})
    found = entries(tmp_path)
    trend = trends(found)["total", "billing"]
    assert [step.rate for step in trend.points] == ["90.0", "80.0"]
    assert [step.incident for step in trend.incidents] == ["3 of 10 blocked"]
    assert incident(found[1].record) == "3 of 10 blocked"
    assert trend.text == "90.0 → 80.0 over 2 runs, 1 incident"
    drawn = sparkline(trend)
    assert (drawn.dots.count("M"), drawn.marks.count("M"), len(drawn.lines)) == (2, 1, 1)


def test_a_column_that_is_not_comparable_and_withheld_rates_are_no_points(tmp_path: Path) -> None:
    stored(tmp_path, "2024-01-01", columns=[column(9, comparable=False, not_comparable="2 judged")])
    stored(tmp_path, "2024-01-02", columns=[column(9, content_rate=None)], rates_withheld=True)
    trend = trends(entries(tmp_path))["total", "billing"]
    assert trend.points == ()
    assert [step.rate for step in trend.steps][1] == "—"
    assert [bool(step.incident) for step in trend.steps] == [True, True]


def test_the_line_is_broken_where_something_else_is_measured(tmp_path: Path) -> None:
    other = [{"name": "billing", "version": "v2", "settings": {}}]
    stored(tmp_path, "2024-01-01")
    stored(tmp_path, "2024-01-02")
    stored(tmp_path, "2024-01-03", consumers=other)
    stored(tmp_path, "2024-01-04", consumers=other, manifest_sha256="m2")
    stored(tmp_path, "2024-01-05", consumers=other, manifest_sha256="m2")
    found = entries(tmp_path)
    trend = trends(found)["total", "billing"]
    assert [step.changed for step in trend.steps] == ["", "", "parser", "cases or references", ""]
    assert len(sparkline(trend).lines) == 2
    assert [(one.version, one.first.run_id, one.last.run_id, one.runs) for one in versions(found, "billing")] == [
        ("v2", "2024-01-03", "2024-01-05", 3),
        ("v1", "2024-01-01", "2024-01-02", 2),
    ]


def test_a_bug_has_a_first_and_a_last_run(tmp_path: Path) -> None:
    bug = [{"code": "unstable", "severity": "high", "fingerprint": "f1"}]
    for day, found in (("2024-01-01", []), ("2024-01-02", bug), ("2024-01-03", bug), ("2024-01-04", [])):
        stored(tmp_path, day, findings=found)
    life = seen(entries(tmp_path))["f1"]
    assert (life.first.run_id, life.last.run_id, life.count, life.of) == ("2024-01-02", "2024-01-03", 2, 4)
    assert not life.is_in_latest


def test_a_run_that_is_replaced_is_read_again(tmp_path: Path) -> None:
    path, runs = stored(tmp_path, "2024-01-01"), Runs(tmp_path)
    assert runs.look().entries[0].record.columns[0].ok == 9
    aside = stored(tmp_path / "aside", "2024-01-01", columns=[column(8)])
    aside.replace(path)
    assert runs.look().entries[0].record.columns == (ColumnRecord("total", "billing", 8, 10, 0.8),)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"schema": 2}', "null", '{"schema": 1, "run_id": 3}'])
def test_damage_is_named(tmp_path: Path, text: str) -> None:
    path = stored(tmp_path, "2024-01-01")
    path.write_text(text)
    shelf = Runs(tmp_path).look()
    assert [one.run_id for one in shelf.damaged] == ["2024-01-01"]
    assert shelf.damaged[0].reason
    assert shelf.entries == ()


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("a.example", "a.example"),
        ("A.Example.:80", "a.example"),
        ("[::1]:8", "::1"),
        ("", ""),
        ("a b", ""),
        ("localhost@evil.example", ""),
        ("localhost:80/evil", ""),
        ("[::1", ""),
    ],
)
def test_the_name_of_a_host_header(header: str, name: str) -> None:
    assert host_name(header) == name


def test_a_token_is_found_by_its_secret_alone(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    secret, token = new_token("ci", "read", "2024-01-01")
    other, second = new_token("ops", "admin", "2024-01-01")
    write_tokens(path, [token, second])
    assert holder(secret, read_tokens(path)) == token
    assert holder(other, read_tokens(path)) == second
    assert holder(token.sha256, read_tokens(path)) is None
    assert holder("", read_tokens(path)) is None
    with pytest.raises(StoreError, match="token name"):
        new_token("a b", "read", "")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"tokens": [{"name": "a", "role": "king", "sha256": ""}]}'])
def test_a_damaged_file_of_tokens_lets_nobody_in(tmp_path: Path, text: str) -> None:
    path = tmp_path / "tokens.json"
    known = TokenFile(path, needed=False)
    assert known.is_open
    path.write_text(text)
    for _ in range(2):
        with pytest.raises(StoreError, match=r"tokens\.json"):
            known.read()
    assert not known.is_open


def test_a_chart_parts_what_measures_something_else_and_keeps_incidents_off_the_line(tmp_path: Path) -> None:
    rated = {"interval": [0.5, 0.95], "ceiling": 1.0}
    stored(tmp_path, "2024-03-01T00:00:00", columns=[column(9, **rated)])
    gate = {"open": False, "reason": "20 of 30 blocked"}
    stored(tmp_path, "2024-03-02T00:00:00", columns=[column(1, **rated)], gate=gate)
    stored(tmp_path, "2024-03-03T00:00:00", columns=[column(8, **rated)])
    other = [{"name": "billing", "version": "v2", "settings": {}}]
    stored(tmp_path, "2024-03-04T00:00:00", columns=[column(7, untrusted=["unstable"], **rated)], consumers=other)
    steps = trend_data(trends(entries(tmp_path))["total", "billing"])["steps"]
    assert [one["rate"] for one in steps] == [90.0, None, 80.0, 70.0]
    assert [one["low"] for one in steps] == [50.0, None, 50.0, 50.0]
    assert [one["ceiling"] for one in steps] == [100.0, None, 100.0, 100.0]
    assert [one["segment"] for one in steps] == [0, 0, 0, 1]
    assert [one["incident"] for one in steps] == [False, True, False, False]
    assert [one["untrusted"] for one in steps] == [False, False, False, True]
    assert "incident: 20 of 30 blocked" in steps[1]["said"]
    assert "95 %: 50.0–95.0" in steps[0]["said"]
    assert "parser changed" in steps[3]["said"]


def test_texts_of_a_chart_are_told_apart_and_end_no_script() -> None:
    row = ShapeRow("a" * 60, "x", 4, 1, {"one": 3, "two": 0}, {"one": 2}, False, {"two": 4})
    other = ShapeRow("a" * 61, "x", 0, 0, {"one": 0, "two": 0}, {}, True)
    whole = read_run(REPORT).fields[0]
    data = shape_data(replace(whole, shapes=(row, other)), ["one", "two"])
    assert len(set(data["shapes"])) == 2
    assert [(one["accepted"], one["right"]) for one in data["cells"]] == [
        (75.0, "2/4"),
        (None, ""),
        (None, ""),
        (None, ""),
    ]
    written = script_json({"name": "</script><script>alert(1)</script>&\u2028"})
    assert not set(written) & set("<>&\u2028")
    assert json.loads(written) == {"name": "</script><script>alert(1)</script>&\u2028"}


def test_what_a_consumer_alone_accepts_is_named_by_shape() -> None:
    """Counted in the document itself, for each shape of dates that billing accepts and the warehouse does not."""
    document = json.loads(REPORT.read_text())
    [field] = [one for one in document["fields"] if one["field"] == "effective_date"]
    want = {
        row["shape"]: row["accepted"]["billing"]
        for row in field["shapes"]
        if row["accepted"]["warehouse"] < row["accepted"]["billing"]
    }
    found = [one for one in own_shapes(read_run(REPORT), "billing") if one.field == "effective_date"]
    assert len(want) > 3
    assert {one.shape.shape: one.accepted for one in found if "warehouse" in dict(one.less)} == want
    assert not own_shapes(read_run(REPORT), "nobody")


def test_the_specs_are_the_operator_s_else_the_one_of_the_workspace(tmp_path: Path) -> None:
    runs, baseline, spec = tmp_path / ".auditor" / "runs", tmp_path / "auditor-baseline.toml", tmp_path / "audit.toml"
    assert Workspace(runs, baseline).specs == {}
    spec.write_text('name = "contracts"\n[cases')
    assert Workspace(runs, baseline).specs == {"audit.toml": spec}  # which whoever reads it is told what is wrong with
    spec.write_text('name = "contracts"\n')
    assert Workspace(runs, baseline).specs == {"contracts": spec}
    spec.rename(tmp_path / "other.toml")
    (tmp_path / "pyproject.toml").write_text('[tool.auditor]\nspec = "other.toml"\n')
    assert Workspace(runs, baseline).specs == {"contracts": tmp_path / "other.toml"}
    given = {"orders": tmp_path / "orders.toml"}
    assert Workspace(runs, baseline, specs=given).specs == given
