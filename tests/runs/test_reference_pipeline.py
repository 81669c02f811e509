"""The whole audit of the reference pipeline by its command, held against its parsers called directly."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
from collections import Counter
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

import auditor
from auditor.model.verdicts import VERDICT_OF
from tests import picture
from tests.command_line import call
from tests.meaning import NoMeaning, canonical, meaning
from tests.pipeline import CONSUMERS, FOLDER, SPEC, decode
from tests.reference_run import reference_run

Document = dict[str, Any]


def audit(folder: Path, *options: str) -> tuple[int, Document]:
    """Audit a workspace and give the exit code and run.json."""
    output = folder / "out.json"
    done = call("run", folder, "-q", "-o", output, *options, variables={"PATH": os.environ["PATH"]}, timeout=600)
    assert output.exists(), done.stderr
    return done.returncode, json.loads(output.read_text())


def workspace(folder: Path) -> Path:
    """Copy the reference pipeline, so that its runs are stored elsewhere."""
    return Path(shutil.copytree(FOLDER, folder / "consumers", ignore=shutil.ignore_patterns("__pycache__")))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a workspace with one run in it, with all probes."""
    return reference_run(tmp_path_factory)


@pytest.fixture(scope="module")
def run(folder: Path) -> Document:
    """Give the run.json of the reference pipeline."""
    document: Document = json.loads((folder / "reports" / "contracts.json").read_text())
    return document


def column(run: Document, field: str, consumer: str) -> Document:
    """Give one column."""
    (found,) = [one for one in run["columns"] if (one["field"], one["consumer"]) == (field, consumer)]
    return found


def findings(run: Document, code: str) -> list[tuple[str, tuple[str, ...]]]:
    """Give field and consumers of the findings with a code."""
    return [(one["field"], tuple(one["consumers"])) for one in run["findings"] if one["code"] == code]


def test_effective_date_is_the_published_picture(run: Document) -> None:
    """String equality near 62 %, billing near 91 %, the warehouse near 64 % under a ceiling near two thirds."""
    (field,) = [one for one in run["fields"] if one["field"] == "effective_date"]
    columns = [one for one in run["columns"] if one["field"] == "effective_date"]
    rates = {one["consumer"]: (one["ok"], one["accepted"]) for one in columns}
    assert (field["string_equality"]["count"], field["string_equality"]["of"]) == (145, 234)
    in_python_and_duckdb = {"billing": (213, 230), "warehouse": (150, 156), "api": (144, 150), "ledger": (175, 185)}
    elsewhere = {"portal": (212, 225), "erp": (144, 150), "replica": (144, 150)}
    assert rates == in_python_and_duckdb | {name: counts for name, counts in elsewhere.items() if name in CONSUMERS}
    assert column(run, "effective_date", "billing")["blocked_by"] == {"missing": 2, "truncated": 3, "refused": 1}


def test_no_reference_is_broken(run: Document) -> None:
    """So every rate is shown."""
    assert run["broken_references"] == []
    assert all(one["content_rate"] is not None for one in run["columns"])


def test_verdicts_add_up(run: Document) -> None:
    """Field-level verdicts sum to judged, and judged and blocked to support."""
    names = ("ok", "wrong", "rejected", "null", "dropped", "crashed", "timed_out", "absent", "abstained")
    for one in run["columns"]:
        assert sum(one[name] for name in names) == one["judged"]
        assert one["judged"] + one["blocked"] == one["support"]
        assert sum(one["blocked_by"].values()) == one["blocked"]
        assert one["support"] + one["unreferenced"] + one["broken_references"] == 240


@pytest.mark.parametrize("field", [name for name in SPEC["fields"] if name != "effective_date"])
def test_columns_are_what_the_parsers_say(run: Document, field: str) -> None:
    """The workers give what a direct call gives; the date field alone depends on the clock, which is real here."""
    for consumer in (name for name, one in CONSUMERS.items() if field in one["reads"]):
        counts = column(run, field, consumer)
        assert {name: counts[name] for name in ("ok", "wrong", "rejected", "null")} == expected(field, consumer)


def expected(field: str, consumer: str) -> dict[str, int]:
    """Count verdicts with the parsers called directly, and with what their values mean."""
    counts = Counter(verdict(field, consumer, *pair) for pair in judged_pairs(field))
    return {name: counts[name] for name in ("ok", "wrong", "rejected", "null")}


def verdict(field: str, consumer: str, prediction: str | None, reference: str) -> str:
    """Judge one pair."""
    if prediction is None or (prediction == "null" and CONSUMERS[consumer].get("receives", "text") == "text"):
        return "absent"
    named = SPEC["fields"][field]["reference"]
    decoder = consumer if named == "each" else named
    truth = canonical(field, reference) if decoder == "typed" else decode(decoder, field, reference)
    value = decode(consumer, field, prediction)
    if value in ("null", "rejected"):
        return value
    try:
        given = meaning(field, value)
    except NoMeaning:
        return "rejected"
    return "ok" if given == meaning(field, truth) else "wrong"


def judged_pairs(field: str) -> list[tuple[str | None, str]]:
    """Give (prediction token, reference token) of the judged cases with a reference."""
    path, reference_path = SPEC["fields"][field].get("path", field), SPEC["fields"][field].get("reference_path", field)
    lines = (FOLDER / "records" / "completions.jsonl").read_text().splitlines()
    stopped = [row for row in map(json.loads, lines) if row["finish_reason"] == "stop"]
    completions = {row["case_id"]: row["completion"] for row in stopped}
    with (FOLDER / "records" / "references.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row[reference_path] and row["case_id"] in completions]
    return [(token_at(completions[row["case_id"]], path), json.dumps(row[reference_path])) for row in rows]


class Number(str):
    """Source text of a JSON number."""


def token_at(payload: str, path: str) -> str | None:
    """Give the source text of a value in a payload; None where there is none."""
    value: Any = json.loads(payload, parse_int=Number, parse_float=Number)
    for name in path.split("."):
        if name not in value:
            return None
        value = value[name]
    return str(value) if isinstance(value, Number) else json.dumps(value, ensure_ascii=False)


#: `bool(value)` and `Boolean(value)` take every word for yes; `Number("")`, all that is left of a word, is 0.
COLLAPSING = {
    ("auto_renew", "ledger"),
    ("auto_renew", "portal"),
    ("total_amount", "portal"),
}


def test_who_takes_junk_for_a_value_is_untrusted(run: Document) -> None:
    """Its column is, and no other."""
    untrusted = {(one["field"], one["consumer"]) for one in run["columns"] if one["untrusted"]}
    assert untrusted == {(field, name) for field, name in COLLAPSING if name in CONSUMERS}


@pytest.mark.skipif("portal" not in CONSUMERS, reason="Node is not installed")
def test_the_zone_decides_what_day_the_portal_shows(run: Document) -> None:
    """`new Date("2024-03-01")` is midnight in UTC, hence the day before in New York; `March 1, 2024` is local."""
    assert findings(run, "timezone-dependent") == [("effective_date", ("portal",))]
    (there,) = [
        one for one in column(run, "effective_date", "portal")["by_environment"] if one["zone"] == "America/New_York"
    ]
    verdicts = [
        (prediction, reference, verdict("effective_date", "portal", prediction, reference))
        for prediction, reference in judged_pairs("effective_date")
    ]
    right = [token for token, _, one in verdicts if one == "ok"]
    lost = [token for token in right if in_utc(token)]
    gained = [
        token for token, truth, one in verdicts if one == "wrong" and in_utc(token) and is_day_after(token, truth)
    ]
    assert lost
    assert (there["ok"], there["flips"]) == (len(right) - len(lost) + len(gained), len(lost) + len(gained))


@pytest.mark.skipif("portal" not in CONSUMERS, reason="Node is not installed")
def test_the_shape_that_the_warehouse_needs_breaks_the_portal(run: Document) -> None:
    """ISO dates are read alike in the base, and by the portal otherwise in other zones: there is no shape for all."""
    (none,) = [one for one in run["findings"] if (one["code"], one["field"]) == ("no-common-shape", "effective_date")]
    assert (
        "dddd-dd-dd is read alike in the base environment, but not in every other (timezone-dependent)"
        in none["detail"]
    )
    (capped,) = [
        one
        for one in run["findings"]
        if (one["code"], one["field"], one["consumers"]) == ("format-ceiling", "effective_date", ["warehouse"])
    ]
    assert capped["fixes"][0] == "Ask the model for a form that warehouse reads: dddd-dd-dd."


def in_utc(token: str | None) -> bool:
    return token is not None and re.fullmatch(r'"\d{4}-\d\d-\d\d(T00:00:00Z)?"', token) is not None


def is_day_after(token: str | None, reference: str) -> bool:
    day, truth = date.fromisoformat(str(token)[1:11]), decode("billing", "effective_date", reference)
    return f"date:{day - timedelta(days=1)}" == truth


@pytest.mark.parametrize(
    ("code", "field", "consumers"),
    [
        ("value-disagreement", "effective_date", {"billing", "ledger"}),
        ("value-disagreement", "net_weight", {"billing", "warehouse"}),
        ("value-disagreement", "total", {"billing", "ledger"}),
        ("value-disagreement", "discount", {"billing", "ledger"}),
        ("format-ceiling", "effective_date", {"warehouse"}),
        ("format-ceiling", "effective_date", {"api"}),
        ("ambiguous-reference", "effective_date", None),
        ("misreading", "effective_date", {"billing"}),
        ("lax-coercion", "risk_score", {"ledger"}),
        ("lax-coercion", "auto_renew", {"ledger"}),
        ("common-shape", "signed_at", None),
    ],
)
def test_planted_bugs_are_found(run: Document, code: str, field: str, consumers: set[str] | None) -> None:
    """Each bug that the pipeline has on purpose is a finding."""
    seen = [set(names) for name, names in findings(run, code) if name == field]
    assert seen if consumers is None else any(consumers <= names for names in seen)


@pytest.mark.skipif("replica" not in CONSUMERS, reason="PostgreSQL is not installed")
def test_two_engines_round_half_a_gram_in_two_ways(run: Document) -> None:
    """PostgreSQL rounds a numeric up; DuckDB casts a double to the even integer."""
    assert ("net_weight", ("warehouse", "replica")) in findings(run, "value-disagreement")


def test_sound_parsers_stay_silent(run: Document) -> None:
    """Billing's word list, the strict API and the warehouse's token map are no findings; nothing crashed."""
    for code in ("sentinel-collapse", "constant-output"):
        assert {(field, name) for field, names in findings(run, code) for name in names} <= COLLAPSING
    assert not [one for one in findings(run, "lax-coercion") if "api" in one[1]]
    for code in ("consumer-crashed", "consumer-timed-out", "broken-reference"):
        assert findings(run, code) == []


def test_high_findings_fail_the_run(tmp_path: Path) -> None:
    """Without --fail-on never the pipeline's bugs are exit code 1."""
    assert audit(workspace(tmp_path), "--probe", "off")[0] == 1


def test_a_payload_is_rejected_whole(tmp_path: Path) -> None:
    """With scope = "payload" one bad field costs the API's whole contract."""
    folder = workspace(tmp_path)
    spec = folder / "audit.toml"
    spec.write_text(spec.read_text().replace('scope = "field"', 'scope = "payload"'))
    whole = column(audit(folder, "--probe", "off")[1], "effective_date", "api")
    assert whole["scope"] == "payload"
    assert whole["ok"] < 40


@pytest.mark.skipif(set(CONSUMERS) != set(SPEC["consumers"]), reason="the picture shows all consumers")
def test_picture_in_the_readme_is_real(folder: Path, run: Document) -> None:
    """What stands there is what is printed, but for the line with the run's id; `python -m tests.picture` draws it."""
    real = picture.drawn(picture.report_in(folder, "report", run["run_id"])).splitlines()
    shown = picture.picture_in(picture.README.read_text(encoding="utf-8")).splitlines()
    assert [line for line in shown if not line.startswith("run ")] == [
        one for one in real if not one.startswith("run ")
    ]


DATE_ROWS = {
    ("2024-03-01", "March 1, 2024"): ("ok", "ok"),
    ("March 1, 2024", "1 March 2024"): ("ok", "null"),
    ("01 March 2024", "2024-03-01"): ("ok", "null"),
    ("2024-03-01T00:00:00Z", "2024-03-01"): ("ok", "ok"),
    ("March 2", "March 1"): ("wrong", "null"),
    ("N/A", "2024-03-01"): ("rejected", "null"),
}


def test_date_rows(tmp_path: Path) -> None:
    """The rows of the problem: billing and the warehouse, row by row."""
    audited = auditor.run(dates(tmp_path, list(DATE_ROWS)), probe="off")
    pairs, outcomes = (f"'{audited.folder}/{name}.parquet'" for name in ("pairs", "outcomes"))
    patterns = (
        duckdb.connect()
        .sql(
            f"SELECT p.token[2:-2], r.token[2:-2], pattern FROM {pairs} "
            f"JOIN {outcomes} p ON p.unit = p_unit JOIN {outcomes} r ON r.unit = r_unit"
        )
        .fetchall()
    )
    seen = {(one, other): tuple(VERDICT_OF[letter] for letter in pattern) for one, other, pattern in patterns}
    assert seen == DATE_ROWS


def test_nothing_against_nothing_is_broken(tmp_path: Path) -> None:
    """`N/A` against `not stated` is a broken reference, never a pass."""
    code, document = audit(dates(tmp_path, [("N/A", "not stated")]), "--probe", "off")
    assert code == 3
    assert document["rates_withheld"]
    assert ["not stated" in one["raw"] for one in document["broken_references"]] == [True]


def dates(folder: Path, rows: list[tuple[str, str]]) -> Path:
    """Write a workspace with these dates and two of the reference pipeline's own parsers."""
    lines = [f'C-{number},effective_date,"{one}","{other}"\n' for number, (one, other) in enumerate(rows)]
    (folder / "dates.csv").write_text("case_id,field,prediction,reference\n" + "".join(lines))
    (folder / "audit.toml").write_text(
        f"""
        name = "dates"
        cases = {{ predictions = "dates.csv", references = "dates.csv" }}
        fields.effective_date = {{ type = "date", grain = "day", reference = "billing" }}
        [consumers.billing]
        adapter = "python"
        root = "{FOLDER}/billing"
        reads.effective_date = "parsers:parse_effective_date"
        [consumers.warehouse]
        adapter = "sql"
        engine = "duckdb"
        model = "{FOLDER}/warehouse/models/contracts.sql"
        reads.effective_date = "effective_date"
        """
    )
    return folder
