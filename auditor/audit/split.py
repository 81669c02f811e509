"""Decodes what is lacking to tell two causes apart: each run's raw outputs with the parsers of the other."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

from auditor.audit.events import Event, RunFinished, Tell, nobody
from auditor.audit.redecode import redecode
from auditor.drift.compare import Again, compare
from auditor.model.drift import Drift
from auditor.model.run import Run
from auditor.spec.models import AuditSpec
from auditor.store.reading import StoredRun, list_runs


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
    stored, _ = list_runs(runs)
    for one in stored:
        if one.run.redecoded_of == of.run_id and same_parsers(one.run, by):
            return one
    return None


def same_parsers(one: Run, other: Run) -> bool:
    """Say whether the consumers of two runs are the same, in the same environment."""
    versions = ({c.name: (c.version, c.settings) for c in run.consumers} for run in (one, other))
    return next(versions) == next(versions) and one.environment_key == other.environment_key
