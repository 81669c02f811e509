"""Strings and pairs of runs over HTTP: the same that the command line gives."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.services.serving import MARKUP, Served, auditor, make_workspace, served
from tests.services.submitting import AUDIT, QUICK, Client, predictions, runs_of, token

READ = f"/api/v1/audits/{quote(AUDIT)}/read"
BILLING = f"billing {MARKUP}"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Audit twice the same cases, and then others."""
    folder = make_workspace(tmp_path_factory.mktemp("read") / "workspace")
    for day, right in ((1, 30), (2, 12)):
        (folder / "predictions.csv").write_text(predictions(right, "2024-03-31"))
        run(folder, day)
    references = folder / "references.csv"
    whole = references.read_text()
    references.write_text(whole.replace("30,due,2024-03-04\n", ""))
    run(folder, 3)
    references.write_text(whole)
    return folder


def run(folder: Path, day: int) -> None:
    epoch = str(1709251200 + 86400 * (day - 1))
    assert auditor(folder, "run", "-q", *QUICK, "--fail-on", "never", SOURCE_DATE_EPOCH=epoch).returncode == 0


@pytest.fixture(scope="module")
def service(workspace: Path) -> Iterator[Served]:
    with served(workspace, *QUICK) as found:
        yield found


@pytest.fixture(scope="module")
def client(service: Served, workspace: Path) -> Client:
    return Client(service, token(workspace))


def test_drift_is_the_document_of_the_command_line(client: Client, workspace: Path, tmp_path: Path) -> None:
    old, new, other = (one.name for one in runs_of(workspace))
    for query, options in (("", ()), ("&split=true", ("--split",)), ("&common=true", ("--common",))):
        out = tmp_path / "drift.json"
        assert auditor(workspace, "drift", old, new, "-q", "-o", str(out), *options).returncode == 0
        answer = client.get(f"/api/v1/drift?old={old}&new={new}{query}")
        assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
        assert answer.body == out.read_bytes()
    [due] = [one for one in answer.json["columns"] if (one["field"], one["consumer"]) == ("due", "ledger")]
    assert (due["old"]["ok"], due["new"]["ok"], due["drop"]) == (30, 12, True)
    refused = client.get(f"/api/v1/drift?old={old}&new={other}")
    assert (refused.status, "not of the same cases" in refused.json["detail"]) == (409, True), refused.json["detail"]
    told = auditor(workspace, "drift", old, other)
    assert told.stderr.splitlines()[0].removeprefix("error: ") in refused.json["detail"]
    shared = client.get(f"/api/v1/drift?old={old}&new={other}&common=true")
    assert (shared.status, shared.json["same_manifest"]) == (200, False)
    assert client.get(f"/api/v1/drift?old={old}&new=nothing").status == 404
    assert client.get(f"/api/v1/drift?old={old}").status == 422


def test_drift_names_a_run_whose_evidence_is_damaged(client: Client, workspace: Path) -> None:
    old, new, _ = runs_of(workspace)
    pairs = new / "pairs.parquet"
    data = pairs.read_bytes()
    pairs.write_bytes(data[:50])
    try:
        answer = client.get(f"/api/v1/drift?old={old.name}&new={new.name}")
        assert (answer.status, new.name in answer.json["detail"]) == (409, True)
    finally:
        pairs.write_bytes(data)


def test_every_consumer_reads_a_string(client: Client) -> None:
    answer = client.service.post(READ, {"field": "due", "values": ["31/12/2024", "2024-03-01"]}, **client.headers)
    assert answer.status == 200, answer.text
    first, second = answer.json["readings"]
    assert first["raw"] == '"31/12/2024"'
    assert (first["decodings"][BILLING]["status"], first["decodings"]["ledger"]["value"]) == (
        "rejected",
        "date:2024-12-31",
    )
    assert (first["agree"], second["agree"]) == (False, True)
    assert second["environments"]["ledger"] > 0
    assert second["dependences"] == {}
    texts = [{"json": text} for text in ("true", '"no\\u00e9\\n"', "3.0", "-1.50e3", "null")]
    values = {"field": f"paid {MARKUP}", "values": [*texts, "true"], "probe": "off"}
    raws = [one["raw"] for one in client.service.post(READ, values, **client.headers).json["readings"]]
    assert raws == ["true", '"no\\u00e9\\n"', "3.0", "-1.50e3", "null", '"true"']


def test_what_cannot_be_read_or_is_too_much_is_refused(client: Client, workspace: Path) -> None:
    def status(**body: object) -> int:
        return client.service.post(READ, {"field": "due", "values": ["x"], **body}, **client.headers).status

    assert status(field="nothing") == 404
    assert status(values=[]) == 422
    assert status(values=["x"] * 21) == 422
    assert status(values=["x" * 10_001]) == 422
    for text in ("{", "[" * 5000, "01", '"a', '"\n"', "NaN", "tru", "1\n"):
        assert status(values=[{"json": text}]) == 422, text
    assert status(command="rm") == 422
    assert status(values=["x" * 110_000] * 20) == 413
    assert client.service.post(READ, {"field": "due", "values": ["x"]}).status == 401
    reader = Client(client.service, token(workspace, "reader", "read"))
    assert client.service.post(READ, {"field": "due", "values": ["x"]}, **reader.headers).status == 403
    assert (
        client.service.post("/api/v1/audits/other/read", {"field": "due", "values": ["x"]}, **client.headers).status
        == 404
    )


def test_a_consumer_that_cannot_start_is_told_of(client: Client, workspace: Path) -> None:
    parsers = workspace / "ledger" / "parsers.py"
    text = parsers.read_text()
    parsers.write_text("import nothing_of_the_kind\n")
    try:
        answer = client.service.post(READ, {"field": "due", "values": ["x"]}, **client.headers)
    finally:
        parsers.write_text(text)
    assert (answer.status, "consumer ledger" in answer.json["detail"]) == (503, True)


def test_many_questions_at_once_are_answered_or_put_off(client: Client) -> None:
    """Two are answered at once and eight wait; pages are answered meanwhile."""

    def ask(number: int) -> int:
        body = {"field": "due", "values": [f"2024-03-{number + 1:02d}"], "probe": "off"}
        return client.service.post(READ, body, **client.headers).status

    with ThreadPoolExecutor(16) as pool:
        asked = [pool.submit(ask, number) for number in range(16)]
        time.sleep(0.3)
        assert client.get("/healthz").status == 200
        statuses = [one.result() for one in asked]
    assert set(statuses) == {200, 429}
    assert statuses.count(200) >= 10


def test_a_consumer_that_prints_changes_no_answer(client: Client, workspace: Path) -> None:
    parsers = workspace / "ledger" / "parsers.py"
    text = parsers.read_text()
    parsers.write_text(text + "\nprint('{', flush=True)\n")
    try:
        body = {"field": "due", "values": ["2024-03-01"], "probe": "off"}
        answer = client.service.post(READ, body, **client.headers)
    finally:
        parsers.write_text(text)
    assert answer.status == 200
    assert json.loads(answer.body)["readings"][0]["agree"] is True


def logged(service: Served, request_id: str) -> dict[str, object]:
    """Give the line of a request, which is written once it is answered."""
    for _ in range(100):
        for line in service.log.read_text().splitlines():
            told: dict[str, object] = json.loads(line)
            if told.get("request_id") == request_id:
                return told
        time.sleep(0.05)
    raise AssertionError(service.log.read_text())


def test_the_log_has_values_only_where_that_is_asked_for(client: Client, workspace: Path) -> None:
    body = {"field": "due", "values": ["2024-03-01", {"json": '"seen-7"'}], "probe": "off"}
    quiet = client.post(READ, body)
    assert quiet.status == 200 and "values" not in logged(client.service, quiet.headers["x-request-id"])
    assert "seen-7" not in client.service.log.read_text()
    with served(workspace, *QUICK, "--log-values") as service:
        loud = Client(service, client.secret)
        line = logged(service, loud.post(READ, body).headers["x-request-id"])
        assert (line["path"], line["query"], line["values"]) == (
            f"/api/v1/audits/{AUDIT}/read",
            "",
            ["2024-03-01", '"seen-7"'],
        )
        other = logged(service, loud.get("/field?audit=nothing&field=due").headers["x-request-id"])
        assert (other["path"], other["query"], "values" in other) == ("/field", "audit=nothing&field=due", False)
