"""The strings that a consumer is asked: those of the data set, and the fixed ones that every parser is fed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing

from auditor.database import connect
from auditor.decode.folders import open_spill
from auditor.decode.reply_reader import ReplyReader
from auditor.findings.probes import probe_tokens
from auditor.load import load
from auditor.spec.models import AuditSpec, ConsumerSpec


def strings_of(spec: AuditSpec, consumer: ConsumerSpec) -> dict[str, tuple[str, ...]]:
    """Give the distinct strings of each field that the consumer reads, predictions and references, in file order."""
    fields = [name for name in spec.fields if name in consumer.reads]
    with ExitStack() as folders, closing(connect(open_spill(folders))) as connection:
        reader = folders.enter_context(ReplyReader(spec)) if ":" in spec.cases.payload else None
        load(spec, connection, reader=None if reader is None else reader.read)
        rows = connection.execute(
            "SELECT field, token FROM (SELECT field, prediction AS token, first_row FROM pairs"
            " UNION ALL SELECT field, reference, first_row FROM pairs) WHERE token IS NOT NULL"
            " GROUP BY field, token ORDER BY min(abs(first_row)), field, token"
        ).fetchall()
    found: dict[str, dict[str, None]] = {name: {} for name in fields}
    for field, token in rows:
        if field in found:
            found[field].update(dict.fromkeys(_texts([token])))
    for name in fields:
        found[name].update(dict.fromkeys(_texts([probe.token for probe in probe_tokens(spec.fields[name], "text")])))
    return {name: tuple(strings) for name, strings in found.items()}


def _texts(tokens: Sequence[str]) -> Iterator[str]:
    """Give what a parser of text is handed: the content of a string, the source text of any other value, no null."""
    for token in tokens:
        if token != "null":
            yield json.loads(token) if token[0] == '"' else token
