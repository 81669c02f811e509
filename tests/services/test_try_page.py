"""A string that somebody types, as the consumers of the operator's spec read it: all of them, bounded, as text."""

from __future__ import annotations

import contextlib
import html
import json
import re
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from auditor.errors import AuditorError
from auditor.service.problems import Refusal
from auditor.service.readers import Readers
from auditor.service.turns import Turns
from tests.services.serving import MARKUP, Answer, Served, auditor, make_workspace, served

AUDIT, PAID = f"payments {MARKUP}", f"paid {MARKUP}"
FORM = "application/x-www-form-urlencoded"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve a workspace without any run: a string needs none."""
    with served(make_workspace(tmp_path_factory.mktemp("try") / "workspace")) as found:
        yield found


def ask(service: Served, field: str, text: str, audit: str = AUDIT, **more: str) -> Answer:
    seal = re.search(r'name="seal" value="(\w+)"', service.get(f"/try?audit={quote(audit)}").text)
    form = {"seal": seal[1] if seal else "", "audit": audit, "field": field, "text": text, "probe": "off", **more}
    return service.post("/try", form, Content_Type=FORM, Origin=service.address, Sec_Fetch_Site="same-origin")


def words(answer: Answer) -> str:
    assert answer.status == 200, answer.text
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", answer.text)).split())


def test_every_consumer_reads_it(service: Served) -> None:
    shown = words(ask(service, "due", "03/02/2024"))
    assert "read by some only" in shown
    assert "rejected: ValueError: Invalid isoformat string: '03/02/2024'" in shown
    assert "ledger date:2024-02-03" in shown
    assert "read in the base environment only" in shown


def test_other_environments_are_tried(service: Served) -> None:
    shown = words(ask(service, "due", "2024-02-03", probe="quick"))
    assert "read alike" in shown
    assert re.search(r"date:2024-02-03 the same in \d other environments", shown)


def test_what_the_command_says_is_said(service: Served, tmp_path: Path) -> None:
    folder = service.log.parent
    done = auditor(folder, "read", "due", "03/02/2024", "--probe", "off")
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()[1:3]]
    shown = words(ask(service, "due", "03/02/2024"))
    assert all(line in shown for line in lines)


def test_a_json_value_is_one(service: Served) -> None:
    assert "true" in words(ask(service, PAID, "true", json="1"))
    refused = ask(service, PAID, "tru", json="1")
    assert (refused.status, "is no JSON value" in refused.text) == (200, True)
    assert "is no JSON value" in ask(service, PAID, "[" * 4000, json="1").text


def test_markup_in_a_value_and_in_errors_is_text(service: Served) -> None:
    answer = ask(service, PAID, MARKUP)
    assert f"ValueError: {MARKUP}: no <img src=x onerror=alert(1)>" in words(answer)
    assert "<img" not in answer.text


@pytest.mark.parametrize(
    ("field", "text", "status", "said"),
    [
        ("due", "x" * 4001, 422, "4,000 are the most"),
        ("due", "x" * 70_000, 413, "longer than"),
        ("dew", "x", 422, "there is no field dew"),
    ],
)
def test_what_cannot_be_asked_is_told(service: Served, field: str, text: str, status: int, said: str) -> None:
    answer = ask(service, field, text)
    assert (answer.status, said in answer.text) == (status, True)


def test_nobody_else_asks(service: Served) -> None:
    form = {"audit": AUDIT, "field": "due", "text": "x", "probe": "off"}
    assert service.post("/try", form, Content_Type=FORM, Origin="https://evil.example").status == 403
    assert service.post("/try", form, Content_Type=FORM, Sec_Fetch_Site="same-origin").status == 403
    assert service.get("/try?audit=another").status == 404


def test_a_client_names_no_spec(service: Served, tmp_path: Path) -> None:
    other = make_workspace(tmp_path / "other")
    answer = ask(service, "due", "x", spec=str(other / "audit.toml"))
    assert str(other) not in answer.text
    assert ask(service, "due", "x", audit=str(other / "audit.toml")).status in (403, 404)


def test_mistakes_of_the_spec_stand_on_the_page(tmp_path: Path) -> None:
    folder = make_workspace(tmp_path / "workspace")
    with served(folder) as service:
        assert 'action="/try"' in service.get("/try").text
        spec = folder / "audit.toml"
        spec.write_text(spec.read_text().replace('type = "date"', 'type = "dat"'))
        shown = service.get("/try")
        assert (shown.status, 'action="/try"' in shown.text) == (200, False)
        assert "1 mistake in the spec" in shown.text
        assert "fields.due" in shown.text
        spec.unlink()
        gone = service.get("/try")
        assert (gone.status, 'action="/try"' in gone.text) == (200, False)
        assert "Not read" in gone.text
    with served(folder) as service:
        assert "No consumer can be run here" in service.get("/try").text


_HANGS = """
import os, time
from pathlib import Path

Path(__file__).with_name("pid").write_text(str(os.getpid()))
time.sleep(600)

def due(text):
    return text
"""

_SPEC = """
name = "hangs"
[cases]
predictions = "predictions.csv"
references = "references.csv"
[fields.due]
type = "identifier"
[consumers.slow]
adapter = "python"
root = "slow"
reads.due = "parsers:due"
"""


@pytest.fixture
def hanging(tmp_path: Path) -> Path:
    """Write a workspace whose consumer is not ready within ten minutes."""
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "audit.toml").write_text(_SPEC)
    (tmp_path / "slow").mkdir()
    (tmp_path / "slow" / "parsers.py").write_text(_HANGS)
    return tmp_path


def is_gone(pid_file: Path) -> bool:
    """Wait until the process that wrote its number is none any more."""
    pid = int(pid_file.read_text())
    for _ in range(100):
        status = Path(f"/proc/{pid}/status")
        if not status.exists() or "\nState:\tZ" in status.read_text():
            return True
        time.sleep(0.1)
    return False


def test_who_waits_too_long_for_a_turn_is_told() -> None:
    turns = Turns(1, 0.05)
    with (
        turns.one("try strings"),
        pytest.raises(Refusal, match="1 other requests try strings"),
        turns.one("try strings"),
    ):
        pass
    with turns.one("try strings"):
        pass


def test_what_does_not_answer_in_time_is_ended(hanging: Path) -> None:
    with pytest.raises(AuditorError, match="have not answered within 10 seconds, and were ended"):
        Readers(10.0).read("hangs", hanging / "audit.toml", "due", [("x", False)], "off")
    assert is_gone(hanging / "slow" / "pid")


def test_a_service_that_is_stopped_ends_what_it_has_started(hanging: Path) -> None:
    with served(hanging) as service:
        asking = threading.Thread(target=lambda: _quietly(service))
        asking.start()
        while not (hanging / "slow" / "pid").exists():
            assert asking.is_alive(), "it was answered, and no consumer was started"
            time.sleep(0.05)
        service.process.send_signal(signal.SIGTERM)
        assert service.process.wait(timeout=30) == 0
        asking.join()
    assert is_gone(hanging / "slow" / "pid")
    assert all(json.loads(line) for line in service.log.read_text().splitlines())


def _quietly(service: Served) -> None:
    with contextlib.suppress(OSError):  # the service is gone
        ask(service, "due", "x", audit="hangs")
