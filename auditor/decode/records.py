"""What binds the records of a warehouse to its consumer: the contract of each field that it read."""

from __future__ import annotations

import hashlib
import json
import os
from typing import Any

from auditor.spec.models import AuditSpec, ConsumerSpec

#: Hexadecimal digits of a contract.
DIGITS = 16


def contract_of(consumer: ConsumerSpec, field: str) -> str:
    """Name what a warehouse is asked of a field: engine, settings and expression, as the spec has them."""
    asked = [consumer.engine, sorted(consumer.settings.items()), consumer.reads[field]]
    text = json.dumps(asked, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def record_config(spec: AuditSpec, consumer: ConsumerSpec) -> dict[str, Any] | None:
    """Give where the records are, how the spec names the file, and the contract of each field that they must have."""
    if consumer.results is None:
        return None
    return {
        "file": os.path.abspath(spec.folder / consumer.results),
        "shown": consumer.results,
        "lists": consumer.calibrate is not None,
        "contracts": {field: contract_of(consumer, field) for field in consumer.reads},
    }
