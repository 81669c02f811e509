"""How a service answers while it audits, and what is left where it is killed in between.

python -m tests.benchmarks.service_jobs readers [READERS]
python -m tests.benchmarks.service_jobs kills [SUBMISSIONS [KILLS]]
"""

from __future__ import annotations

import json
import random
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.services.serving import audit, make_workspace, served, start
from tests.services.submitting import QUICK, Client, predictions, runs_of, token

PAGES = ("/", "/api/v1/runs", "/api/v1/findings", "/runs", "/bugs", "/metrics")


#: Seconds for which somebody looks at a page before asking for the next, on average.
LOOKS = 2.0

#: A page by its number, and the milliseconds that it took.
Timed = tuple[int, float]


@dataclass(frozen=True)
class Readers:
    """Pages read by one, by many without jobs, and by many during jobs; what went wrong, and how the jobs ended."""

    idle: list[Timed]
    alone: list[Timed]
    during: list[Timed]
    errors: list[str]
    jobs: list[str]


def readers_during_jobs(folder: Path, readers: int, jobs: int, rounds: int = 1, seconds: float = 0) -> Readers:
    """Read pages one after the other, then by so many readers: for some seconds without jobs, and during jobs."""
    audit(folder, 1)
    secret = token(folder)
    errors: list[str] = []
    states: list[str] = []
    with served(folder, "--jobs", str(jobs)) as service:
        client = Client(service, secret)
        for number in range(len(PAGES)):
            read(client, number, errors)
        idle = [(number % len(PAGES), read(client, number, errors)) for number in range(20 * len(PAGES))]
        alone = read_by_many(client, readers, errors, lambda: time.sleep(seconds)) if seconds else []

        def audit_all() -> None:
            for turn in range(rounds):
                submitted = [client.submit(words(turn * jobs + number)).json["job_id"] for number in range(jobs)]
                while any(client.job(one)["finished_at"] is None for one in submitted):
                    time.sleep(0.2)
                states.extend(client.job(one)["state"] for one in submitted)

        return Readers(idle, alone, read_by_many(client, readers, errors, audit_all), errors, states)


def read_by_many(client: Client, readers: int, errors: list[str], meanwhile: Callable[[], None]) -> list[Timed]:
    """Read pages by so many readers while something is done."""
    times: list[Timed] = []
    has_ended = threading.Event()

    def keep_reading(number: int) -> None:
        has_ended.wait(random.uniform(0, LOOKS))  # they do not come all at once
        while not has_ended.is_set():
            times.append((number % len(PAGES), read(client, number, errors)))
            number += 1
            has_ended.wait(random.uniform(0, 2 * LOOKS))

    with ThreadPoolExecutor(readers) as pool:
        reading = [pool.submit(keep_reading, number) for number in range(readers)]
        try:
            meanwhile()
        finally:
            has_ended.set()
        for one in reading:
            one.result()
    return times


def read(client: Client, number: int, errors: list[str]) -> float:
    """Read a page; gives the milliseconds that it took."""
    path, began = PAGES[number % len(PAGES)], time.perf_counter()
    try:
        status = client.get(path).status
    except OSError as error:
        errors.append(f"{path}: {error}")
    else:
        if status != 200:
            errors.append(f"{path}: {status}")
    return 1000 * (time.perf_counter() - began)


@dataclass(frozen=True)
class Kills:
    """What is left of so many submissions: jobs without a run, runs of one job, runs that are half, wrong figures."""

    submitted: int
    runs: int
    kills: int
    lost: list[str]
    twice: list[str]
    half: list[str]
    wrong: list[str]


def killed_in_between(folder: Path, submissions: int, kills: int) -> Kills:
    """Submit, kill the service and start it anew, again and again; every submission is another one."""
    secret = token(folder)
    service = start(folder, *QUICK, "--jobs", "2")
    begun = time.monotonic()
    right: dict[str, int] = {}
    after = {round((number + 1) * submissions / (kills + 1)) for number in range(kills)}
    count = 0
    for number in range(submissions):
        job = Client(service, secret).submit(words(number)).json
        right[job["job_id"]] = number
        if number + 1 in after:
            time.sleep(random.uniform(0, 2.5))  # at any moment of a job
            service.process.send_signal(signal.SIGKILL)
            service.process.wait()
            service = start(folder, *QUICK, "--jobs", "2")
            count += 1
    client = Client(service, secret)
    try:
        while any(client.job(one)["finished_at"] is None for one in right):
            assert time.monotonic() - begun < 60 + 20 * submissions
            time.sleep(0.5)
        return left_of(client, folder, right, count)
    finally:
        service.process.terminate()
        service.process.wait(30)


def words(number: int) -> str:
    """Give predictions whose last case tells which submission it is."""
    return predictions(number % 31, "2024-03-31") + f"30x,due,{number}\n"


def left_of(client: Client, folder: Path, right: dict[str, int], kills: int) -> Kills:
    """Hold the runs against what was submitted."""
    jobs = {one: client.job(one) for one in right}
    runs = {path.name: path for path in runs_of(folder) if not path.name.startswith(".")}
    made = Counter(json.loads((path / "inputs.json").read_text())["job"] for path in runs.values())
    half = [path.name for path in runs_of(folder) if path.name.startswith(".")]
    half += [name for name, path in runs.items() if not (path / "pairs.parquet").exists()]
    wrong = []
    for name, job in jobs.items():
        if job["run_id"] in runs:
            document = json.loads((runs[job["run_id"]] / "run.json").read_text())
            ok = next(one["ok"] for one in document["columns"] if (one["field"], one["consumer"]) == ("due", "ledger"))
            if ok != right[name] % 31:
                wrong.append(name)
    lost = [one for one in right if jobs[one]["run_id"] not in runs]
    return Kills(len(right), len(runs), kills, lost, [one for one, many in made.items() if many > 1], half, wrong)


def main() -> None:
    """Print the figures."""
    numbers = [int(one) for one in sys.argv[2:]]
    with tempfile.TemporaryDirectory() as name:
        folder = make_workspace(Path(name) / "workspace")
        if sys.argv[1:2] == ["kills"]:
            submissions, kills = (*numbers, *(200, 20)[len(numbers) :])
            began = time.perf_counter()
            found = killed_in_between(folder, submissions, kills)
            seconds = time.perf_counter() - began
            print(f"{found.submitted} submissions, {found.kills} kills, {seconds:.0f} s: {found.runs} runs")
            print(f"lost {len(found.lost)}, twice {len(found.twice)}, half {len(found.half)}, wrong {len(found.wrong)}")
            return
        readers = readers_during_jobs(folder, numbers[0] if numbers else 50, 2, rounds=4, seconds=20)
        for page, path in enumerate(PAGES):
            median = statistics.median(one for number, one in readers.idle if number == page)
            said = [f"{path}: idle median {median:.1f} ms"]
            for told, read_then in (("no job", readers.alone), ("2 jobs", readers.during)):
                times = [one for number, one in read_then if number == page]
                p95 = statistics.quantiles(times, n=20)[-1]
                said.append(f"{told}: p95 {p95:.1f} ms of {len(times)}, {p95 / median:.1f} times as long")
            print("; ".join(said))
        print(f"errors {len(readers.errors)}, jobs {', '.join(readers.jobs)}")


if __name__ == "__main__":
    main()
