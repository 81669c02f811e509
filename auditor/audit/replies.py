"""Who takes payloads out of replies, where that is a function of the spec's own: a worker, or what a run has kept."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from auditor.decode.reply_reader import READINGS, ReplyReader
from auditor.errors import StoreError
from auditor.load.contract import Reader
from auditor.spec.models import AuditSpec


def reply_reader(spec: AuditSpec) -> AbstractContextManager[ReplyReader | None]:
    """Start the worker with the spec's own reader of replies; nothing where the spec names none."""
    return ReplyReader(spec) if ":" in spec.cases.payload else nullcontext()


def stored_reader(spec: AuditSpec, folder: Path) -> Reader | None:
    """Give a reader that answers as the run's own did; None where the run had none of its own."""
    if ":" not in spec.cases.payload:
        return None
    path = folder / READINGS
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise StoreError(
            f"{path}: cannot be read: {error.strerror}\n"
            "  cause: the run's folder was changed\n  next:  run the audit again"
        ) from error
    known: dict[str, tuple[str | None, str]] = {text: (payload, why) for text, payload, why in map(json.loads, lines)}

    def read(texts: Sequence[str]) -> list[tuple[str | None, str]]:
        return [known[text] for text in texts]

    return read
