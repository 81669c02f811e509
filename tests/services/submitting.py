"""Predictions of the workspace of `serving`, and those who submit them."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.services.serving import MARKUP, Answer, Served, auditor

AUDIT = f"payments {MARKUP}"
SUBMISSIONS = f"/api/v1/audits/{quote(AUDIT)}/submissions"

#: No audit of these tests is about environments.
QUICK = ("--probe", "off")


def predictions(right: int, word: str = "2024-03-01") -> str:
    """Give predictions of the 30 dates of the workspace, of which the first are right and the others are a word."""
    lines = [f"{n},due,{f'2024-03-0{1 + n % 9}' if n <= right else word}" for n in range(1, 31)]
    return "\n".join(["case_id,field,prediction", *lines, *(f'{n},"paid {MARKUP}",true' for n in range(1, 31)), ""])


def token(folder: Path, name: str = "ci", role: str = "submit") -> str:
    """Make a token of a workspace."""
    return auditor(folder, "token", "new", name, "--role", role).stdout.strip()


@dataclass(frozen=True)
class Client:
    """Somebody with a token."""

    service: Served
    secret: str

    @property
    def headers(self) -> dict[str, str]:
        """Give what every request carries."""
        return {"Authorization": f"Bearer {self.secret}"}

    def get(self, path: str, method: str = "GET", **headers: str) -> Answer:
        """Ask for a path."""
        return self.service.get(path, method, **self.headers, **headers)

    def post(self, path: str, body: object = None) -> Answer:
        """Send a document."""
        return self.service.post(path, body, **self.headers)

    def submit(self, text: str | bytes, query: str = "", kind: str = "text/csv") -> Answer:
        """Submit predictions."""
        data = text.encode() if isinstance(text, str) else text
        return self.service.send(SUBMISSIONS + query, data, kind, **self.headers)

    def job(self, job_id: str) -> Any:
        """Give a job as it stands."""
        return self.get(f"/api/v1/jobs/{job_id}").json

    def ended(self, answer: Answer, seconds: float = 90) -> Any:
        """Wait for the end of a job that was submitted."""
        assert answer.status in (200, 202), answer.text
        job = answer.json
        until = time.monotonic() + seconds
        while job["finished_at"] is None and time.monotonic() < until:
            time.sleep(0.1)
            job = self.job(job["job_id"])
        return job

    def events(self, job_id: str, **headers: str) -> list[tuple[int, str, Any]]:
        """Follow a job to its end."""
        text = self.get(f"/api/v1/jobs/{job_id}/events", **headers).text
        found = []
        for block in text.split("\n\n"):
            told = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
            if told:
                found.append((int(told["id"]), told["event"], json.loads(told["data"])))
        return found


def runs_of(folder: Path) -> list[Path]:
    """Give the folders of runs, oldest first."""
    runs = folder / ".auditor" / "runs"
    return sorted(runs.iterdir()) if runs.exists() else []


def right_dates(document: Any) -> int:
    """Give the number of dates that the ledger reads right in a run."""
    [column] = [one for one in document["columns"] if (one["field"], one["consumer"]) == ("due", "ledger")]
    return int(column["ok"])
