"""Jobs that are cancelled, killed, and taken up again: each is done once or again, and never half."""

from __future__ import annotations

import json
import os
import signal
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.services.serving import Served, make_workspace, served, start
from tests.services.submitting import QUICK, Client, predictions, runs_of, token

_SLOW = """
import time
from datetime import date

def paid(text):
    return text == "true"

def due(text):
    time.sleep(float(open(__file__ + ".pause").read()))
    return date.fromisoformat(text)
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Give a workspace whose ledger takes its time with each date."""
    folder = make_workspace(tmp_path / "workspace")
    (folder / "ledger" / "parsers.py").write_text(_SLOW)
    pause(folder, 0.6)
    return folder


def pause(folder: Path, seconds: float) -> None:
    """Say how long a date takes."""
    (folder / "ledger" / "parsers.py.pause").write_text(str(seconds))


def wait_until(is_so: Callable[[], object], seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.05)


def worker_of(folder: Path, job_id: str) -> int | None:
    """Give the process of a job."""
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                command = Path(f"/proc/{name}/cmdline").read_bytes().decode().split("\0")
            except OSError:
                continue
            if "auditor.service.jobs.runner" in command and str(folder / ".auditor" / "jobs" / job_id) in command:
                return int(name)
    return None


def half_written(folder: Path) -> list[str]:
    """Name what is among the runs, and is none."""
    runs = folder / ".auditor" / "runs"
    return [path.name for path in runs.iterdir() if path.name.startswith(".")] if runs.exists() else []


def kill(service: Served) -> None:
    """Kill a service as a machine does that runs out of memory."""
    service.process.send_signal(signal.SIGKILL)
    service.process.wait()


@pytest.fixture
def client(workspace: Path) -> Iterator[Client]:
    secret = token(workspace)
    with served(workspace, *QUICK) as service:
        yield Client(service, secret)


def is_decoding(client: Client, job_id: str) -> bool:
    events = (client.service.log.parent / ".auditor" / "jobs" / job_id / "events.jsonl").read_text()
    return '"progress"' in events


def test_what_waits_and_what_runs_can_be_cancelled(client: Client, workspace: Path) -> None:
    running, waiting, last = (client.submit(predictions(n)).json["job_id"] for n in (1, 2, 3))
    wait_until(lambda: is_decoding(client, running))
    assert [client.job(one)["state"] for one in (running, waiting, last)] == ["running", "queued", "queued"]
    other = Client(client.service, token(workspace, "other"))
    assert other.post(f"/api/v1/jobs/{waiting}/cancel").status == 403
    admin = Client(client.service, token(workspace, "boss", "admin"))
    assert admin.post(f"/api/v1/jobs/{waiting}/cancel").status == 200
    assert client.job(waiting)["state"] == "cancelled"
    worker = worker_of(workspace, running)
    assert os.getpriority(os.PRIO_PROCESS, worker or 0) == 19
    session = Path(f"/proc/{worker}/autogroup")
    assert not session.exists() or session.read_text().endswith("nice 19\n")
    assert client.submit(predictions(1)).json["job_id"] == running, "what runs already is not taken twice"
    told = client.post(f"/api/v1/jobs/{running}/cancel")
    assert (told.status, told.json["state"], told.json["cancelling"]) == (202, "running", True)
    # The stream tells it, and ends.
    assert client.events(running)[-1][1] == "cancelled"
    assert [one["job_id"] for one in client.get("/api/v1/jobs?state=cancelled").json["jobs"]] == [waiting, running]
    assert client.post(f"/api/v1/jobs/{running}/cancel").status == 409
    wait_until(lambda: worker_of(workspace, running) is None)
    pause(workspace, 0)
    wait_until(lambda: client.job(last)["state"] == "done")
    assert [one.name for one in runs_of(workspace)] == [client.job(last)["run_id"]]
    assert client.get("/api/v1/jobs/nothing").status == 404


def test_a_stream_shows_that_it_is_alive_and_a_service_that_stops_ends_it(workspace: Path) -> None:
    secret = token(workspace)
    with served(workspace, *QUICK) as service:
        client = Client(service, secret)
        job_id = client.submit(predictions(1)).json["job_id"]
        wait_until(lambda: is_decoding(client, job_id))
        request = urllib.request.Request(service.address + f"/api/v1/jobs/{job_id}/events", headers=client.headers)
        stream = urllib.request.urlopen(request, timeout=30)
        lines = iter(stream.readline, b"")
        assert next(line for line in lines if line.startswith(b":")) == b": alive\n"
        service.process.send_signal(signal.SIGTERM)
        list(lines)
        stream.close()
    assert not (workspace / ".auditor" / "jobs" / job_id / "result.json").exists()
    pause(workspace, 0)
    with served(workspace, *QUICK) as service:
        again = Client(service, secret)
        wait_until(lambda: again.job(job_id)["state"] == "done")
        assert [name for _, name, _ in again.events(job_id)].count("started") == 2
    assert len(runs_of(workspace)) == 1


def test_a_job_outlives_a_kill_of_the_service_and_is_done_once(workspace: Path) -> None:
    secret = token(workspace)
    service = start(workspace, *QUICK)
    client = Client(service, secret)
    running, waiting = (client.submit(predictions(n)).json["job_id"] for n in (1, 2))
    wait_until(lambda: is_decoding(client, running))
    worker = worker_of(workspace, running)
    kill(service)
    assert worker_of(workspace, running) == worker
    with served(workspace, *QUICK) as second:
        client = Client(second, secret)
        assert [client.job(one)["state"] for one in (running, waiting)] == ["running", "queued"]
        time.sleep(1.5)  # a look at the queue: one at once is allowed, and one runs
        assert client.job(waiting)["state"] == "queued"
        pause(workspace, 0)
        wait_until(lambda: client.job(waiting)["state"] == "done")
        assert client.job(running)["state"] == "done"
        assert [name for _, name, _ in client.events(running)].count("started") == 1
        made = {client.job(one)["run_id"] for one in (running, waiting)}
    assert {one.name for one in runs_of(workspace)} == made
    assert len(made) == 2


def test_a_job_whose_process_is_killed_is_begun_again_but_not_for_ever(client: Client, workspace: Path) -> None:
    job_id = client.submit(predictions(1)).json["job_id"]
    for _ in range(3):
        wait_until(lambda: worker_of(workspace, job_id) and is_decoding(client, job_id))
        worker = worker_of(workspace, job_id)
        assert worker is not None
        os.kill(worker, signal.SIGKILL)
        wait_until(lambda worker=worker: worker_of(workspace, job_id) != worker)  # type: ignore[misc]
    job = client.ended(client.get(f"/api/v1/jobs/{job_id}"))
    assert (job["state"], "died 3 times" in job["error"]) == ("failed", True)
    assert (runs_of(workspace), half_written(workspace)) == ([], [])
    pause(workspace, 0)
    assert client.ended(client.submit(predictions(1)))["state"] == "done"


def test_a_run_whose_job_was_killed_before_it_could_say_so_is_found(workspace: Path) -> None:
    """What the disk holds after a kill between the run and the result: the run, and no result."""
    pause(workspace, 0)
    secret = token(workspace)
    with served(workspace, *QUICK) as service:
        job = Client(service, secret).ended(Client(service, secret).submit(predictions(1)))
    folder = workspace / ".auditor" / "jobs" / job["job_id"]
    (folder / "result.json").unlink()
    (folder / "predictions.csv").write_text(predictions(1))
    (folder / "events.jsonl").write_bytes((folder / "events.jsonl").read_bytes() + b'[99, "pro')
    with served(workspace, *QUICK) as service:
        client = Client(service, secret)
        wait_until(lambda: client.job(job["job_id"])["state"] == "done")
        assert client.job(job["job_id"])["run_id"] == job["run_id"]
        assert client.events(job["job_id"])[-1][1] == "done"
    assert [one.name for one in runs_of(workspace)] == [job["run_id"]]


def test_what_a_killed_upload_left_is_swept(workspace: Path) -> None:
    secret = token(workspace)
    with served(workspace, *QUICK) as service:
        Client(service, secret)
    jobs = workspace / ".auditor" / "jobs"
    (jobs / ".coming-1234").mkdir(parents=True)
    (jobs / ".coming-1234" / "predictions.csv").write_text("half")
    (jobs / ".coming-1234.lock").touch()
    with served(workspace, *QUICK):
        wait_until(lambda: not (jobs / ".coming-1234").exists() and not (jobs / ".coming-1234.lock").exists(), 10)


def test_a_job_of_an_audit_that_is_no_longer_configured_fails(workspace: Path) -> None:
    secret = token(workspace)
    service = start(workspace, *QUICK)
    client = Client(service, secret)
    running, waiting = (client.submit(predictions(n)).json["job_id"] for n in (1, 2))
    wait_until(lambda: is_decoding(client, running))
    kill(service)
    spec = workspace / "audit.toml"
    spec.write_text(spec.read_text().replace('name = "payments', 'name = "renamed', 1))
    pause(workspace, 0)
    with served(workspace, *QUICK) as second:
        client = Client(second, secret)
        wait_until(lambda: client.job(waiting)["finished_at"])
        assert "runs no audit" in client.job(waiting)["error"]
        assert client.job(running)["state"] == "done"


def test_the_log_of_the_service_names_jobs_and_no_values(client: Client, workspace: Path) -> None:
    pause(workspace, 0)
    job = client.ended(client.submit(predictions(1, "a-secret-word")))
    wait_until(lambda: "job ended" in client.service.log.read_text())
    lines = [json.loads(line) for line in client.service.log.read_text().splitlines()]
    ended = [line for line in lines if line["event"] == "job ended"]
    assert [(one["job"], one["state"], one["run"]) for one in ended] == [(job["job_id"], "done", job["run_id"])]
    assert "a-secret-word" not in client.service.log.read_text()
