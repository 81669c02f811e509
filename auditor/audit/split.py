"""Decodes what is lacking to tell two causes apart: each run's raw outputs with the parsers of the other."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

from auditor.audit.events import Event, RunFinished, Tell, nobody
from auditor.audit.redecode import redecode
from auditor.drift.compare import Again, compare
from auditor.errors import StoreError
from auditor.model.drift import Drift
from auditor.model.run import Run
from auditor.spec.models import AuditSpec
from auditor.store.reading import StoredRun, load_run
from auditor.store.series import kept_records


def decode_crossings(
    old: StoredRun,
    new: StoredRun,
    runs: Path,
    new_spec: AuditSpec | None,
    old_spec: AuditSpec | None,
    *,
    common: bool,
    tell: Tell = nobody,
) -> Generator[Event | Drift, None, None]:
    """Decode the old outputs with the new parsers and the new ones with the old, as far as specs are given.

    What an earlier comparison has stored in `runs` is taken from there. Gives the events, and last the comparison.
    Refused before anything is decoded, where the runs may not be compared.
    """
    if old.run.manifest_sha256 != new.run.manifest_sha256:
        compare(old, new, common=common)
    again = {}
    for name, of, by, spec in (("old_again", old, new, new_spec), ("new_again", new, old, old_spec)):
        if same_parsers(of.run, by.run):
            continue
        found = _stored(runs, of.run, by.run)
        if found is None and spec is not None:
            for event in redecode(spec, of, probe="off", tell=tell, environment=by.run.environment, runs=runs):
                if isinstance(event, RunFinished) and event.folder is not None:
                    found = StoredRun(event.run, event.folder)
                yield event
        if found is not None:
            again[name] = found
    yield compare(old, new, common=common, again=Again(again.get("old_again"), again.get("new_again")))


def _stored(runs: Path, of: Run, by: Run) -> StoredRun | None:
    """Give a run that has read the outputs of one run with all parsers of another."""
    for record in (one.record for one in kept_records(runs)[0]):
        if record.redecoded_of == of.run_id:
            with suppress(StoreError):  # damaged since: it is decoded again
                stored = load_run(runs / record.run_id, runs)
                if same_parsers(stored.run, by):
                    return stored
    return None


def same_parsers(one: Run, other: Run) -> bool:
    """Say whether the consumers of two runs are the same, in the same environment."""
    versions = ({c.name: (c.version, c.settings) for c in run.consumers} for run in (one, other))
    return next(versions) == next(versions) and one.environment_key == other.environment_key
