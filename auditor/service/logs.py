"""A line of JSON for each request and each error: who asked which route, and which value only if that is asked for."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any, Final

LOGGER: Final = logging.getLogger("auditor.service")

#: Under which a request's scope has the values that consumers were let read.
VALUES: Final = "auditor.values"


class JsonLines(logging.Formatter):
    """Records as JSON. Of an error its kind and its place; with `values` its message, too, which may quote data."""

    def __init__(self, *, values: bool = False) -> None:
        super().__init__()
        self._values = values

    def format(self, record: logging.LogRecord) -> str:
        """Give a record as one line."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "facts", {}),
        }
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
            frames = traceback.extract_tb(record.exc_info[2])
            if self._values:
                line["message"] = str(record.exc_info[1])
            line["at"] = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames[-8:]]
        return json.dumps(line)


def log_to_stderr(*, values: bool = False) -> None:
    """Write the records of the service, and of what serves it, to stderr; with `values` what data hold, too."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines(values=values))
    for name in ("auditor.service", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO)
