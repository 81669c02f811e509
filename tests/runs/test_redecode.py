"""The raw outputs of a stored run decoded again by real parsers that were mended, broken or swapped."""

from __future__ import annotations

import csv
import json
import os
import shutil

import pytest

import auditor
from auditor.drift.stored import digest_of
from auditor.score.intervals import wilson
from tests.comparisons import ISO, SPEC, Workspace, ids

CASES = ids(40)
REFERENCES = dict.fromkeys(CASES, "2024-03-01")

#: Takes what it cannot read for the first of the month, as a caught error does.
SENTINEL = """from datetime import date
def day(text):
    try:
        return date.fromisoformat(text)
    except ValueError:
        return date(2024, 1, 1)
"""


def workspace_with(folder, predictions, parsers=ISO, spec=SPEC):
    """Give a workspace with a run of the predictions, and the run."""
    workspace = Workspace(folder, spec, parsers)
    workspace.table("references.csv", REFERENCES)
    return workspace, workspace.run(REFERENCES | predictions)


def redecoded(workspace, run, *arguments, code=0):
    """Give the document of a redecoding without probes, and its one column."""
    found = workspace.document("redecode", run.run.run_id, "--probe", "off", *arguments, code=code)
    (column,) = found["columns"]
    return found, column


def test_a_parser_that_is_mended_accepts_more_and_breaks_nothing(tmp_path):
    workspace, run = workspace_with(tmp_path, {"C-003": "1 March 2024", "C-004": "1 March 2024", "C-005": "2 May 2024"})
    workspace.write("parsers.py", "from dateutil.parser import parse as day\n")
    (tmp_path / "predictions.csv").unlink()  # the run has kept what it read
    (tmp_path / "references.csv").unlink()
    found, column = redecoded(workspace, run)
    assert column["regressions"] == column["intended"] == []
    assert [(one["raw"], one["old"], one["new"], one["cases"], one["turns"]) for one in column["newly_accepted"]] == [
        ('"1 March 2024"', "rejected", "value", ["C-003", "C-004"], {"rejected to ok": 2}),
        ('"2 May 2024"', "rejected", "value", ["C-005"], {"rejected to wrong": 1}),
    ]
    bounds = wilson(37, 40)
    half = (bounds.high - bounds.low) / 2
    assert column["difference"] == pytest.approx(2 / 40)
    assert column["of_error_bar"] == pytest.approx(2 / 40 / half)
    assert column["old_version"] != column["new_version"]
    new = auditor.load(found["new"]["run_id"], runs=tmp_path / ".auditor" / "runs")
    assert new.run.redecoded_of == run.run.run_id == found["new"]["redecoded_of"]
    assert new.run.manifest_sha256 == run.run.manifest_sha256
    assert new.column("day", "billing").verdicts["ok"] == 39
    assert len(new.verdicts().filter("verdict = 'ok'").fetchall()) == 39
    assert [source["path"] for source in new.run.sources] == ["predictions.csv", "references.csv"]
    assert str(tmp_path) not in (new.folder / "sources" / "contract.json").read_text()
    (drift,) = workspace.document("drift", run.run.run_id, found["new"]["run_id"])["columns"]
    assert drift["paired"]["ok_in_new_only"] == 2


def test_in_python_a_run_is_decoded_again_and_compared(tmp_path):
    _, run = workspace_with(tmp_path, {"C-003": "1 March 2024"})
    (tmp_path / "parsers.py").write_text("from dateutil.parser import parse as day\n")
    found = run.redecode(tmp_path / "audit.toml", probe="off")
    (column,) = found.columns
    assert [(one.raw, one.old, one.new, one.cases) for one in column.newly_accepted] == [
        ('"1 March 2024"', "rejected", "value", ("C-003",))
    ]
    new = auditor.load(found.new.run_id, runs=tmp_path / ".auditor" / "runs")
    (drift,) = run.drift(new).columns
    assert [(flip.old, flip.new, flip.cases) for flip in drift.flips] == [("rejected", "ok", ("C-003",))]
    unstored = auditor.run(tmp_path / "audit.toml", store=False, probe="off")
    for ask in (lambda: unstored.drift(new), lambda: new.drift(unstored), lambda: unstored.redecode(tmp_path)):
        with pytest.raises(auditor.StoreError, match="this run was not stored"):
            ask()


def test_what_a_run_has_kept_is_read_once_for_its_digest_and_again_where_it_changed(tmp_path):
    _, run = workspace_with(tmp_path, {"C-003": "1 March 2024"})
    digest_of.cache_clear()
    run.redecode(tmp_path / "audit.toml", probe="off")
    assert digest_of.cache_info().misses == 4, "two inputs of the run, and the two that the new one has kept"
    kept = next((run.folder / "sources").glob("*-predictions.csv"))
    before = kept.stat()
    kept.write_bytes(kept.read_bytes().replace(b"1 March 2024", b"2 March 2024"))
    os.utime(kept, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(auditor.StoreError, match="is not what the run read"):
        run.redecode(tmp_path / "audit.toml", probe="off")


def test_a_parser_that_breaks_is_a_list_of_regressions(tmp_path):
    workspace, run = workspace_with(
        tmp_path,
        {"C-001": "01/03/2024", "C-002": "01/03/2024", "C-003": "13/03/2024"},
        "from dateutil.parser import parse as day\n",
    )
    us_only = "from datetime import datetime\ndef day(text):\n    return datetime.strptime(text, '%Y-%m-%d').date()\n"
    workspace.write("parsers.py", us_only)
    found, column = redecoded(workspace, run, code=0)
    # Neither string is right for anybody: dateutil takes the first for January, the second for the 13th.
    assert [one["raw"] for one in column["intended"]] == ['"01/03/2024"', '"13/03/2024"']
    assert column["strings"] == {"same": 0, "finer": 1, "changed": 0, "lost": 2, "gained": 0, "never": 0}
    day_first = "from dateutil.parser import parse\ndef day(text):\n    return parse(text, dayfirst=True)\n"
    workspace.write("parsers.py", day_first)
    found, column = redecoded(workspace, run, code=1)
    by_raw = {(one["role"], one["raw"]): one for one in column["regressions"]}
    # Day first, dateutil reads 2024-03-01 as the 3rd of January: most predictions have moved; references are typed.
    assert by_raw["prediction", '"2024-03-01"']["old_value"] == "datetime:2024-03-01T00:00:00"
    assert by_raw["prediction", '"2024-03-01"']["new_value"] == "datetime:2024-01-03T00:00:00"
    assert {role for role, _ in by_raw} == {"prediction"}
    assert by_raw["prediction", '"01/03/2024"']["why"] == "accepted with another value"
    assert by_raw["prediction", '"01/03/2024"']["cases"] == ["C-001", "C-002"]
    assert by_raw["prediction", '"01/03/2024"']["turns"] == {"wrong to ok": 2}
    assert found["new"]["redecoded_of"] == run.run.run_id


def test_what_is_right_or_looks_right_must_stay_accepted(tmp_path):
    workspace, run = workspace_with(tmp_path, {"C-007": "2024-03-02", "C-008": "2024-03-09"})
    workspace.write(
        "parsers.py",
        "from datetime import date\ndef day(text):\n    found = date.fromisoformat(text)\n"
        "    if text in ('2024-03-02',):\n        raise ValueError('not this one')\n    return found\n",
    )
    _, column = redecoded(workspace, run, code=1)
    (one,) = column["regressions"]
    assert (one["raw"], one["new"], one["error"]) == ('"2024-03-02"', "rejected", "ValueError: not this one")
    assert one["why"] == "no longer accepted, and of the shape of a right answer or a reference"


def test_junk_that_is_newly_rejected_is_what_was_intended(tmp_path):
    workspace, run = workspace_with(tmp_path, {"C-001": "N/A", "C-002": "see attached", "C-003": "soon"}, SENTINEL)
    assert "sentinel-collapse" in [finding.code for finding in run.findings]
    workspace.write("parsers.py", ISO)
    _, column = redecoded(workspace, run)
    assert column["regressions"] == []
    named, alone = "junk that sentinel-collapse named in the old run", "right for no consumer in these cases"
    assert {one["raw"]: one["why"].partition(",")[0] for one in column["intended"]} == {
        '"N/A"': named,
        '"see attached"': named,
        '"soon"': alone,
    }
    assert all(one["turns"] == {"wrong to rejected": 1} for one in column["intended"])
    assert column["difference"] == 0


def test_a_reference_that_is_no_longer_read_is_a_regression(tmp_path):
    workspace = Workspace(tmp_path, SPEC.replace('"typed"', '"billing"'), "from dateutil.parser import parse as day\n")
    workspace.table("references.csv", REFERENCES | {"C-001": "1 March 2024"})
    run = workspace.run(REFERENCES)
    workspace.write("parsers.py", ISO)
    found, column = redecoded(workspace, run, code=1)
    (one,) = column["regressions"]
    assert (one["role"], one["raw"], one["turns"]) == ("reference", '"1 March 2024"', {"ok to broken_reference": 1})
    assert column["suppressed"] == "new run: rates are withheld, since there are broken references"
    assert column["of_error_bar"] is None
    assert found["new"]["redecoded_of"] == run.run.run_id


def test_a_reference_that_no_consumer_is_sent_is_none_of_its_strings(tmp_path):
    workspace, run = workspace_with(
        tmp_path, dict.fromkeys(CASES, "1 March 2024"), "from dateutil.parser import parse as day\n"
    )
    workspace.write(
        "parsers.py",
        "from dateutil.parser import parse\ndef day(text):\n    if '-' in text:\n        raise ValueError(text)\n"
        "    return parse(text)\n",
    )
    # References are typed: billing reads predictions alone, and all of them as before.
    _, column = redecoded(workspace, run)
    assert column["strings"] == {"same": 1, "finer": 0, "changed": 0, "lost": 0, "gained": 0, "never": 0}
    assert column["regressions"] == [] and column["counts"]["regressions"] == 0


def test_a_reference_belongs_to_the_consumer_that_decodes_it(tmp_path):
    spec = SPEC.replace('"typed"', '"billing"') + '[consumers.ledger]\nadapter = "python"\nreads.day = "parsers:day"\n'
    workspace = Workspace(tmp_path, spec, "from dateutil.parser import parse as day\n")
    workspace.table("references.csv", dict.fromkeys(CASES, "1 March 2024"))
    run = workspace.run(REFERENCES)
    workspace.write(
        "parsers.py", "from dateutil.parser import parse\ndef day(text):\n    return parse(text, yearfirst=True)\n"
    )
    columns = workspace.document("redecode", run.run.run_id, "--probe", "off")["columns"]
    assert [(one["consumer"], one["strings"]["same"]) for one in columns] == [("billing", 2), ("ledger", 1)]


def test_a_string_of_both_roles_is_one_string_and_a_row_for_each(tmp_path):
    workspace = Workspace(tmp_path, SPEC.replace('"typed"', '"each"'), "from dateutil.parser import parse as day\n")
    workspace.table("references.csv", REFERENCES | {"C-001": "2024-03-02"})
    run = workspace.run(REFERENCES)
    workspace.write(
        "parsers.py", "from dateutil.parser import parse\ndef day(text):\n    return parse(text, dayfirst=True)\n"
    )
    _, column = redecoded(workspace, run, "-o", "r.md", "-o", "r.csv", code=1)
    # Two strings, one of which stands on both sides; day first, dateutil reads both as days of other months.
    assert column["strings"] == {"same": 0, "finer": 0, "changed": 2, "lost": 0, "gained": 0, "never": 0}
    assert (column["counts"]["regressions"], column["rows"]["regressions"]) == (2, 3)
    assert sorted((one["raw"], one["role"]) for one in column["regressions"]) == [
        ('"2024-03-01"', "prediction"),
        ('"2024-03-01"', "reference"),
        ('"2024-03-02"', "reference"),
    ]
    page = (tmp_path / "r.md").read_text("utf-8")
    assert page.startswith("## days: 2 regressions"), page
    assert "| regression | role | before |" in page
    assert page.count("| prediction |") == 1 and page.count("| reference |") == 2
    with (tmp_path / "r.csv").open(newline="", encoding="utf-8") as file:
        assert [row["regressions"] for row in csv.DictReader(file)] == ["2"]


def test_nothing_changed_and_again_of_again(tmp_path):
    workspace, run = workspace_with(tmp_path, {"C-001": "x"})
    found, column = redecoded(workspace, run)
    assert (column["of_error_bar"], column["strings"]["same"], column["strings"]["never"]) == (0, 1, 1)
    assert found["instrument"] == []
    again = workspace.document("redecode", found["new"]["run_id"], "--probe", "off")
    assert again["old"]["redecoded_of"] == run.run.run_id
    assert again["new"]["redecoded_of"] == found["new"]["run_id"]
    ran = {run.run.run_id, found["new"]["run_id"], again["new"]["run_id"]}
    assert len(ran) == 3, "a redecoding never takes the place of the run that it reads"
    names = [path.name for path in sorted((tmp_path / ".auditor/runs" / again["new"]["run_id"] / "sources").iterdir())]
    assert names == ["000-predictions.csv", "001-references.csv", "audit.toml", "contract.json"]


def test_the_contract_of_the_run_is_kept_and_what_is_gone_is_named(tmp_path):
    spec = SPEC + 'reads.until = "parsers:day"\n[fields.until]\ntype = "date"\nreference = "typed"\n'
    spec += '[consumers.ledger]\nadapter = "python"\nreads.day = "parsers:day"\n'
    workspace = Workspace(tmp_path, spec)
    rows = {case: {"day": "2024-03-01", "until": "2025-03-01"} for case in CASES}
    workspace.table("references.csv", rows)
    run = workspace.run(rows)
    workspace.write(
        "audit.toml",
        SPEC.replace('type = "date"', 'type = "date"\ngrain = "month"') + "[environment]\nzone = 'Asia/Tokyo'\n",
    )
    found, column = redecoded(workspace, run, code=1)
    assert column["field"] == "day"
    assert [(one["field"], one["consumer"]) for one in found["only_old"]] == [
        ("day", "ledger"),
        ("until", "billing"),
    ]
    notes = "\n".join(found["notes"])
    assert "until: no consumer of audit.toml reads it any more" in notes
    assert "day: judged as the run was, grain day, and not as audit.toml has it now" in notes
    assert "decoded with the zone of the run, UTC" in notes


def test_who_takes_payloads_out_of_replies_stays_as_it_was(tmp_path):
    spec = SPEC.replace('"predictions.csv"', '"replies.jsonl"').replace(
        "[fields.day]", 'completion = "text"\nassume_finish = "stop"\npayload = "payloads:read"\n[fields.day]'
    )
    workspace = Workspace(tmp_path, spec)
    workspace.write("payloads.py", "import json\ndef read(text):\n    return json.loads(text.strip('#'))\n")
    workspace.table("references.csv", REFERENCES)
    lines = ({"case_id": case, "text": '#{"day": "2024-03-01"}#'} for case in CASES)
    workspace.write("replies.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    run = workspace.run()
    assert run.column("day", "billing").content_rate == 1
    (tmp_path / "payloads.py").unlink()
    found, column = redecoded(workspace, run)
    assert column["new"]["ok"] == 40
    assert auditor.load(found["new"]["run_id"], runs=tmp_path / ".auditor/runs").verdicts().fetchall()


def test_a_consumer_of_whole_payloads_that_is_new_does_not_disturb_the_others(tmp_path):
    workspace, run = workspace_with(tmp_path, {"C-001": "x", "C-002": "2024-03-02"})
    model = "import datetime\nfrom pydantic import BaseModel\nclass Row(BaseModel):\n    day: datetime.date\n"
    workspace.write("models.py", model)
    workspace.write(
        "audit.toml", SPEC + '[consumers.api]\nadapter = "pydantic"\nmodel = "models:Row"\nreceives = "json"\n'
    )
    found, column = redecoded(workspace, run)
    assert column["strings"] == {"same": 2, "finer": 0, "changed": 0, "lost": 0, "gained": 0, "never": 1}
    assert [one["consumer"] for one in found["only_new"]] == ["api"]


def test_reports_of_a_redecoding_and_errors(tmp_path):
    workspace, run = workspace_with(tmp_path, {"C-001": "<b>x</b>", "C-002": "1 March 2024"})
    workspace.write("parsers.py", "def day(text):\n    return text\n")
    done = workspace.auditor("redecode", run.run.run_id, "--probe", "off", "-o", "r.html", "-o", "r.md", "-o", "r.csv")
    assert done.exit_code == 1
    for page in (done.output, (tmp_path / "r.html").read_text("utf-8"), (tmp_path / "r.md").read_text("utf-8")):
        assert "regression" in page
        assert "2024-03-01" in page
    assert "<b>" not in (tmp_path / "r.html").read_text("utf-8")
    assert "regressions" in (tmp_path / "r.csv").read_text("utf-8")
    workspace.write("audit.toml", SPEC.replace("day", "until"))
    other = workspace.auditor("redecode", run.run.run_id)
    assert (other.exit_code, "no consumer reads a field of the run" in other.output) == (2, True)
    workspace.write("audit.toml", SPEC)
    shutil.rmtree(run.folder / "sources")
    damaged = workspace.auditor("redecode", run.run.run_id)
    assert (damaged.exit_code, "contract.json: cannot be read" in damaged.output) == (2, True)


def test_a_synonym_that_is_newly_rejected_is_no_junk_where_junk_becomes_a_category(tmp_path):
    spec = SPEC.replace("day", "cycle").replace('type = "date"', 'type = "category"')
    catch_all = "def cycle(text):\n    return {'monthly': 'monthly', 'per month': 'monthly'}.get(text, 'other')\n"
    workspace = Workspace(tmp_path, spec, catch_all)
    workspace.table("references.csv", dict.fromkeys(CASES, "monthly"), "cycle")
    workspace.table(
        "predictions.csv", dict.fromkeys(CASES, "monthly") | {"C-001": "per month", "C-002": "N/A"}, "cycle"
    )
    run = workspace.run()
    assert "sentinel-collapse" in [finding.code for finding in run.findings]
    workspace.write("parsers.py", "def cycle(text):\n    return {'monthly': 'monthly'}[text]\n")
    _, column = redecoded(workspace, run, code=1)
    assert [(one["raw"], one["why"]) for one in column["regressions"]] == [
        ('"per month"', "no longer accepted, and right for a consumer")
    ]
    assert [one["raw"] for one in column["intended"]] == ['"N/A"']
