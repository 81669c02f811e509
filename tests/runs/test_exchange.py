"""A consumer with another one's parser, from a stored run alone: it must be what a run of such a pipeline gives."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from scipy.stats import binom

from auditor.drift.exchange import exchange
from auditor.drift.sides import opened
from auditor.errors import AuditorError, StoreError
from auditor.store.reading import StoredRun
from tests.comparisons import Workspace

_SPEC = """name = "days"
[cases]
predictions = "predictions.csv"
references = "references.csv"
abstain = ["n/a"]
[fields.day]
type = "date"
reference = "{reference}"
[fields.other]
type = "identifier"
[consumers.strict]
adapter = "python"
reads = {{ day = "{strict}", other = "parsers:other" }}
[consumers.lax]
adapter = "python"
reads = {{ day = "{lax}" }}
[consumers.json]
adapter = "python"
receives = "json"
reads = {{ day = "{json}" }}
"""

_PARSERS = """
import json
from datetime import date, datetime

def strict(text):
    return date.fromisoformat(text)

def lax(text):
    for form in ("%Y-%m-%d", "%d/%m/%Y", "%d %B %Y"):
        try:
            return datetime.strptime(text, form).date()
        except ValueError:
            pass
    return None if text == "none" else date(1970, 1, 1)

def from_json(text):
    return strict(json.loads(text))

def other(text):
    return text
"""

CASES = [f"C-{number:03d}" for number in range(1, 41)]


def _prediction(number: int) -> str:
    return {
        0: f"2024-03-{1 + number % 28:02d}",
        1: f"{1 + number % 28:02d}/03/2024",
        2: "soon",
        3: "n/a",
        4: "",
        5: "none",
        6: "2024-04-01",
        7: f"{1 + number % 28} March 2024",
    }[number % 8]


def workspace(folder: Path, reference: str, **parsers: str) -> Workspace:
    chosen = {"strict": "parsers:strict", "lax": "parsers:lax", "json": "parsers:from_json", "reference": reference}
    found = Workspace(folder, _SPEC.format(**{**chosen, **parsers}), _PARSERS)
    rows = {case: {"day": _prediction(number), "other": "x"} for number, case in enumerate(CASES)}
    known = {
        case: {"day": f"2024-03-{1 + number % 28:02d}" if number % 13 else "", "other": "x"}
        for number, case in enumerate(CASES)
    }
    found.table("predictions.csv", dict(list(rows.items())[:-2]))  # two are missing
    found.table("references.csv", known)
    return found


def column(run, field: str, consumer: str):
    """Give what is counted in a column of a run."""
    one = run.column(field, consumer)
    return {
        name: getattr(one, name)
        for name in (
            *("support", "judged", "blocked", "blocked_by", "verdicts", "unreferenced", "unexpected"),
            *("broken_references", "coverage", "content_rate", "usable_rate", "interval", "ceiling"),
        )
    }


@pytest.fixture(scope="module", params=["typed", "each", "strict", "lax", "json"])
def stored(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    """Give a workspace by the reader of its references, and its run."""
    found = workspace(tmp_path_factory.mktemp(request.param), request.param)
    done = found.run()
    assert done.folder is not None
    return request.param, found, StoredRun(done.run, done.folder)


@pytest.mark.parametrize(
    ("consumer", "parser", "as_run"),
    [
        ("strict", "lax", {"strict": "parsers:lax"}),
        ("lax", "strict", {"lax": "parsers:strict"}),
    ],
)
def test_it_is_what_a_run_of_that_pipeline_gives(stored, tmp_path: Path, consumer: str, parser: str, as_run) -> None:
    reference, _, run = stored
    (found,) = exchange(run, "day", [consumer], parser)
    really = workspace(tmp_path / "really", reference, **as_run).run().run
    want = column(really, "day", consumer)
    assert {name: getattr(found.after, name) for name in want} == want
    assert {name: getattr(found.before, name) for name in want} == column(run.run, "day", consumer)
    assert found.moves_references == (reference in ("each", consumer))
    # The same cases change as between the two runs.
    verdicts = ("ok", "wrong", "rejected", "null", "absent", "abstained")
    moved = Counter({name: want["verdicts"][name] - found.before.verdicts[name] for name in verdicts})
    for flip in found.flips:
        moved[flip.old] += flip.count
        moved[flip.new] -= flip.count
    assert not any(moved[name] for name in verdicts)


def test_the_whole_parser_is_taken_with_what_it_is_sent(stored) -> None:
    """The other one is sent JSON text: it is asked as it is, and not as the consumer is that takes it."""
    _, _, run = stored
    (found,) = exchange(run, "day", ["lax"], "json")
    assert found.after.verdicts == run.run.column("day", "json").verdicts


def test_the_pairs_and_the_cases_are_those_by_hand(tmp_path: Path) -> None:
    """Every eighth date is written day first, and every eighth in words: lax reads them, strict does not."""
    done = workspace(tmp_path, "typed").run()
    assert done.folder is not None
    (found,) = exchange(StoredRun(done.run, done.folder), "day", ["strict"], "lax")
    given = [number for number in range(38) if number % 13]
    gained = [CASES[number] for number in given if number % 8 in (1, 7)]
    flips = {(flip.old, flip.new): flip.cases for flip in found.flips}
    assert flips["rejected", "ok"] == tuple(gained)
    assert flips["rejected", "wrong"] == tuple(CASES[number] for number in given if number % 8 == 2)
    assert flips["rejected", "null"] == tuple(CASES[number] for number in given if number % 8 == 5)
    assert len(flips) == 3
    assert found.paired is not None
    assert (found.paired.ok_in_new_only, found.paired.ok_in_old_only) == (len(gained), 0)
    assert found.paired.exact_p == pytest.approx(2 * binom.cdf(0, len(gained), 0.5))
    first = found.rereads[0]
    assert (first.before, first.after) == ("rejected", "ok")
    assert first.case_id == gained[0] == "C-002"
    assert (first.prediction, first.reference) == ('"02/03/2024"', '"2024-03-02"')
    assert first.own == "rejected: ValueError: Invalid isoformat string: '02/03/2024'"
    assert first.others == "date:2024-03-02"
    assert found.changed == len(found.rereads) == sum(map(len, flips.values()))


def test_every_consumer_with_one_parser(stored) -> None:
    reference, _, run = stored
    found = exchange(run, "day", ["strict", "lax", "json"], "strict")
    assert [one.consumer for one in found] == ["lax", "json"]
    own = run.run.column("day", "strict")
    if reference in ("typed", "strict", "each"):
        assert {one.after.content_rate for one in found} == {own.content_rate}
    else:  # whoever reads the references reads them with the other parser, too
        assert [one.moves_references for one in found] == [one.consumer == reference for one in found]


def test_references_that_the_other_parser_cannot_read_withhold_the_rates(tmp_path: Path) -> None:
    found = workspace(tmp_path, "lax")
    known = {case: {"day": "02/03/2024", "other": "x"} for case in CASES}
    found.table("references.csv", known)
    done = found.run()
    assert done.folder is not None
    (one,) = exchange(StoredRun(done.run, done.folder), "day", ["lax"], "strict")
    assert one.after.broken_references == 40
    assert (one.after.content_rate, one.paired) == (None, None)
    assert "40 references cannot be read" in one.suppressed


def test_where_the_gate_is_closed_nothing_is_compared(tmp_path: Path) -> None:
    found = workspace(tmp_path, "typed")
    rows = {case: {"day": _prediction(number), "other": "x"} for number, case in enumerate(CASES[:20])}
    done = found.run(rows)
    assert done.folder is not None
    (one,) = exchange(StoredRun(done.run, done.folder), "day", ["strict"], "lax")
    assert "blocked, more than 20 %" in one.suppressed
    assert one.paired is None


@pytest.mark.parametrize(
    ("field", "consumers", "parser"),
    [("day", ["strict"], "nobody"), ("other", ["strict"], "lax"), ("no", ["lax"], "lax")],
)
def test_what_is_not_there_is_told(stored, field: str, consumers: list[str], parser: str) -> None:
    with pytest.raises(AuditorError, match="does not read"):
        exchange(stored[2], field, consumers, parser)


def test_withheld_rates_stay_withheld(tmp_path: Path) -> None:
    found = workspace(tmp_path, "strict")
    found.table("references.csv", {case: {"day": "soon", "other": "x"} for case in CASES})
    done = found.run()
    assert done.folder is not None
    with pytest.raises(AuditorError, match="its rates are withheld"):
        exchange(StoredRun(done.run, done.folder), "day", ["strict"], "lax")


def test_tables_that_are_not_the_run_s_own_are_told(stored) -> None:
    _, _, run = stored
    columns = tuple(
        replace(one, verdicts=one.verdicts | {"ok": one.verdicts["ok"] + 1}) if one.field == "day" else one
        for one in run.run.columns
    )
    with pytest.raises(StoreError, match=r"its tables do not give the counts of its run\.json"):
        exchange(StoredRun(replace(run.run, columns=columns), run.folder), "day", ["strict"], "lax")


def test_each_arm_has_a_column_of_its_own(tmp_path: Path) -> None:
    """Large writes one of four dates day first, small all of its three: with lax each of them is right."""
    spec = _SPEC.format(strict="parsers:strict", lax="parsers:lax", json="parsers:from_json", reference="typed")
    spec = spec.replace('id = "case_id"\n', "").replace("[cases]\n", '[cases]\narm = "model"\nmin_judged = 4\n')
    found = Workspace(tmp_path, spec, _PARSERS)
    days = {f"c{number}": f"2024-03-0{number}" for number in range(1, 5)}
    found.table("references.csv", {case: {"day": day, "other": "x"} for case, day in days.items()})
    rows = ["case_id,model,day,other", "c1,large,01/03/2024,x"]
    rows += [f"c{number},large,2024-03-0{number},x" for number in range(2, 5)]
    rows += [f"c{number},small,0{number}/03/2024,x" for number in range(1, 4)]
    found.write("predictions.csv", "\n".join([*rows, ""]))
    done = found.run()
    assert done.folder is not None
    large, small = exchange(StoredRun(done.run, done.folder), "day", ["strict"], "lax")
    assert (large.arm, large.before.verdicts["ok"], large.after.verdicts["ok"]) == ("large", 3, 4)
    assert (small.arm, small.before.verdicts["ok"], small.after.verdicts["ok"]) == ("small", 0, 3)
    assert [flip.cases for flip in large.flips] == [("c1",)]
    assert [flip.cases for flip in small.flips] == [("c1", "c2", "c3")]
    assert (large.suppressed, large.paired is None) == ("", False)
    assert small.after.blocked_by == {"missing": 1}
    assert (small.suppressed, small.paired) == ("3 judged, fewer than 4", None)


def test_a_run_that_goes_while_it_is_read_is_named(tmp_path: Path) -> None:
    """Somebody removes the folder between two queries: no bug of ours, and not what was to be shown."""
    done = workspace(tmp_path, "typed").run()
    assert done.folder is not None
    with (
        pytest.raises(StoreError, match=rf"run {done.run.run_id}.* while it was read"),
        opened([("old", StoredRun(done.run, done.folder))]) as (connection, _),
    ):
        shutil.rmtree(done.folder)
        connection.execute("SELECT count(prediction), count(v0) FROM old.cases, old.outcomes").fetchall()
