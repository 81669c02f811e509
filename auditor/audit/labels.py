"""Labels: what stands behind a column, the consumer's own product or something in its place, and how far it is that."""

from __future__ import annotations

from auditor.model.decoding import Readiness
from auditor.spec.models import ConsumerSpec


def label_of(consumer: ConsumerSpec) -> str:
    """Say what answers: the consumer's own product, its records or, of BigQuery, the reference of its language."""
    if consumer.planned:
        return "planned"
    if consumer.adapter == "recorded":
        return "recorded"
    return "reference" if consumer.engine == "googlesql" else "native"


def label_note(consumer: ConsumerSpec, ready: Readiness) -> str:
    """Say what the label comes to, or nothing where that is plain."""
    if consumer.adapter == "recorded":
        return f"native as of {ready.settings['recorded_at'][:10]}, {ready.settings['engine']}"
    return ""
