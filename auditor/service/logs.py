"""A line of JSON for each request and each error: who asked which route, never which value."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any, Final

LOGGER: Final = logging.getLogger("auditor.service")


class JsonLines(logging.Formatter):
    """Records as JSON. Of an error its kind and its place: its message may quote data."""

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
            line["at"] = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames[-8:]]
        return json.dumps(line)


def log_to_stderr() -> None:
    """Write the records of the service, and of what serves it, to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in ("auditor.service", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO)
