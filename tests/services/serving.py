"""A service as a process of its own, and a workspace whose every name and value is markup, by a real audit."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.command_line import call

#: What would run, were it not shown as text.
MARKUP = "<img src=x onerror=alert(1)>"

_SPEC = f"""
name = "payments {MARKUP}"
[cases]
predictions = "predictions.csv"
references = "references.csv"
[fields."paid {MARKUP}"]
type = "boolean"
[fields.due]
type = "date"
[consumers."billing {MARKUP}"]
owner = "team {MARKUP}"
adapter = "python"
root = "billing"
reads."paid {MARKUP}" = "parsers:paid"
reads.due = "parsers:due"
[consumers.ledger]
adapter = "python"
root = "ledger"
reads."paid {MARKUP}" = "parsers:paid"
reads.due = "parsers:due"
"""

_STRICT = """
from datetime import date

def paid(text):
    if text not in ("true", "false"):
        raise ValueError(f"{text}: no <img src=x onerror=alert(1)>")
    return text == "true"

def due(text):
    return date.fromisoformat(text)
"""

_LAX = """
from datetime import date, datetime

def paid(text):
    return text.startswith(("true", "<"))

def due(text):
    try:
        return date.fromisoformat(text)
    except ValueError:
        return datetime.strptime(text, "%d/%m/%Y").date()
"""


def environment() -> dict[str, str]:
    """Give the variables of a command: nothing of this test's own."""
    dropped = ("COLUMNS", "SOURCE_DATE_EPOCH", "NO_COLOR")
    return {name: value for name, value in os.environ.items() if name not in dropped}


def auditor(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a workspace."""
    return call(*arguments, folder=folder, variables=environment() | variables)


def audit(folder: Path, day: int, *options: str, moment: int = 0) -> None:
    """Audit a workspace on a day of March 2024, so many seconds after midnight."""
    epoch = str(1709251200 + 86400 * (day - 1) + moment)
    command = ("run", "--probe", "off", "--quiet", "--fail-on", "never", *options)
    done = auditor(folder, *command, SOURCE_DATE_EPOCH=epoch)
    assert done.returncode == 0, done.stdout + done.stderr


def make_workspace(folder: Path, *, blocked: int = 0) -> Path:
    """Write the workspace of 30 cases; the last of them, as many as are asked for, have no prediction."""
    given, known = ["case_id,field,prediction"], ["case_id,field,reference"]
    for number in range(1, 31):
        known += [f"{number},due,2024-03-0{1 + number % 9}", f'{number},"paid {MARKUP}",{_truth(number)}']
        if number <= 30 - blocked:
            given += [f"{number},due,{_due(number)}", f'{number},"paid {MARKUP}",{_paid(number)}']
    folder.mkdir(exist_ok=True)
    (folder / "pyproject.toml").write_text("")
    (folder / "audit.toml").write_text(_SPEC)
    (folder / "predictions.csv").write_text("\n".join([*given, ""]))
    (folder / "references.csv").write_text("\n".join([*known, ""]))
    for name, text in (("billing", _STRICT), ("ledger", _LAX)):
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "parsers.py").write_text(text)
    return folder


def _due(number: int) -> str:
    return f"0{1 + number % 9}/03/2024" if number % 3 == 0 else f"2024-03-0{1 + number % 9}"


def _truth(number: int) -> str:
    return "true" if number % 2 else "false"


def _paid(number: int) -> str:
    return MARKUP if number % 5 == 0 else _truth(number)


@dataclass(frozen=True)
class Answer:
    """What a request got."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """Give the body as JSON."""
        return json.loads(self.body)

    @property
    def text(self) -> str:
        """Give the body as text."""
        return self.body.decode()


@dataclass(frozen=True)
class Served:
    """A service that runs."""

    address: str
    process: subprocess.Popen[str]
    log: Path

    def get(self, path: str, method: str = "GET", **headers: str) -> Answer:
        """Ask for a path; a header's name has underscores."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(self.address + path, headers=named, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as found:
                return Answer(found.status, _lower(found.headers), found.read())
        except urllib.error.HTTPError as error:
            return Answer(error.code, _lower(error.headers), error.read())

    def post(self, path: str, body: Any = None, **headers: str) -> Answer:
        """Send a document, or a form where it is told so; redirects are not followed."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        is_form = "urlencoded" in named.get("Content-Type", "")
        data = urllib.parse.urlencode(body).encode() if is_form else json.dumps(body).encode()
        named.setdefault("Content-Type", "application/json")
        request = urllib.request.Request(self.address + path, data=data, headers=named, method="POST")
        try:
            with urllib.request.build_opener(_Staying).open(request, timeout=60) as found:
                return Answer(found.status, _lower(found.headers), found.read())
        except urllib.error.HTTPError as error:
            return Answer(error.code, _lower(error.headers), error.read())

    def send(self, path: str, data: bytes | Iterator[bytes], kind: str = "text/csv", **headers: str) -> Answer:
        """Send a file as it is, or in pieces of which nobody says beforehand how many bytes they are."""
        named = {name.replace("_", "-"): value for name, value in headers.items()} | {"Content-Type": kind}
        request = urllib.request.Request(self.address + path, data=data, headers=named, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=90) as found:
                return Answer(found.status, _lower(found.headers), found.read())
        except urllib.error.HTTPError as error:
            return Answer(error.code, _lower(error.headers), error.read())


class _Staying(urllib.request.HTTPRedirectHandler):
    """Follows no redirect."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _lower(headers: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def start(folder: Path, *options: str) -> Served:
    """Run `auditor serve` in a workspace; whoever calls this ends it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = folder / f"serve-{port}.log"
    command = [sys.executable, "-m", "auditor", "serve", "--port", str(port), *options]
    with log.open("w") as out:
        process = subprocess.Popen(command, cwd=folder, env=environment(), stderr=out, text=True)
    service = Served(f"http://127.0.0.1:{port}", process, log)
    try:
        _wait(service)
    except BaseException:
        process.kill()
        process.wait()
        raise
    return service


@contextmanager
def served(folder: Path, *options: str) -> Iterator[Served]:
    """Run `auditor serve` in a workspace until the block ends; it must stop by itself then."""
    service = start(folder, *options)
    try:
        yield service
    finally:
        service.process.send_signal(signal.SIGTERM)
        code = service.process.wait(timeout=30)
    assert code == 0, service.log.read_text()


def _wait(service: Served) -> None:
    for _ in range(600):
        assert service.process.poll() is None, service.log.read_text()
        try:
            if service.get("/readyz").status == 200:
                return
        except OSError:
            time.sleep(0.05)
    raise AssertionError("it does not answer: " + service.log.read_text())
