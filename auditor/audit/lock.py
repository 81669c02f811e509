"""Makes a lock of what an audit is about to use: the cases, each consumer once it has started, and the spec."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from duckdb import DuckDBPyConnection

from auditor.audit.summary import canonical_sha256, manifest_sha256
from auditor.decode.reply_reader import ReplyReader
from auditor.decode.session import Session
from auditor.load import Loaded
from auditor.load.case_digests import digest_cases
from auditor.model.lock import Lock, LockedConsumer
from auditor.spec.contract import canonical_field
from auditor.spec.models import AuditSpec
from auditor.spec.toml import key
from auditor.version import VERSION

#: Distinct raw values of a field that a consumer reads to show what it imports only then.
SAMPLE: Final = 200

#: How the function that takes payloads out of replies is named among the consumers.
READER: Final = "[cases] payload"

#: Keys that change no result: what heads a report, who owns what, and where the files are that the manifest binds.
_NO_MEANING: Final = ("name", "file", "folder", "left_out")
_NO_MEANING_BELOW: Final = {"cases": ("predictions", "references"), "consumers": ("name", "owner"), "fields": ("name",)}


def make_lock(
    connection: DuckDBPyConnection,
    spec: AuditSpec,
    loaded: Loaded,
    sessions: Mapping[str, Session],
    reader: ReplyReader | None,
) -> Lock:
    """Give the lock; every consumer reads some strings, so that what it imports only then is known."""
    consumers = {name: lock_consumer(connection, session) for name, session in sessions.items()}
    if reader is not None:
        consumers[READER] = LockedConsumer(*_frozen(reader.session))
    meaning = meaning_of(spec)
    return Lock(
        auditor_version=VERSION,
        manifest_sha256=manifest_sha256(spec, loaded),
        rows_sha256=loaded.manifest_rows_sha256,
        traits_sha256=loaded.traits_sha256,
        spec_sha256=canonical_sha256(meaning),
        spec=meaning,
        consumers=consumers,
        cases=digest_cases(spec, loaded, connection),
    )


def lock_consumer(connection: DuckDBPyConnection, session: Session) -> LockedConsumer:
    """Let a consumer read some strings, and give what it was made of before and what came with them."""
    for field in session.readiness.reads if session.imports_later else ():
        session.decode(field, _sample(connection, field))
    return LockedConsumer(*_frozen(session))


def _frozen(session: Session) -> tuple[str, dict[str, str], dict[str, str]]:
    start, now = session.readiness, session.finish().parts
    return start.version, start.parts, {name: text for name, text in now.items() if name not in start.parts}


def _sample(connection: DuckDBPyConnection, field: str) -> Sequence[str]:
    """Give some distinct raw values, references and predictions, the same ones for the same values."""
    tokens = "SELECT unnest([prediction, reference]) AS token FROM pairs WHERE field = $1"
    query = f"SELECT DISTINCT token, md5(token) FROM ({tokens}) WHERE token IS NOT NULL ORDER BY 2 LIMIT {SAMPLE}"
    return [token for token, _ in connection.execute(query, [field]).fetchall()]


def meaning_of(spec: AuditSpec) -> dict[str, str]:
    """Give each key of a spec that a result may depend on, with its value as text, or as JSON if it is none.

    A key with the value that is in force where it is not written is as if it were not written.
    """
    fields = {name: canonical_field(field) for name, field in spec.fields.items()}
    spec = spec.model_copy(update={"fields": fields})
    document = spec.model_dump(mode="json", exclude=set(_NO_MEANING), exclude_defaults=True)
    for table, names in _NO_MEANING_BELOW.items():
        for one in [document[table]] if table == "cases" else document[table].values():
            for name in names:
                one.pop(name, None)
    return dict(sorted(_flat((), document)))


def _flat(above: tuple[str, ...], value: Any) -> Iterator[tuple[str, str]]:
    """Give the leaves of a document."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _flat((*above, str(name)), item)
    else:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
        yield ".".join(map(key, above)), text
