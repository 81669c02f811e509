"""The gate for pipelines says what the command line says, and why."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from tests.services.serving import Answer, Served, auditor, make_workspace, served
from tests.services.submitting import AUDIT, QUICK, SUBMISSIONS, Client, predictions, runs_of, token

GATE = f"/api/v1/gates/{quote(AUDIT)}"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a workspace whose billing asks for more right dates than there are, in runs of three days."""
    folder = make_workspace(tmp_path_factory.mktemp("gates") / "workspace")
    for day, blocked in ((1, 0), (2, 20), (3, 0)):
        run(make_workspace(folder, blocked=blocked), day, "--fail-on", "never")
    return folder


@pytest.fixture(scope="module")
def service(workspace: Path) -> Iterator[Served]:
    with served(workspace, *QUICK) as found:
        yield found


def run(folder: Path, day: int, *options: str) -> int:
    epoch = str(1709251200 + 86400 * (day - 1))
    return auditor(folder, "run", "--quiet", *QUICK, *options, SOURCE_DATE_EPOCH=epoch).returncode


def ask(service: Served, **wanted: Any) -> Answer:
    return service.post(GATE, wanted)


def kinds(answer: Any, *, fails: bool) -> set[str]:
    return {one["kind"] for one in answer["reasons"] if one["fails"] is fails}


@pytest.mark.parametrize("fail_on", ["high", "medium", "low", "never"])
def test_the_verdict_is_that_of_the_command_line(service: Served, workspace: Path, fail_on: str) -> None:
    found = ask(service, fail_on=fail_on).json
    expected = run(shutil.copytree(workspace, workspace.parent / f"copy-{fail_on}"), 3, "--fail-on", fail_on)
    assert (found["exit_code"], found["verdict"]) == (expected, "pass" if expected == 0 else "fail")
    stored = json.loads((runs_of(workspace)[-1] / "run.json").read_text())["findings"]
    severe = {"high": ("high",), "medium": ("high", "medium"), "low": ("high", "medium", "low"), "never": ()}[fail_on]
    failing = {one["fingerprint"] for one in stored if one["severity"] in severe}
    assert {one["fingerprint"] for one in found["findings"]} == failing
    assert found["run_id"] == runs_of(workspace)[-1].name
    assert found["created_at"] == "2024-03-03T00:00:00+00:00"
    assert found["age"] > 86400


def test_without_a_body_it_is_the_latest_run_and_the_default_of_the_command_line(service: Served) -> None:
    found = service.send(GATE, b"", "application/json")
    assert (found.status, found.json["exit_code"], found.json["verdict"]) == (200, 1, "fail")
    assert found.json["findings"][0]["state"] == "new"
    assert {one["severity"] for one in found.json["findings"]} == {"high"}


def test_what_the_team_knows_passes_until_its_last_day(tmp_path: Path) -> None:
    folder = make_workspace(tmp_path / "workspace")
    run(folder, 1)
    said = ("--state", "known", "--until", "2999-12-31", "--reason", "waits")
    assert auditor(folder, "findings", "accept", "all", *said).returncode == 0
    baseline = folder / "auditor-baseline.toml"
    accepted = baseline.read_text()
    for until, codes in (("2024-03-01", (0, 0, 1)), ("2024-02-28", (1, 1, 1)), ("2999-12-31", (0, 0, 0))):
        baseline.write_text(accepted.replace("2999-12-31", until))
        with served(folder, *QUICK) as service:
            as_run, as_today = ask(service).json, ask(service, as_of="today").json
        assert (run(folder, 1), as_run["exit_code"], as_today["exit_code"]) == codes, until
        assert ("expired" in kinds(as_run, fails=False)) is (until == "2024-03-01")


def test_it_says_why_and_what_else_is_to_be_known(service: Served, workspace: Path) -> None:
    closed = runs_of(workspace)[1].name
    found = ask(service, run=closed, fail_on="never").json
    assert (found["run_id"], found["verdict"]) == (closed, "pass")
    assert kinds(found, fails=False) == {"content_gate", "blocked"}
    assert found["content_gate"]["open"] is False
    assert (found["expected"], found["judged"]) == (30, 10)
    old = ask(service, fail_on="never", max_age=3600).json
    assert (old["verdict"], old["exit_code"], kinds(old, fails=True)) == ("fail", 0, {"age"})
    assert ask(service, fail_on="never", max_age=10**9).json["verdict"] == "pass"


def test_a_threshold_that_is_not_met_fails(tmp_path: Path) -> None:
    folder = make_workspace(tmp_path / "workspace")
    spec = folder / "audit.toml"
    spec.write_text(spec.read_text().replace('root = "ledger"', 'root = "ledger"\nat_least.due = 1.0'))
    (folder / "predictions.csv").write_text(predictions(12, "2024-03-31"))
    code = run(folder, 1)
    with served(folder, *QUICK) as service:
        found = ask(service).json
        assert (found["exit_code"], code, "at_least" in kinds(found, fails=True)) == (1, 1, True)
        [short] = [one["text"] for one in found["reasons"] if one["kind"] == "at_least"]
        assert "40.0 % right, at least 100.0 % are asked for" in short
        assert ask(service, fail_on="never").json["verdict"] == "pass"


def test_broken_references_fail_whatever_is_asked(tmp_path: Path) -> None:
    folder = make_workspace(tmp_path / "workspace")
    references = folder / "references.csv"
    references.write_text(references.read_text().replace("1,due,2024-03-02\n", "1,due,junk\n", 1))
    code = run(folder, 1, "--fail-on", "never")
    with served(folder, *QUICK) as service:
        found = ask(service, fail_on="never").json
        assert (found["exit_code"], code, found["verdict"]) == (3, 3, "fail")
        assert kinds(found, fails=True) == {"broken_references"}
        time.sleep(1.1)
        assert run(folder, 2, "--fail-on", "never", "--broken-references", "report") == 0
        later = ask(service, fail_on="never").json
        assert (later["exit_code"], later["verdict"]) == (0, "pass")
        assert "broken_references" in kinds(later, fails=False)


def test_no_run_passes_in_the_place_of_one_that_cannot_be_read(workspace: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(workspace, tmp_path / "copy")
    newest = runs_of(folder)[-1]
    whole = (newest / "run.json").read_text()
    (newest / "run.json").write_text(whole[:3000])
    with served(folder, *QUICK) as service:
        found = ask(service, fail_on="never").json
        assert (found["verdict"], kinds(found, fails=True)) == ("fail", {"damaged"})
        assert ask(service, fail_on="never", run=runs_of(folder)[0].name).json["verdict"] == "pass"
        assert ask(service, run=newest.name).status == 409
        document = json.loads(whole)
        document["columns"][0].pop("judged")
        (newest / "run.json").write_text(json.dumps(document))
        assert ask(service).json["verdict"] == "fail"


def test_old_replies_that_were_decoded_again_are_not_the_latest_run(workspace: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(workspace, tmp_path / "copy")
    latest = runs_of(folder)[-1].name
    first = runs_of(folder)[0].name
    assert auditor(folder, "redecode", first, "--quiet", *QUICK).returncode == 0
    [redecoded] = {one.name for one in runs_of(folder)} - {one.name for one in runs_of(workspace)}
    with served(folder, *QUICK) as service:
        assert ask(service).json["run_id"] == latest
        assert ask(service, run=redecoded).json["run_id"] == redecoded
        # Pages, figures and commands mean the same run.
        for path in ("columns", "findings"):
            assert {one["run_id"] for one in service.get(f"/api/v1/{path}").json[path]} == {latest}
            named = service.get(f"/api/v1/{path}?run={redecoded}").json[path]
            assert {one["run_id"] for one in named} == {redecoded}
        listed = {one["run_id"]: one["redecoded_of"] for one in service.get("/api/v1/runs").json["runs"]}
        assert {name: of for name, of in listed.items() if of} == {redecoded: first}
        made = json.loads((folder / ".auditor" / "runs" / latest / "run.json").read_text())["created_at"]
        [family] = [
            one
            for one in text_string_to_metric_families(service.get("/metrics").text)
            if one.name == "auditor_run_created_timestamp_seconds"
        ]
        assert [one.value for one in family.samples] == [datetime.fromisoformat(made).timestamp()]
        overview = service.get("/").text
        assert f"decodes {first} again: no point of the trend" in overview
        assert "over 2 runs, 1 incident" in overview
        for page in ("/bugs", f"/run?id={redecoded}", "/runs", "/drift", "/what-if"):
            assert service.get(page).status == 200
    assert latest in auditor(folder, "report", "latest").stdout
    assert f"last in {latest}" in auditor(folder, "findings", "show", _anchor(folder)).stdout
    for one in runs_of(workspace):
        shutil.rmtree(folder / ".auditor" / "runs" / one.name)
    with served(folder, *QUICK) as service:
        assert "has no run that could be shown as its latest" in service.get("/").text
        assert (service.get("/bugs").status, service.get("/metrics").status, ask(service).status) == (200, 200, 404)
    alone = auditor(folder, "report", "latest")
    assert (alone.returncode, "named by their ids" in alone.stderr) == (2, True)


@pytest.mark.parametrize("name", ["two\\nlines", "ends with one\\n", "a/b", "100 %41", "?x=#y", "..", "\\\\"])
def test_an_audit_of_any_name_has_a_gate_and_takes_submissions(workspace: Path, tmp_path: Path, name: str) -> None:
    folder = shutil.copytree(workspace, tmp_path / "copy")
    spec = folder / "audit.toml"
    spec.write_text(spec.read_text().replace(f'name = "{AUDIT}"', f'name = "{name}"'))
    assert run(folder, 9, "--fail-on", "never") == 0
    secret = token(folder)
    with served(folder, *QUICK) as service:
        headers = {"Authorization": f"Bearer {secret}"}
        [listed] = service.get("/api/v1/audits", **headers).json["audits"]
        path = quote(listed["audit"], safe="")
        assert service.post(f"/api/v1/gates/{path}", {}, **headers).json["run_id"] == runs_of(folder)[-1].name
        sent = service.send(f"/api/v1/audits/{path}/submissions", predictions(4).encode(), **headers)
        assert (sent.status, sent.json["audit"]) == (202, listed["audit"])
        tried = service.post(f"/api/v1/audits/{path}/read", {"field": "nope", "values": ["x"]}, **headers)
        assert (tried.status, "there is no field nope" in tried.json["detail"]) == (404, True)


def _anchor(folder: Path) -> str:
    """Give the anchor of a bug, as the list of them has it."""
    return auditor(folder, "findings", "list").stdout.split()[2]


def test_the_run_of_a_job_is_waited_for(service: Served, workspace: Path) -> None:
    client = Client(service, token(workspace))
    with_headers = client.headers
    job = client.submit(predictions(30)).json["job_id"]
    found = service.post(GATE, {"job": job, "wait": 60}, **with_headers)
    assert (found.status, found.json["job_id"]) == (200, job)
    assert found.json["run_id"] == client.job(job)["run_id"]
    assert found.json["age"] < 3600
    broken = service.send(SUBMISSIONS + "?wait=60", b"nothing of use\n1\n", **with_headers).json
    assert broken["state"] == "failed"
    refused = service.post(GATE, {"job": broken["job_id"], "fail_on": "never"}, **with_headers).json
    assert (refused["verdict"], refused["exit_code"], refused["run_id"]) == ("fail", 2, None)
    assert kinds(refused, fails=True) == {"no_run"}
    assert service.post("/api/v1/gates/other", {"job": job}, **with_headers).status == 404
    assert service.post(GATE, {"job": "nothing"}, **with_headers).status == 404
    assert service.post(GATE, {"job": job, "run": "x"}, **with_headers).status == 409
    assert service.post(GATE, {"fail_on": "often"}, **with_headers).status == 422
    assert service.post(GATE, {"run": "nothing"}, **with_headers).status == 404
    assert service.post("/api/v1/gates/other", {}, **with_headers).status == 404
