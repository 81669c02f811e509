"""Who takes payloads out of replies, where that is a function of the spec's own: a worker."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from auditor.decode.reply_reader import ReplyReader
from auditor.spec.models import AuditSpec


def reply_reader(spec: AuditSpec) -> AbstractContextManager[ReplyReader | None]:
    """Start the worker with the spec's own reader of replies; nothing where the spec names none."""
    return ReplyReader(spec) if ":" in spec.cases.payload else nullcontext()
