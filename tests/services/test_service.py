"""The service as a process, on runs of real audits: what it answers, to whom, and under which name."""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from tests.services.serving import MARKUP, Served, audit, auditor, make_workspace, served

AUDIT, PAID, BILLING = f"payments {MARKUP}", f"paid {MARKUP}", f"billing {MARKUP}"
CLOSED = "20 of 30 blocked, more than 20 %"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Audit on two days alike, and on a third with two thirds of the predictions missing: the gate is closed."""
    folder = make_workspace(tmp_path_factory.mktemp("service") / "workspace")
    audit(folder, 1)
    audit(folder, 2)
    audit(make_workspace(folder, blocked=20), 3)
    return folder


@pytest.fixture(scope="module")
def service(workspace: Path) -> Iterator[Served]:
    with served(workspace) as found:
        yield found


def runs_of(folder: Path) -> list[Path]:
    """Give the folders of runs, oldest first."""
    return sorted((folder / ".auditor" / "runs").iterdir())


def problem(answer: object, status: int) -> str:
    """Check that an answer is the document of a problem; gives its detail."""
    assert answer.status == status  # type: ignore[attr-defined]
    assert answer.headers["content-type"] == "application/problem+json"  # type: ignore[attr-defined]
    body = answer.json  # type: ignore[attr-defined]
    assert (body["status"], body["request_id"]) == (status, answer.headers["x-request-id"])  # type: ignore[attr-defined]
    return str(body["detail"])


def test_runs_are_listed_and_paged(service: Served, workspace: Path) -> None:
    first = service.get("/api/v1/runs?limit=2").json
    second = service.get(f"/api/v1/runs?limit=2&after={first['next']}").json
    listed = [one["run_id"] for one in first["runs"] + second["runs"]]
    assert listed == [folder.name for folder in reversed(runs_of(workspace))]
    assert second["next"] is None
    assert [one["gate"]["open"] for one in first["runs"] + second["runs"]] == [False, True, True]
    assert first["runs"][0]["gate"]["reason"] == CLOSED
    assert (first["runs"][0]["expected"], first["runs"][0]["judged"]) == (30, 10)


def test_runs_are_filtered_by_audit_and_time(service: Served) -> None:
    def days(query: str) -> list[str]:
        return [one["created_at"][:10] for one in service.get(f"/api/v1/runs?{query}").json["runs"]]

    assert days(f"audit={quote(AUDIT)}") == ["2024-03-03", "2024-03-02", "2024-03-01"]
    assert days("audit=another") == []
    assert days("since=2024-03-02T00:00:00Z") == ["2024-03-03", "2024-03-02"]
    assert days("since=2024-03-02T01:30:00%2B01:00&until=2024-03-02T12:00:00Z") == []
    assert days("until=2024-03-01T01:00:00%2B01:00") == ["2024-03-01"]


def test_a_run_is_the_bytes_that_are_stored(service: Served, workspace: Path) -> None:
    for folder in runs_of(workspace):
        answer = service.get(f"/api/v1/runs/{folder.name}/run.json")
        assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
        assert answer.body == (folder / "run.json").read_bytes()


def test_columns_have_the_figures_of_the_parsers(service: Served, workspace: Path) -> None:
    """Billing refuses the ten dates that are no ISO; the ledger takes markup for a yes, which is wrong three times."""
    columns = service.get(f"/api/v1/columns?run={runs_of(workspace)[1].name}").json["columns"]
    found = {(one["field"], one["consumer"]): (one["verdicts"]["ok"], one["judged"], one["ceiling"]) for one in columns}
    assert found == {
        ("due", BILLING): (20, 30, pytest.approx(20 / 30)),
        ("due", "ledger"): (30, 30, 1.0),
        (PAID, BILLING): (24, 30, pytest.approx(24 / 30)),
        (PAID, "ledger"): (27, 30, 1.0),
    }


def test_columns_are_filtered_and_paged(service: Served, workspace: Path) -> None:
    run = runs_of(workspace)[1].name
    whole = service.get(f"/api/v1/columns?run={run}").json
    assert (len(whole["columns"]), whole["next"]) == (4, None)
    listed, after = [], ""
    while after is not None:
        page = service.get(f"/api/v1/columns?run={run}&limit=3{after and '&after=' + after}").json
        listed += page["columns"]
        after = page["next"]
    assert listed == whole["columns"]
    assert service.get("/api/v1/columns?split=dev").json["columns"] == []
    assert len(service.get(f"/api/v1/columns?run={run}&split=all&consumer=ledger&field=due").json["columns"]) == 1


def test_a_page_of_columns_goes_on_with_the_run_that_it_began_with(workspace: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(workspace, tmp_path / "copy")
    with served(folder) as service:
        first = service.get("/api/v1/columns?limit=1").json
        audit(folder, 5)
        second = service.get(f"/api/v1/columns?after={first['next']}").json
        names = {one["run_id"] for one in first["columns"] + second["columns"]}
        assert (names, len(second["columns"])) == ({runs_of(workspace)[-1].name}, 3)


def test_findings_are_those_of_the_run_with_filters_and_pages(service: Served, workspace: Path) -> None:
    stored = json.loads((runs_of(workspace)[2] / "run.json").read_text())["findings"]
    listed, after = [], ""
    while after is not None:
        page = service.get(f"/api/v1/findings?limit=3{after and '&after=' + after}").json
        listed += page["findings"]
        after = page["next"]
    assert sorted(one["fingerprint"] for one in listed) == sorted(one["fingerprint"] for one in stored)
    assert {one["state"] for one in listed} == {"new"}
    assert all(one["last_seen"] == runs_of(workspace)[2].name for one in listed)

    def found(query: str) -> set[str]:
        return {one["fingerprint"] for one in service.get(f"/api/v1/findings?{query}").json["findings"]}

    high = {one["fingerprint"] for one in stored if one["severity"] == "high"}
    assert found("severity=high") == high != set()
    assert found("field=due") == {one["fingerprint"] for one in stored if one["field"] == "due"} != set()
    assert found("consumer=ledger") == {one["fingerprint"] for one in stored if "ledger" in one["consumers"]} != set()
    assert found("code=format-ceiling") == {o["fingerprint"] for o in stored if o["code"] == "format-ceiling"} != set()
    assert found("state=known") == found("audit=another") == set()


def test_what_the_team_says_is_seen_at_once(service: Served, workspace: Path) -> None:
    name = service.get("/api/v1/findings?limit=1").json["findings"][0]["fingerprint"]
    said = ("--state", "known", "--until", "2999-12-31", "--reason", MARKUP)
    assert auditor(workspace, "findings", "accept", name, *said).returncode == 0
    [known] = service.get("/api/v1/findings?state=known").json["findings"]
    assert (known["fingerprint"], known["reason"], known["until"]) == (name, MARKUP, "2999-12-31")
    (workspace / "auditor-baseline.toml").write_text("[[[")
    assert "auditor-baseline.toml" in problem(service.get("/api/v1/findings"), 503)
    assert "auditor-baseline.toml" in service.get("/").text
    (workspace / "auditor-baseline.toml").unlink()
    assert service.get("/api/v1/findings?state=known").json["findings"] == []


def test_the_metrics_are_read_by_the_parser_of_openmetrics(service: Served, workspace: Path) -> None:
    answer = service.get("/metrics")
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    samples = [one for family in text_string_to_metric_families(answer.text) for one in family.samples]
    named = {(one.name, *sorted(one.labels.items())): one.value for one in samples}
    column = {"audit": AUDIT, "field": PAID, "consumer": BILLING, "split": "all", "arm": ""}
    assert named["auditor_support", *sorted(column.items())] == 30
    assert named["auditor_judged", *sorted(column.items())] == 10
    assert named["auditor_content_rate", *sorted(column.items())] == 0.8  # of the first ten, 5 and 10 are markup
    assert named["auditor_ceiling", *sorted(column.items())] == 0.8
    assert named["auditor_blocked", *sorted({**column, "class": "missing"}.items())] == 20
    assert named["auditor_gate_open", ("audit", AUDIT)] == 0
    stored = json.loads((runs_of(workspace)[2] / "run.json").read_text())["findings"]
    assert sum(one.value for one in samples if one.name == "auditor_findings") == len(stored)


def test_a_run_that_the_command_line_makes_appears_and_damage_is_named(workspace: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(workspace, tmp_path / "copy")
    with served(folder) as service:
        assert len(service.get("/api/v1/runs").json["runs"]) == 3
        audit(folder, 4)
        newest = runs_of(folder)[-1]
        assert service.get("/api/v1/runs").json["runs"][0]["run_id"] == newest.name
        assert newest.name in service.get("/").text
        whole = (newest / "run.json").read_text()
        (newest / "run.json").write_text(whole[:2000])
        (folder / ".auditor" / "runs" / "half").mkdir()
        (folder / ".auditor" / "runs" / ".partial-1-a").mkdir()
        listed = service.get("/api/v1/runs").json
        assert [one["run_id"] for one in listed["damaged"]] == [newest.name, "half"]
        assert len(listed["runs"]) == 3
        page = service.get("/")
        assert page.status == 200
        assert newest.name in page.text.split("Damaged runs")[1]
        assert service.get(f"/run?id={newest.name}").status == 409
        assert "damaged" in problem(service.get(f"/api/v1/runs/{newest.name}/run.json"), 409)
        # A run whose figures are whole, and whose evidence is not: it is in the trend, and its page says what is wrong.
        document = json.loads(whole)
        document["findings"][0]["witnesses"] = [{"raw": 1}]
        (newest / "run.json").write_text(json.dumps(document))
        assert service.get("/").status == 200
        assert "damaged" in service.get(f"/run?id={newest.name}").text
        (newest / "run.json").write_text(whole)
        assert service.get(f"/run?id={newest.name}").status == 200


def test_an_empty_workspace_is_served(tmp_path: Path) -> None:
    with served(tmp_path) as service:
        assert "No run yet" in service.get("/").text
        assert service.get("/api/v1/runs").json == {"runs": [], "next": None, "damaged": []}
        assert service.get("/metrics").text.endswith("# EOF\n")


def test_another_name_in_the_host_header_is_not_answered(service: Served) -> None:
    assert "--allow-host" in problem(service.get("/api/v1/runs", Host="evil.example"), 421)
    assert service.get("/", Host="evil.example:80").status == 421
    assert service.get("/", Host="localhost:1").status == 200
    assert service.get("/", Host="[::1]:99").status == 200
    assert service.get("/healthz", Host="10.0.0.7").status == 200


def test_every_answer_has_the_headers_of_a_closed_page(service: Served) -> None:
    for path in ("/", "/nowhere", "/api/v1/runs", "/metrics"):
        headers = service.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"
    assert service.get("/", X_Request_Id="of-ours.7").headers["x-request-id"] == "of-ours.7"
    assert service.get("/", X_Request_Id="a b<").headers["x-request-id"] != "a b<"


def test_the_log_is_json_without_values(service: Served) -> None:
    service.get(f"/field?audit={quote(AUDIT)}&field=due", X_Request_Id="logged-1")
    service.get("/secret-value-in-a-path", X_Request_Id="logged-2")
    for _ in range(100):  # a line is written once the answer is
        text = service.log.read_text()
        if "logged-1" in text and "logged-2" in text:
            break
        time.sleep(0.05)
    lines = {one.get("request_id"): one for one in map(json.loads, text.splitlines())}
    assert (lines["logged-1"]["route"], lines["logged-1"]["status"]) == ("/field", 200)
    assert (lines["logged-2"]["route"], lines["logged-2"]["status"]) == ("none", 404)
    assert "secret-value" not in text
    assert MARKUP not in text


def test_what_is_not_there_is_a_problem(service: Served) -> None:
    assert "no run nothing" in problem(service.get("/api/v1/runs/nothing"), 404)
    assert problem(service.get("/api/v1/runs/..%2f..%2fetc/run.json"), 404)
    assert "cursor" in problem(service.get("/api/v1/runs?after=!"), 404)
    assert "since" in problem(service.get("/api/v1/runs?since=yesterday"), 422)
    assert "limit" in problem(service.get("/api/v1/findings?limit=0"), 422)
    assert problem(service.get("/api/v1/runs", method="POST"), 405)
    for page in ("/nowhere", "/run?id=x", "/field?audit=x&field=y", "/consumer", f"/bug?audit={quote(AUDIT)}"):
        answer = service.get(page)
        assert (answer.status, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")


def test_tokens_open_the_door_and_are_kept_hashed(workspace: Path, tmp_path: Path) -> None:
    file = tmp_path / "tokens.json"
    made = auditor(workspace, "token", "new", "ci", "--role", "submit", "--token-file", str(file))
    secret = made.stdout.strip()
    assert made.returncode == 0
    assert len(secret) > 40
    assert secret not in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert auditor(workspace, "token", "new", "ci", "--token-file", str(file)).returncode == 2
    assert auditor(workspace, "token", "new", "a", "--role", "king", "--token-file", str(file)).returncode == 2
    with served(workspace, "--token-file", str(file)) as service:
        refused = service.get("/api/v1/runs")
        assert "Bearer" in refused.headers["www-authenticate"]
        assert problem(refused, 401)
        for path in ("/", "/metrics", "/openapi.json", "/api/v1/columns", "/nowhere"):
            assert service.get(path).status == 401
        assert service.get("/healthz").status == 200
        assert service.get("/", Authorization=f"Bearer {secret}").status == 200
        basic = base64.b64encode(f"anyone:{secret}".encode()).decode()
        assert service.get("/", Authorization=f"Basic {basic}").status == 200
        for wrong in (
            f"Bearer {secret}x",
            "Bearer ",
            "Bearer",
            f"Token {secret}",
            "Basic !",
            "Basic é".encode("latin1"),
        ):
            sent = wrong if isinstance(wrong, str) else wrong.decode("latin1")
            assert service.get("/", Authorization=sent).status == 401
        assert "submit  " in auditor(workspace, "token", "list", "--token-file", str(file)).stdout
        assert auditor(workspace, "token", "revoke", "ci", "--token-file", str(file)).returncode == 0
        assert service.get("/", Authorization=f"Bearer {secret}").status == 401
        file.unlink()
        assert service.get("/").status == 401, "a service that had tokens does not open when their file goes"
        file.write_text("{")
        assert problem(service.get("/api/v1/runs", Authorization=f"Bearer {secret}"), 503)
        assert secret not in service.log.read_text()


def test_it_listens_where_others_can_reach_it_with_a_token_only(workspace: Path, tmp_path: Path) -> None:
    file = tmp_path / "tokens.json"
    refused = auditor(workspace, "serve", "--host", "0.0.0.0", "--port", "0", "--token-file", str(file))
    assert refused.returncode == 2
    assert "auditor token new" in refused.stderr
    secret = auditor(workspace, "token", "new", "me", "--token-file", str(file)).stdout.strip()
    options = ("--host", "0.0.0.0", "--allow-host", "audits.example", "--token-file", str(file))
    with served(workspace, *options) as service:
        assert service.get("/", Authorization=f"Bearer {secret}").status == 200
        assert service.get("/", Authorization=f"Bearer {secret}", Host="Audits.example").status == 200
        assert service.get("/", Authorization=f"Bearer {secret}", Host="other.example").status == 421
        assert service.get("/").status == 401


def test_a_port_that_is_taken_is_an_error(workspace: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = auditor(workspace, "serve", "--port", str(taken.getsockname()[1]))
    assert done.returncode == 2
    assert "cannot be served" in done.stderr


@pytest.mark.parametrize("missing", ["fastapi", "prometheus_client", "sse_starlette", "uvicorn"])
def test_the_extra_is_named_where_it_is_missing(workspace: Path, tmp_path: Path, missing: str) -> None:
    (tmp_path / "sitecustomize.py").write_text(f"import sys\nsys.modules['{missing}'] = None\n")
    done = auditor(workspace, "serve", "--port", "0", PYTHONPATH=os.pathsep.join([str(tmp_path), os.getcwd()]))
    assert done.returncode == 2
    assert f"{missing} is not installed" in done.stderr
    assert "fidelity-auditor[service]" in done.stderr


def test_withheld_rates_cannot_be_worked_out_again(tmp_path: Path) -> None:
    folder = make_workspace(tmp_path / "withheld")
    references = folder / "references.csv"
    references.write_text(references.read_text().replace("1,due,2024-03-02\n", "1,due,junk\n", 1))
    assert auditor(folder, "run", "--probe", "off", "--quiet").returncode == 3
    with served(folder) as service:
        columns = service.get("/api/v1/columns").json["columns"]
        assert {(one["content_rate"], one["ceiling"], one["verdicts"], one["recoverable"]) for one in columns} == {
            (None, None, None, None)
        }
        figures = service.get("/metrics").text
        assert 'auditor_gate_open{audit="' in figures
        assert "auditor_content_rate{" not in figures
        assert "auditor_ceiling{" not in figures
        [run] = service.get("/api/v1/runs").json["runs"]
        bugs = service.get("/api/v1/findings").json["findings"]
        paths = ["/", f"/run?id={run['run_id']}", f"/field?audit={quote(AUDIT)}&field=due"]
        paths += [f"/consumer?audit={quote(AUDIT)}&consumer={quote(BILLING)}"]
        for path in paths:
            page = service.get(path)
            assert (page.status, "broken references" in page.text) == (200, True)
        for bug in bugs:
            assert service.get(f"/bug?audit={quote(AUDIT)}&fingerprint={bug['fingerprint']}").status == 200


ARMS = """
name = "arms"
[cases]
predictions = "records.csv"
references = "records.csv"
arm = "model"
[fields.total]
type = "decimal"
[consumers.billing]
adapter = "python"
reads.total = "decimal:Decimal"
"""


def test_each_arm_is_a_row_and_a_series_of_its_own(tmp_path: Path) -> None:
    """Of two models one is right ten times, the other never: nowhere is one shown as the other, or both as one."""
    lines = [f"{case},total,{right},1.5,{arm}" for arm, right in (("old", 2), ("new", 1.5)) for case in range(10)]
    (tmp_path / "records.csv").write_text("\n".join(["case_id,field,prediction,reference,model", *lines]) + "\n")
    (tmp_path / "audit.toml").write_text(ARMS)
    for _ in range(2):
        assert auditor(tmp_path, "run", "--probe", "off", "--fail-on", "never").returncode == 0
        time.sleep(1.1)  # a run is named by its second
    with served(tmp_path) as service:
        rates = {one["arm"]: one["content_rate"] for one in service.get("/api/v1/columns").json["columns"]}
        assert [one["arm"] for one in service.get("/api/v1/columns?arm=new").json["columns"]] == ["new"]
        assert service.get("/api/v1/columns?arm=none").json["columns"] == []
        assert service.get("/api/v1/findings?arm=none").json["findings"] == []
        samples = [
            one for family in text_string_to_metric_families(service.get("/metrics").text) for one in family.samples
        ]
        overview, field = service.get("/").text, service.get("/field?audit=arms&field=total").text
        consumer = service.get("/consumer?audit=arms&consumer=billing").text
    assert rates == {"old": 0.0, "new": 1.0}
    assert {one.labels["arm"]: one.value for one in samples if one.name == "auditor_content_rate"} == rates
    for page in (overview, field, consumer):
        assert "total · arm old" in page and "total · arm new" in page
    assert "not read" not in overview
    for trend in ("0.0 → 0.0 over 2 runs", "100.0 → 100.0 over 2 runs"):
        assert trend in overview and trend in field
