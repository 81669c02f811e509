"""Asks consumers of an audit for a few strings, in a process of its own and in bounded time."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, Final

from auditor.errors import AuditorError
from auditor.service.jobs.audits import ConfiguredAudit, Level

#: Seconds for one question, and those that its process has to end then.
SECONDS: Final = 60
GRACE: Final = 10


class TooSlow(AuditorError):
    """The consumers had not answered in time."""


def read_in_process(
    audit: ConfiguredAudit, field: str, values: Sequence[tuple[str, bool]], probe: Level
) -> dict[str, Any]:
    """Give `readings`, a document for each value, and why consumers were `left_out`.

    A value is a string, or (with True) the JSON text of one.

    TooSlow where that takes too long, AuditorError where a consumer cannot be asked.
    """
    command = [sys.executable, "-m", "auditor.service.jobs.reader", str(audit.file), audit.name, str(SECONDS)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    )
    question = json.dumps({"field": field, "values": list(values), "probe": probe}).encode()
    try:
        answer, _ = process.communicate(question, timeout=SECONDS + GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        answer = b""
    if not answer:
        raise TooSlow(f"the consumers had not answered after {SECONDS} s; ask for fewer strings, or with less probing")
    document: dict[str, Any] = json.loads(answer)
    if "error" in document:
        raise AuditorError(str(document["error"]))
    return document
