"""Runs that need not be made again: of the same cases, bytes, consumers and spec, done in the same way.

What only its answers can show of a consumer, such as a module that it imports while it parses, is looked at by letting
it read some strings. A service, or a server that somebody else runs, may be another one meanwhile and have no version
that says so: what it has a part in is always done again. So is what nothing here can show to be the same.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from duckdb import DuckDBPyConnection

from auditor.audit.kept import files_of
from auditor.audit.lock import READER, lock_consumer, meaning_of
from auditor.audit.summary import canonical_sha256, manifest_sha256
from auditor.decode.reply_reader import ReplyReader
from auditor.decode.session import Session, open_session
from auditor.errors import StoreError
from auditor.load import Loaded
from auditor.spec.models import AuditSpec, ConsumerSpec
from auditor.store.reading import folders_of_runs, read_run
from auditor.store.writing import TABLES
from auditor.version import VERSION

#: The file of a run that says what it was made of, and for whom.
INPUTS: Final = "inputs.json"

Sessions = Mapping[str, Session]


class Repeated(Exception):
    """Ends an audit before anything is decoded: its run is there."""

    def __init__(self, run_id: str) -> None:
        super().__init__(run_id)
        self.run_id = run_id


class Repeats:
    """The runs of a folder, held against an audit that begins; its own run then says what it was made of.

    `mark` says for whom the audit is done, and is kept with its run; `look` says whether an earlier run is taken.
    """

    def __init__(self, runs: Path, mark: Mapping[str, str], *how: str, look: bool = True) -> None:
        self._runs, self._mark, self._how, self._look = runs, dict(mark), how, look
        self._digest: str | None = None

    def check(
        self,
        connection: DuckDBPyConnection,
        spec: AuditSpec,
        loaded: Loaded,
        sessions: Sessions,
        reader: ReplyReader | None,
    ) -> None:
        """Raise Repeated where there is a run of the same."""
        self._digest = self._digest_of(spec, loaded, sessions, reader)
        if self._digest is None or not self._look:
            return
        for run_id, inputs in inputs_of_runs(self._runs):
            if inputs.get("inputs") != self._digest or not _is_whole(self._runs / run_id):
                continue
            if _are_still(inputs.get("late", {}), connection, spec, sessions, reader):
                raise Repeated(run_id)

    def text(self, sessions: Sessions, reader: ReplyReader | None) -> str:
        """Give what is kept with the run, after all was read."""
        late = {name: found for name, one in _all(sessions, reader) if (found := _late_parts(one))}
        return json.dumps({**self._mark, "inputs": self._digest, "late": late}, indent=2, ensure_ascii=False) + "\n"

    def _digest_of(self, spec: AuditSpec, loaded: Loaded, sessions: Sessions, reader: ReplyReader | None) -> str | None:
        consumers = [_consumer_key(spec, spec.consumers[name], session) for name, session in sessions.items()]
        if None in consumers:
            return None
        return canonical_sha256(
            {
                "auditor": VERSION,
                "how": self._how,
                "spec": meaning_of(spec),
                "left out": [one.name for one in spec.left_out],
                "manifest": manifest_sha256(spec, loaded),
                "sources": [[one["role"], one["sha256"]] for one in loaded.sources],
                "consumers": consumers,
                "reader": "" if reader is None else reader.session.readiness.version,
            }
        )


def inputs_of_runs(runs: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give id and inputs of each run that says what it was made of, newest first."""
    for folder in sorted(folders_of_runs(runs), reverse=True):
        with suppress(OSError, ValueError):  # a run of `auditor run` has none
            found = json.loads((folder / INPUTS).read_text(encoding="utf-8"))
            if isinstance(found, dict):
                yield folder.name, found


def _is_whole(folder: Path) -> bool:
    """Say whether a run can be read: one that was damaged is made anew."""
    try:
        read_run(folder / "run.json")
    except StoreError:
        return False
    return all((folder / f"{name}.parquet").is_file() for name in TABLES)


def _consumer_key(spec: AuditSpec, consumer: ConsumerSpec, session: Session) -> list[Any] | None:
    """Give all that the answers of a consumer depend on; None where nobody can see that here."""
    # Of a root of its own every file counts, a table that a parser opens, too; the spec's folder holds much else.
    files = files_of(spec, consumer) if consumer.root else []
    if files is None or consumer.adapter == "http" or consumer.connection:
        return None
    known = session.readiness
    named = [[os.path.relpath(path, spec.folder), size, changed] for path, size, changed in files]
    fixed = [known.not_fixed, known.not_varied, known.clock_by, known.unconfirmed, known.inapplicable]
    return [consumer.name, known.version, known.settings, known.reads, known.scope, fixed, named]


def _are_still(
    late: Mapping[str, Mapping[str, str]],
    connection: DuckDBPyConnection,
    spec: AuditSpec,
    sessions: Sessions,
    reader: ReplyReader | None,
) -> bool:
    """Say whether what consumers imported only with the strings is seen again, and the same."""
    for name, parts in late.items():
        now: Mapping[str, str]
        if name == READER:
            now = {} if reader is None else _late_parts(reader.session)
        elif name in sessions:
            # In another process, so that its own has read nothing before.
            environment = spec.environment.environment()
            with open_session(spec, spec.consumers[name], environment, spec.fields) as another:
                now = lock_consumer(connection, another).late
        else:
            return False
        if any(now.get(part) != text for part, text in parts.items()):
            return False
    return True


def _late_parts(session: Session) -> dict[str, str]:
    start = session.readiness.parts
    return {name: text for name, text in session.finish().parts.items() if name not in start}


def _all(sessions: Sessions, reader: ReplyReader | None) -> Iterator[tuple[str, Session]]:
    yield from sessions.items()
    if reader is not None:
        yield READER, reader.session
