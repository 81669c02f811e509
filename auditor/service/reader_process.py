"""Some values through every consumer, in a process that can be ended: ``python -m auditor.service.reader_process``.

A question is read from stdin as JSON (`audit`, `spec`, `field`, `values`, `probe`); stdout gets `readings` and
`left_out`, or `error` with what a person can do about, or `bug` with the place of ours.
"""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import sys
import traceback
from pathlib import Path
from types import FrameType
from typing import Any

from auditor.errors import AuditorError

#: Readers give way to the service, which goes on answering meanwhile.
NICE = 10


def main() -> None:
    """Answer one question."""
    os.nice(NICE)
    signal.signal(signal.SIGTERM, _end)
    # Nothing that anybody prints is our answer.
    answers = os.dup(1)
    os.dup2(2, 1)
    try:
        answer = _answer(json.load(sys.stdin))
    except AuditorError as error:
        answer = {"error": str(error)}
    except Exception:  # noqa: BLE001 - the edge of a process: who started it writes the place to the log
        answer = {"bug": traceback.format_exc(limit=-6)}
    with os.fdopen(answers, "w") as out:
        json.dump(answer, out)


def _answer(question: dict[str, Any]) -> dict[str, Any]:
    from auditor.audit.reading import as_token, read_strings
    from auditor.service.jobs.audits import ConfiguredAudit, spec_now

    spec = spec_now(ConfiguredAudit(question["audit"], Path(question["spec"]), (), ()))
    tokens = [as_token(text, is_json=is_json) for text, is_json in question["values"]]
    readings = read_strings(spec, question["field"], tokens, probe=question["probe"])
    return {
        "readings": [dataclasses.asdict(one) for one in readings],
        "left_out": [one.why for one in spec.left_out],
    }


def _end(_signal: int, _frame: FrameType | None) -> None:
    """End as by a person at a terminal, so that every worker is ended, too."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise KeyboardInterrupt


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
