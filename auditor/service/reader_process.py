"""One string through every consumer, in a process that can be ended: ``python -m auditor.service.reader_process``.

A question is read from stdin as JSON (`spec`, `field`, `text`, `is_json`, `probe`); stdout gets `readings` and
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


def main() -> None:
    """Answer one question."""
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
    from auditor.spec.read import read_spec

    spec = read_spec(Path(question["spec"]))
    token = as_token(question["text"], is_json=question["is_json"])
    readings = read_strings(spec, question["field"], [token], probe=question["probe"])
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
