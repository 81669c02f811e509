"""Predictions that are submitted: what comes of them, what is refused, and what is left of it."""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.services.serving import MARKUP, auditor, make_workspace, served
from tests.services.submitting import AUDIT, QUICK, SUBMISSIONS, Client, predictions, right_dates, runs_of, token


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_workspace(tmp_path_factory.mktemp("submitted") / "workspace")


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with a file that nobody may name, and one below it that the operator allows."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "secret.csv").write_text(predictions(30))
    (folder / "allowed").mkdir()
    return folder


@pytest.fixture(scope="module")
def client(workspace: Path, outside: Path) -> Iterator[Client]:
    secret = token(workspace)
    with served(workspace, *QUICK, "--max-upload", "100 KB", "--allow-path", str(outside / "allowed")) as service:
        yield Client(service, secret)


def left(folder: Path) -> set[str]:
    """Name what is in the folder of the jobs, but for the jobs and the locks."""
    names = {path.name for path in (folder / ".auditor" / "jobs").iterdir()}
    return {name for name in names if name.startswith(".") and not name.startswith((".equal-", ".dispatch"))}


def test_a_submission_is_audited_against_the_references_of_the_operator(client: Client, workspace: Path) -> None:
    answer = client.submit(predictions(12))
    assert (answer.status, answer.json["state"] in ("queued", "running"), answer.json["by"]) == (202, True, "ci")
    job_id = answer.json["job_id"]
    assert answer.headers["location"] == f"/api/v1/jobs/{job_id}"
    events = client.events(job_id)
    job = client.job(job_id)
    assert (job["state"], job["reused"], job["audit"]) == ("done", False, AUDIT)
    document = client.get(f"/api/v1/runs/{job['run_id']}/run.json")
    assert document.body == (workspace / ".auditor" / "runs" / job["run_id"] / "run.json").read_bytes()
    # Of the other 18 dates, which are all the first of March, those of cases 18 and 27 are right, too.
    assert right_dates(document.json) == 14
    assert [number for number, _, _ in events] == list(range(1, len(events) + 1))
    names = [name for _, name, _ in events]
    assert (names[0], names[1], names[2], names[-1]) == ("queued", "started", "cases", "done")
    told = {name: data for _, name, data in events}
    assert told["cases"] == {"expected": 30, "judged": 30}
    assert told["done"] == {"run_id": job["run_id"], "reused": False, "error": ""}
    # The ledger reads every raw value once: 9 dates, and the two words of the other field.
    read = [data for _, name, data in events if name == "progress" and data["consumer"] == "ledger"]
    assert read[-1] == {"consumer": "ledger", "done": 11, "total": 11}
    assert client.events(job_id, Last_Event_ID=str(len(events) - 1)) == events[-1:]
    nothing = client.get(f"/api/v1/jobs/{job_id}/events", Last_Event_ID=str(len(events)))
    assert (nothing.status, nothing.body) == (204, b"")
    assert {path.name for path in (workspace / ".auditor" / "jobs" / job_id).glob("predictions*")} == set()


def test_the_same_upload_twice_is_one_run_until_a_parser_changes(client: Client, workspace: Path) -> None:
    first = client.ended(client.submit(predictions(5)))
    before = runs_of(workspace)
    second = client.submit(predictions(5), "?wait=60")
    assert second.status == 200
    assert (second.json["state"], second.json["reused"], second.json["run_id"]) == ("done", True, first["run_id"])
    assert runs_of(workspace) == before
    parsers = workspace / "ledger" / "parsers.py"
    text = parsers.read_text()
    parsers.write_text(text + "\nNEW = 1\n")
    try:
        third = client.ended(client.submit(predictions(5)))
        assert (third["reused"], third["run_id"] != first["run_id"]) == (False, True)
    finally:
        parsers.write_text(text)
    time.sleep(1.1)  # a run is named by its second
    forced = client.ended(client.submit(predictions(5), "?again=true"))
    assert (forced["reused"], len(runs_of(workspace))) == (False, len(before) + 2)


MOVED = (
    ("references.csv", "30,due,2024-03-04", "30,due,2024-03-05"),
    ("audit.toml", 'type = "date"', 'type = "date"\ngrain = "month"'),
)


def test_references_that_moved_or_a_spec_that_did_are_another_run(client: Client, workspace: Path) -> None:
    first = client.ended(client.submit(predictions(6)))
    for name, old, new in MOVED:
        path = workspace / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
        try:
            other = client.ended(client.submit(predictions(6)))
        finally:
            path.write_text(text)
        assert (other["state"], other["reused"], other["run_id"] != first["run_id"]) == ("done", False, True)
    again = client.ended(client.submit(predictions(6)))
    assert (again["reused"], again["run_id"]) == (True, first["run_id"])


def test_a_run_that_was_damaged_is_made_anew(client: Client, workspace: Path) -> None:
    first = client.ended(client.submit(predictions(7)))
    (workspace / ".auditor" / "runs" / first["run_id"] / "outcomes.parquet").unlink()
    second = client.ended(client.submit(predictions(7)))
    assert (second["state"], second["reused"]) == ("done", False)
    path = workspace / ".auditor" / "runs" / second["run_id"] / "run.json"
    path.write_text(path.read_text()[:2000])
    third = client.ended(client.submit(predictions(7)))
    assert (third["state"], third["reused"]) == ("done", False)
    assert client.ended(client.submit(predictions(7)))["run_id"] == third["run_id"]


#: A consumer that imports a module only when it reads a certain string.
_LATE = """
def due(text):
    from ledger import rules
    return rules.due(text)

def paid(text):
    return text == "true"
"""


def test_a_module_that_is_imported_with_the_strings_counts(client: Client, workspace: Path) -> None:
    """What its version does not say at the start: the module is another one, and the run is not that of before."""
    parsers, rules = workspace / "ledger" / "parsers.py", workspace / "ledger" / "rules.py"
    text = parsers.read_text()
    spec = (workspace / "audit.toml").read_text()
    # Without a root of its own nothing but the version and what is imported tells that it is another one.
    before, _, after = spec.partition('root = "ledger"\n')
    (workspace / "audit.toml").write_text(before + after.replace('"parsers:', '"ledger.parsers:'))
    try:
        parsers.write_text(_LATE)
        rules.write_text("from datetime import date\ndue = date.fromisoformat\n")
        first = client.ended(client.submit(predictions(8)))
        assert first["state"] == "done", first["error"]
        assert client.ended(client.submit(predictions(8)))["run_id"] == first["run_id"]
        rules.write_text("from datetime import date\ndef due(text): return date(2024, 1, 1)\n")
        other = client.ended(client.submit(predictions(8)))
    finally:
        parsers.write_text(text)
        rules.unlink()
        (workspace / "audit.toml").write_text(spec)
    assert (other["state"], other["reused"]) == ("done", False)


def test_lines_of_json_and_parquet_are_taken(client: Client) -> None:
    rows = [line.split(",") for line in predictions(9).splitlines()[1:]]
    table = [{"case_id": one[0], "field": one[1].strip('"'), "prediction": one[2]} for one in rows]
    lines = "".join(json.dumps(one) + "\n" for one in table)
    out = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(table), out)
    for data, kind in (
        (lines.encode(), "application/x-ndjson"),
        (lines.encode(), "application/jsonl; charset=utf-8"),
        (out.getvalue().to_pybytes(), "application/vnd.apache.parquet"),
    ):
        job = client.ended(client.submit(data, kind=kind))
        assert job["state"] == "done", job["error"]
        document = client.get(f"/api/v1/runs/{job['run_id']}/run.json").json
        # Of the others, those of cases 9, 18 and 27 are the first of March; 9 is right anyway.
        assert right_dates(document) == 11


def test_what_cannot_be_read_is_a_job_that_failed_and_no_run(client: Client, workspace: Path) -> None:
    before = runs_of(workspace)
    job = client.ended(client.submit("case_id,field,prediction\n1,due,2024-03-02,2024-03-03,x\n"))
    assert (job["state"], job["run_id"], job["exit_code"]) == ("failed", None, 2)
    assert "predictions.csv" in job["error"]
    assert [name for _, name, _ in client.events(job["job_id"])][-1] == "failed"
    empty = client.ended(client.submit(b""))
    assert (empty["state"], "the file is empty" in empty["error"]) == ("failed", True)
    assert client.ended(client.submit(b"PAR1 no parquet PAR1", kind="application/x-parquet"))["state"] == "failed"
    assert runs_of(workspace) == before


def test_what_is_too_long_is_refused_and_leaves_nothing(client: Client, workspace: Path) -> None:
    jobs = len(client.get("/api/v1/jobs?limit=200").json["jobs"])
    said = client.submit(b"x" * 100_001)
    assert (said.status, "--max-upload" in said.json["detail"]) == (413, True)

    def pieces() -> Iterator[bytes]:
        for _ in range(101):
            yield b"x" * 1000

    unsaid = client.service.send(SUBMISSIONS, pieces(), **client.headers)
    assert unsaid.status == 413
    assert left(workspace) == set()
    assert len(client.get("/api/v1/jobs?limit=200").json["jobs"]) == jobs


def test_an_upload_that_breaks_off_leaves_nothing(client: Client, workspace: Path) -> None:
    jobs = len(client.get("/api/v1/jobs?limit=200").json["jobs"])
    host, port = client.service.address.removeprefix("http://").split(":")
    head = f"POST {SUBMISSIONS} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {client.secret}\r\n"
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(f"{head}Content-Type: text/csv\r\nContent-Length: 5000\r\n\r\ncase_id,field".encode())
        for _ in range(100):
            if left(workspace):
                break
            time.sleep(0.05)
        assert left(workspace)
    for _ in range(100):
        if not left(workspace):
            break
        time.sleep(0.05)
    assert left(workspace) == set()
    assert len(client.get("/api/v1/jobs?limit=200").json["jobs"]) == jobs


def test_only_a_bearer_who_may_submit_is_heard(client: Client, workspace: Path) -> None:
    reader = Client(client.service, token(workspace, "grafana", "read"))
    refused = reader.submit(predictions(1))
    assert (refused.status, "needs submit" in refused.json["detail"]) == (403, True)
    basic = client.service.send(
        SUBMISSIONS, b"x", Authorization="Basic " + base64.b64encode(f"x:{client.secret}".encode()).decode()
    )
    assert (basic.status, "Bearer" in basic.json["detail"]) == (401, True)
    assert client.service.send(SUBMISSIONS, b"x").status == 401
    listed = reader.get("/api/v1/audits").json["audits"]
    assert listed == [
        {"audit": AUDIT, "fields": [f"paid {MARKUP}", "due"], "consumers": [f"billing {MARKUP}", "ledger"]}
    ]


def test_what_no_audit_or_format_is_of_is_refused(client: Client) -> None:
    unknown = client.service.send("/api/v1/audits/other/submissions", b"x", **client.headers)
    assert (unknown.status, AUDIT.split()[0] in unknown.json["detail"]) == (404, True)
    assert client.submit(b"x", kind="application/x-www-form-urlencoded").status == 415
    packed = client.service.send(SUBMISSIONS, b"x", Content_Encoding="gzip", **client.headers)
    assert packed.status == 415
    assert client.submit(b"x", "?wait=61").status == 422


def test_a_file_is_named_only_below_what_the_operator_allows(client: Client, outside: Path, workspace: Path) -> None:
    allowed = outside / "allowed"
    (allowed / "good.csv").write_text(predictions(20))
    (allowed / "link.csv").symlink_to(outside / "secret.csv")
    (allowed / "folder.csv").mkdir(exist_ok=True)
    os.mkfifo(allowed / "pipe.csv")
    (allowed / "odd.exe").write_text("x")

    def send(path: object) -> tuple[int, str]:
        answer = client.service.post(SUBMISSIONS + "?wait=60", {"path": str(path)}, **client.headers)
        return answer.status, answer.json.get("detail") or answer.json["state"]

    assert send(allowed / "good.csv") == (200, "done")
    for path in (
        outside / "secret.csv",
        allowed / "link.csv",
        allowed / ".." / "secret.csv",
        outside / "nowhere.csv",
        f"{allowed}/a\0.csv",
        f"{allowed}-other/x.csv",
    ):
        status, said = send(path)
        assert (status, "--allow-path" in said) == (403, True), path
    assert send("good.csv") == (
        422,
        "path: Value error, name a file by its absolute path, with a suffix that tells its format: /srv/run.jsonl",
    )
    for path in (allowed / "nowhere.csv", allowed / "folder.csv", allowed / "pipe.csv", allowed / "odd.exe"):
        assert send(path)[0] == 422, path
    for body in ({"path": 1}, {"file": "x"}, {"path": str(allowed / "good.csv"), "command": "x"}, []):
        assert client.service.post(SUBMISSIONS, body, **client.headers).status == 422
    assert left(workspace) == set()


ONE_FILE = """
name = "one"
[cases]
predictions = "records.csv"
references = "records.csv"
[fields.total]
type = "decimal"
[consumers.billing]
adapter = "python"
reads.total = "decimal:Decimal"
"""


def test_of_a_spec_with_one_file_for_both_the_references_are_not_those_that_were_submitted(tmp_path: Path) -> None:
    """Whoever is judged brings no references: a file with a column of them is read for its predictions alone."""
    records = ["case_id,field,prediction,reference", *(f"{n},total,1,{n}" for n in range(1, 11))]
    (tmp_path / "records.csv").write_text("\n".join([*records, ""]))
    (tmp_path / "audit.toml").write_text(ONE_FILE)
    claimed = ["case_id,field,prediction,reference", *(f"{n},total,{n if n < 5 else 0},0" for n in range(1, 11))]
    plain = ["case_id,field,prediction", *(f"{n},total,{n if n < 5 else 0}" for n in range(1, 11))]
    secret = token(tmp_path)
    with served(tmp_path, *QUICK) as service:
        client = Client(service, secret)
        for lines in (claimed, plain):
            data = "\n".join([*lines, ""]).encode()
            answer = service.send("/api/v1/audits/one/submissions?wait=60", data, **client.headers)
            assert answer.json["state"] == "done", answer.json["error"]
            [column] = client.get(f"/api/v1/columns?run={answer.json['run_id']}").json["columns"]
            assert (column["verdicts"]["ok"], column["judged"]) == (4, 10)


def test_two_specs_of_one_name_are_an_error(workspace: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "audit.toml").write_text(ONE_FILE)
    both = auditor(workspace, "serve", "--audit", str(tmp_path / "a"), "--audit", str(tmp_path / "b"), "--port", "0")
    assert (both.returncode, "both named 'one'" in both.stderr) == (2, True)
    missing = auditor(workspace, "serve", "--audit", str(tmp_path / "c"), "--port", "0")
    assert (missing.returncode, "no such file" in missing.stderr) == (2, True)
    assert auditor(workspace, "serve", "--max-upload", "much", "--port", "0").returncode == 2
    assert auditor(workspace, "serve", "--allow-path", str(tmp_path / "d"), "--port", "0").returncode == 2


def test_a_spec_elsewhere_is_run_and_its_run_is_shown(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "audit.toml").write_text(ONE_FILE)
    (tmp_path / "records.csv").write_text("case_id,field,prediction,reference\n1,total,1,1\n")
    with served(workspace, *QUICK, "--audit", str(tmp_path)) as service:
        client = Client(service, token(workspace, "elsewhere"))
        assert [one["audit"] for one in client.get("/api/v1/audits").json["audits"]] == ["one"]
        assert client.submit("x").status == 404
        data = b"case_id,field,prediction\n1,total,1.0\n"
        job = service.send("/api/v1/audits/one/submissions?wait=60", data, **client.headers).json
        assert job["state"] == "done", job["error"]
        assert client.get(f"/api/v1/runs/{job['run_id']}").json["audit"] == "one"
        assert not (tmp_path / ".auditor" / "runs").exists()


def test_without_a_spec_nothing_can_be_submitted(tmp_path: Path) -> None:
    with served(tmp_path) as service:
        assert service.get("/api/v1/audits").json == {"audits": []}
        assert "no audit can be submitted to" in service.log.read_text()


def test_a_queue_that_cannot_be_written_is_told_and_comes_back(tmp_path: Path) -> None:
    """Whoever we are, no folder can be made where a file is."""
    folder = make_workspace(tmp_path / "workspace")
    client_token = token(folder)
    with served(folder, *QUICK) as service:
        client = Client(service, client_token)
        jobs = folder / ".auditor" / "jobs"
        shutil.rmtree(jobs)
        jobs.write_text("")
        refused = client.submit(predictions(3))
        assert (refused.status, "cannot be written" in refused.json["detail"]) == (503, True)
        assert (client.get("/api/v1/jobs").status, client.get("/").status) == (503, 200)
        jobs.unlink()
        assert client.submit(predictions(3)).status == 202
