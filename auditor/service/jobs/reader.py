"""The process that lets consumers read a few strings: a consumer may hang or die, and the service does not.

python -m auditor.service.jobs.reader SPEC AUDIT SECONDS < QUESTION > ANSWER
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from auditor.audit.reading import Reading, as_token, read_strings
from auditor.errors import AuditorError
from auditor.model.document import plain
from auditor.service.jobs.audits import ConfiguredAudit, spec_now
from auditor.service.jobs.priority import give_way


def main(arguments: list[str]) -> None:
    """Answer one question; it ends by itself after so many seconds, whoever has asked."""
    spec_file, name, seconds = arguments
    give_way()
    for number in (signal.SIGTERM, signal.SIGALRM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _end)
    signal.alarm(int(seconds))
    asked = json.load(sys.stdin)
    # What a consumer prints is no part of the answer.
    answer, _ = os.fdopen(os.dup(1), "w"), os.dup2(2, 1)
    try:
        spec = spec_now(ConfiguredAudit(name, Path(spec_file), (), ()))
        tokens = [as_token(text, is_json=is_json) for text, is_json in asked["values"]]
        found = read_strings(spec, asked["field"], tokens, probe=asked["probe"])
        document: dict[str, Any] = {
            "readings": [_document(one) for one in found],
            "left_out": [one.why for one in spec.left_out],
        }
    except AuditorError as error:
        document = {"error": str(error)}
    json.dump(document, answer)
    answer.close()


def _document(reading: Reading) -> dict[str, Any]:
    return {**plain(reading), "agree": reading.agree, "agreement": reading.agreement}


def _end(number: int, frame: FrameType | None) -> None:
    """Leave by way of every `finally`, so that workers end, too."""
    for other in (signal.SIGTERM, signal.SIGALRM, signal.SIGINT, signal.SIGHUP):
        signal.signal(other, signal.SIG_IGN)
    raise SystemExit(128 + number)


if __name__ == "__main__":
    main(sys.argv[1:])
