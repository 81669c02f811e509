"""A string's time is its own: neither its company nor the start of its process gives it more or less."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

import auditor
from auditor.decode import session as session_module
from auditor.decode.session import Session
from auditor.worker_start import WORKER
from tests.sessions import open_consumer, quoted, shown

#: The worker with an adapter that decodes a frame in one call; each string says how long it takes.
BY_FRAME = """
import runpy, sys, time

class Adapter:
    def ready(self):
        return {"reads": {"f": "sleep"}}

    def decode_batch(self, field, values):
        for value in values:
            time.sleep(float(value))
        return ["text:" + value for value in values], {}

main = runpy.run_path(sys.argv[1])["main"]
main.__globals__["open_consumer"] = lambda config: Adapter()
main(sys.argv[2:])
"""

BY_STRING = "import time\ndef read(text):\n    time.sleep(float(text))\n    return text\n"

QUICK, LONG, TOO_LONG = "0.001", "0.12", "0.6"
LIMIT, GRACE = 0.3, 1.0


@pytest.fixture(autouse=True)
def grace(monkeypatch):
    """A process that still imports is given more than TOO_LONG takes: grace must not decide on it."""
    monkeypatch.setattr(session_module, "FIRST_STRING", GRACE)


@pytest.fixture(params=["by frame", "by string"])
def session(request, tmp_path):
    (tmp_path / "m.py").write_text(BY_STRING)
    with open_consumer(tmp_path, {"f": "m:read"}, timeout=LIMIT) as by_string:
        if request.param == "by string":
            yield by_string
            return
        plan = by_string.plan
    script = tmp_path / "by_frame.py"
    script.write_text(BY_FRAME)
    arguments = (sys.executable, str(script), str(WORKER))
    with Session(replace(plan, command=arguments)) as by_frame:
        yield by_frame


@pytest.mark.parametrize(
    "texts",
    [
        [TOO_LONG, QUICK],
        [LONG, LONG, LONG, LONG, TOO_LONG, LONG],
        [QUICK] * 30 + [TOO_LONG] + [QUICK] * 30,
    ],
    ids=["first", "among slow ones", "among many"],
)
def test_a_string_is_timed_alone(session, texts):
    expected = [f"timed_out: no answer within {LIMIT:g} s" if text == TOO_LONG else f"text:{text}" for text in texts]
    decodings = session.decode("f", quoted(texts))
    assert shown(decodings) == expected
    assert decodings.warnings == {}


LOADS = """
import time

table = None

def read(text):
    global table
    if text == "rare" and table is None:
        time.sleep(1.2)
        table = {"rare": "found"}
    if text == "hangs":
        time.sleep(60)
    return table[text] if text == "rare" else text
"""


@pytest.mark.parametrize("texts", [["rare"], ["a", "b", "rare", "c", "rare"], ["a", "rare", "hangs", "b"]])
def test_what_a_parser_loads_once_condemns_no_string(tmp_path, monkeypatch, texts):
    monkeypatch.setattr(session_module, "FIRST_STRING", 0.1)
    (tmp_path / "m.py").write_text(LOADS)
    with open_consumer(tmp_path, {"f": "m:read"}, timeout=0.4) as session:
        decodings = session.decode("f", quoted(texts))
    expected = {"rare": "text:found", "hangs": "timed_out: no answer within 0.4 s"}
    assert shown(decodings) == [expected.get(text, f"text:{text}") for text in texts]
    assert [slow.startswith("slow at first: ") for slow in decodings.warnings.values()] == [True]


def test_a_run_says_what_was_slow_once_and_probes_it_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(session_module, "FIRST_STRING", 0.1)
    loads = LOADS.replace("sleep(1.2)", "sleep(0.9)")
    clock = loads.replace('return table[text] if text == "rare" else text', "return time.localtime().tm_year")
    (tmp_path / "m.py").write_text(clock)
    (tmp_path / "records.csv").write_text("case_id,field,prediction,reference\n1,f,b,2024\n2,f,rare,2024\n")
    spec = {
        "name": "slow",
        "cases": {"predictions": str(tmp_path / "records.csv"), "references": str(tmp_path / "records.csv")},
        "fields": {"f": {"type": "integer"}},
        "consumers": {
            "billing": {"adapter": "python", "root": str(tmp_path), "timeout": "400 ms", "reads": {"f": "m:read"}}
        },
    }
    run = auditor.run(spec, store=False, probe="quick")
    assert run.column("f", "billing").verdicts["ok"] == 2
    assert {finding.code for finding in run.findings} >= {"clock-dependent"}
    assert "consumer-timed-out" not in {finding.code for finding in run.findings}
    assert any("took longer than `timeout` the first time only" in note for note in run.run.notes)
