"""Two stored runs → `Drift`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import duckdb

from auditor.drift.instrument import changes
from auditor.drift.manifests import share_cases
from auditor.drift.sides import Name, Side, opened
from auditor.drift.split import split_columns, unused
from auditor.drift.verdicts import Verdicts, blocked_by, judged, right_pairs
from auditor.errors import Refused, StoreError
from auditor.model.drift import ColumnDrift, ColumnKey, Drift, Paired, RunHead
from auditor.model.drift import Side as Counts
from auditor.model.gate import Gate, closed_because
from auditor.model.run import Column, Run
from auditor.model.verdicts import BLOCKED_VERDICTS, LETTER_OF
from auditor.score.intervals import share
from auditor.score.paired import mcnemar, paired_interval
from auditor.store.reading import StoredRun

#: The gate of runs that were stored before there was one.
_DEFAULT_GATE = Gate(True, "", 8, 0.2)


@dataclass(frozen=True)
class Again:
    """The outputs of the old run read by the parsers of the new one, and the other way round, where that was done."""

    old: StoredRun | None = None
    new: StoredRun | None = None

    def runs(self) -> list[tuple[Name, StoredRun]]:
        """Give them with the names of their schemas."""
        named: list[tuple[Name, StoredRun | None]] = [("old_again", self.old), ("new_again", self.new)]
        return [(name, stored) for name, stored in named if stored is not None]


def compare(old: StoredRun, new: StoredRun, *, common: bool = False, again: Again | None = None) -> Drift:
    """Compare two runs case by case; Refused where they are not of the same cases, StoreError where one is damaged.

    With `common` the shared cases are compared: those with the same id and, of a field with the same contract, the
    same reference. With `again` parsers and predictions are told apart.
    """
    with opened([("old", old), ("new", new), *(again.runs() if again else ())]) as (connection, sides):
        return _compare(connection, sides, common=common, split=again is not None)


def _compare(connection: duckdb.DuckDBPyConnection, sides: Sequence[Side], *, common: bool, split: bool) -> Drift:
    old, new, *others = sides
    shared = share_cases(connection, old, new, common=common)
    keys = [key for key in old.columns if key in new.columns and key.field in shared.fields]
    if not keys:
        raise Refused(_no_column(old, new))
    verdicts = Verdicts(connection, old, new, shared.fields)
    if not shared.dropped:
        check_counts(verdicts, keys, old, new)
    drift = Drift(
        old=RunHead.of(old.run),
        new=RunHead.of(new.run),
        same_manifest=old.run.manifest_sha256 == new.run.manifest_sha256,
        shared=shared.cases,
        dropped=shared.dropped,
        instrument=changes(old, new),
        columns=tuple(_column(verdicts, key, old, new) for key in keys),
        only_old=tuple(key for key in old.columns if key not in new.columns),
        only_new=tuple(key for key in new.columns if key not in old.columns),
        not_compared=tuple(key for key in old.columns if key in new.columns and key.field not in shared.fields),
        notes=tuple(_notes(old.run, new.run)),
    )
    if not split:
        return drift
    again = {side.name: side for side in others}
    notes = [note for side in others for note in unused(side, new if side.name == "old_again" else old)]
    parts = split_columns(connection, verdicts, drift, old, new, again)
    return replace(drift, notes=(*drift.notes, *notes), split=parts)


def _no_column(old: Side, new: Side) -> str:
    names = ("; ".join(str(key) for key in side.columns if key.is_whole) for side in (old, new))
    return "the runs {} and {} have no column in common\n  old: {}\n  new: {}".format(
        old.run.run_id, new.run.run_id, *names
    )


def check_counts(verdicts: Verdicts, keys: list[ColumnKey], old: Side, new: Side) -> None:
    """Hold what is counted case by case against what the runs counted: a table of another run would differ."""
    for key in keys:
        counts = verdicts.counts(key)
        for side, letters in ((old, counts.old), (new, counts.new)):
            column = side.columns[key]
            found = {name: letters[LETTER_OF[name]] for name in column.verdicts}
            if not counts.left_out and (found != column.verdicts or blocked_by(letters) != column.blocked_by):
                raise StoreError(
                    f"run {side.run.run_id}: its tables do not give the counts of its run.json in {key}\n"
                    f"  where: {side.folder}\n  seen:  {found} and {column.verdicts}\n"
                    "  cause: files of the run were changed\n  next:  run that audit again"
                )


def _column(verdicts: Verdicts, key: ColumnKey, old: Side, new: Side) -> ColumnDrift:
    counts = verdicts.counts(key)
    columns = old.columns[key], new.columns[key]
    reasons = [
        f"{side.name} run: {reason}"
        for side, column, letters in zip((old, new), columns, (counts.old, counts.new), strict=True)
        if (reason := not_comparable(side.run, column, letters))
    ]
    flips = verdicts.flips(key)
    suppressed = "; ".join(reasons)
    return ColumnDrift(
        field=key.field,
        consumer=key.consumer,
        split=key.split,
        old=counts_of(counts.old, suppressed=bool(suppressed)),
        new=counts_of(counts.new, suppressed=bool(suppressed)),
        suppressed=suppressed,
        untrusted=tuple(dict.fromkeys(code for column in columns for code in column.untrusted)),
        paired=None if suppressed else pairs_of(counts.both),
        flips=tuple(flip for flip in flips if not suppressed or flip.kind != "content"),
        left_out=counts.left_out,
        arm=key.arm,
    )


def not_comparable(run: Run, column: Column, letters: Counter[str]) -> str:
    """Say why the content of a column is not compared; the gate is asked of the whole run, too, and of what is shared.

    Few shared cases do not compare because the run that they come from has many.
    """
    if run.rates_withheld:
        return "rates are withheld, since there are broken references"
    gate, cases = run.gate or _DEFAULT_GATE, next((one.cases for one in run.arms if one.arm == column.arm), run.cases)
    if not column.comparable:
        return column.not_comparable
    blocked = sum(getattr(cases, name) for name in BLOCKED_VERDICTS)
    of_run = closed_because(cases.judged, blocked, cases.expected, gate.min_judged, gate.max_blocked)
    if of_run:
        return f"of all cases {of_run}"
    scored, held = judged(letters), sum(blocked_by(letters).values())
    of_shared = closed_because(scored, held, scored + held, gate.min_judged, gate.max_blocked)
    return f"of the cases that are compared {of_shared}" if of_shared else ""


def counts_of(letters: Counter[str], *, suppressed: bool) -> Counts:
    """Give the counts of a column in one run; where its content is not compared, no right ones."""
    scored, classes = judged(letters), blocked_by(letters)
    blocked, ok = sum(classes.values()), letters[LETTER_OF["ok"]]
    part = share(ok, scored)
    return Counts(
        support=scored + blocked,
        judged=scored,
        blocked=blocked,
        blocked_by=classes,
        broken_references=letters[LETTER_OF["broken_reference"]],
        ok=None if suppressed else ok,
        content_rate=None if suppressed else part.rate,
        interval=None if suppressed else part.interval,
    )


def pairs_of(both: Counter[tuple[str, str]]) -> Paired | None:
    """Compare how a column has it, from its letters before and after; None where no case is judged in both."""
    right, only_old, only_new, neither = right_pairs(both)
    # Newcombe's difference is first minus second: the new run is the first.
    interval = paired_interval(right, only_new, only_old, neither)
    if interval is None:
        return None
    cases, test = right + only_old + only_new + neither, mcnemar(only_old, only_new)
    return Paired(
        judged_in_both=cases,
        ok_in_both=right,
        ok_in_old_only=only_old,
        ok_in_new_only=only_new,
        ok_in_neither=neither,
        discordant=only_old + only_new,
        exact_p=test.exact_p,
        mid_p=test.mid_p,
        difference=(only_new - only_old) / cases,
        interval=interval,
    )


def _notes(old: Run, new: Run) -> Iterator[str]:
    if old.run_id == new.run_id:
        yield "both sides are the same run"
    elif old.created_at > new.created_at:
        yield "the old run is the later one of the two"
    for name, run in (("old", old), ("new", new)):
        if run.broken_references:
            yield f"the {name} run has {len(run.broken_references):,} broken references"
