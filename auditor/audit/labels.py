"""Labels: what stands behind a column, the consumer's own product or something in its place, and how far it is that."""

from __future__ import annotations

import re

from auditor.model.decoding import Readiness
from auditor.spec.models import ConsumerSpec
from auditor.spec.production import STANDS_FOR, Production, production_of

_VERSION = re.compile(r"[0-9]+(?:\.[0-9]+)+|[0-9]+")


def label_of(consumer: ConsumerSpec, ready: Readiness) -> str:
    """Say what answers: the consumer's own product, its records, or another build of the same code."""
    if consumer.planned:
        return "planned"
    if consumer.adapter == "recorded":
        return "recorded"
    if consumer.emulate:
        return "emulated"
    return "reference" if _gap(consumer, ready) else "native"


def label_note(consumer: ConsumerSpec, ready: Readiness) -> str:
    """Say what the label comes to, or nothing where that is plain."""
    if consumer.adapter == "recorded":
        return f"native as of {ready.settings['recorded_at'][:10]}, {ready.settings['engine']}"
    if consumer.emulate:
        ran = f"sqlglot {ready.settings['sqlglot']} in {ready.settings['engine']}"
        return f"{consumer.engine}'s text by {ran}"
    return _gap(consumer, ready)


def _gap(consumer: ConsumerSpec, ready: Readiness) -> str:
    """Say what ran in the place of what: ``postgres 18.6 stands for postgres 15.4``; nothing where it is the same."""
    production = _production_of(consumer)
    if production is None:
        return ""
    version = version_in(ready.settings.get("engine", ""))
    if (consumer.engine, version) == (production.product, production.version):
        return ""
    return f"{consumer.engine} {version} stands for {production.shown}".replace("  ", " ")


def _production_of(consumer: ConsumerSpec) -> Production | None:
    """Give what production runs, where that is not plainly the engine: GoogleSQL is the reference of BigQuery."""
    if consumer.production is not None:
        return production_of(consumer.production)
    return Production(STANDS_FOR["googlesql"], "") if consumer.engine == "googlesql" else None


def version_in(engine: str) -> str:
    """Give the version in an engine's name of itself.

    >>> version_in("PostgreSQL 18.6"), version_in("mariadb 10.11.19-MariaDB-0+deb12u1")
    ('18.6', '10.11.19')
    """
    found = _VERSION.search(engine)
    return found[0] if found else ""
