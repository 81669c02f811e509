"""How schemathesis sends the types of predictions that it does not know."""

from __future__ import annotations

import json
import os
from typing import Any

import schemathesis


@schemathesis.serializer("application/x-ndjson", "application/jsonl")
def lines(context: Any, value: Any) -> bytes:
    """Write what was made up as it is, or as a line of JSON."""
    return (
        value if isinstance(value, bytes) else value.encode() if isinstance(value, str) else json.dumps(value).encode()
    )


@schemathesis.hook
def map_query(context: Any, query: Any) -> Any:
    """Name runs that are there, now and then: a made-up id is one of none."""
    runs = os.environ.get("RUNS", "").split()
    if runs and query and context.operation.path == "/api/v1/drift" and len(str(query.get("old", ""))) % 2 == 0:
        return {**query, "old": runs[0], "new": runs[-1]}
    return query
