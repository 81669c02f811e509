"""A stored run judged again with the decodings of one consumer in the place of another's → `Exchanged`.

Nothing is decoded. The cases are judged by the query that judged them in the run; that it gives the run's own counts
for the parser of today is checked first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

import duckdb

from auditor.drift.compare import pairs_of
from auditor.drift.sides import Side, opened
from auditor.drift.split import how_asked
from auditor.drift.verdicts import flip_kind, in_order
from auditor.errors import AuditorError, StoreError
from auditor.model.drift import Flip
from auditor.model.exchange import Exchanged, Reread
from auditor.model.gate import Gate, closed_because
from auditor.model.run import Column, Run
from auditor.model.verdicts import STATUS_OF, VERDICT_OF
from auditor.score.columns import ColumnTraits, count_patterns, make_columns
from auditor.score.verdict_table import create_judged
from auditor.spec.models import Adapter, AuditSpec, ConsumerSpec
from auditor.sql import literal
from auditor.store.reading import StoredRun

#: Cases that are shown of a column, and ids of a flip.
SHOWN: Final = 200

_DEFAULT_GATE: Final = Gate(True, "", 8, 0.2)


def exchange(stored: StoredRun, field: str, consumers: Sequence[str], parser: str) -> tuple[Exchanged, ...]:
    """Give the columns of consumers of a field as they would read with the parser of another, for each arm.

    AuditorError where one of them does not read the field or the run withholds its rates, StoreError where its folder
    does not hold what it should.
    """
    run = stored.run
    if run.rates_withheld:
        raise AuditorError(f"run {run.run_id}: its rates are withheld, since there are broken references")
    with opened([("old", stored)]) as (connection, (side,)):
        readers = side.readers(field) if field in side.spec.fields else []
        for name in (*consumers, parser):
            if name not in readers:
                raise AuditorError(f"run {run.run_id}: {name} does not read {field}; {', '.join(readers) or 'none'} do")
        judging = _Judging(connection, side, field, tuple(readers))
        judging.create()
        return tuple(
            _exchanged(judging, consumer, parser, arm)
            for consumer in consumers
            for arm in _arms(run)
            if consumer != parser
        )


def _arms(run: Run) -> Sequence[str | None]:
    return [one.arm for one in run.arms] or [None]


@dataclass(frozen=True)
class _Judging:
    """The cases of a field with all that was decoded of them, to be judged more than once."""

    connection: duckdb.DuckDBPyConnection
    side: Side
    field: str
    readers: tuple[str, ...]

    def create(self) -> None:
        """Create what is judged, and `as_is`: the verdicts of the run, which must be its own."""
        self.connection.execute("CREATE SCHEMA exchange")
        self.connection.execute("USE exchange")
        self.connection.execute("CREATE VIEW outcomes AS FROM old.outcomes")
        self.connection.execute(f"""
            CREATE TABLE pairs AS
            SELECT field, outcome, prediction, reference, payload, reference_payload, split, arm,
                1::BIGINT AS n, 0::BIGINT AS first_row, case_id AS place
            FROM old.cases WHERE field = {literal(self.field)}""")
        self._judge(self._spec(None, ""), self.index())
        self._check()
        self.connection.execute("CREATE TABLE as_is AS FROM judged")

    def judge(self, consumer: str, parser: str) -> None:
        """Create `judged`, in which a consumer has the decodings of another one, and is asked as that one is."""
        index = self.index()
        self._judge(self._spec(consumer, parser), {**index, consumer: index[parser]})

    def columns(self, arm: str | None) -> dict[str, Column]:
        """Give the columns by the verdicts of `judged`."""
        counts = count_patterns(self.connection, {self.field: self.readers}, arm=arm)[self.field]
        made = make_columns(counts, dict.fromkeys(self.readers, ColumnTraits("")), withhold_rates=False)
        return {one.consumer: replace(one, arm=arm) for one in made}

    def own(self, consumer: str, arm: str | None) -> Column:
        """Give a column as the run has it."""
        return self.side.run.column(self.field, consumer, arm)

    def index(self) -> dict[str, int]:
        """Give the numbers of the consumers in the columns of `outcomes`."""
        return {one.name: number for number, one in enumerate(self.side.run.consumers)}

    def _judge(self, spec: AuditSpec, index: dict[str, int]) -> None:
        ((with_payloads,),) = self.connection.execute("SELECT count(payload) > 0 FROM outcomes").fetchall()
        create_judged(self.connection, spec, {self.field: self.readers}, index, payloads=with_payloads)

    def _spec(self, consumer: str | None, parser: str) -> AuditSpec:
        """Give the spec as far as judging goes, with one consumer asked as another is."""
        ordered = [*self.readers, *(one.name for one in self.side.run.consumers if one.name not in self.readers)]
        consumers = {name: self._consumer(parser if name == consumer else name) for name in ordered}
        fields = {self.field: self.side.spec.fields[self.field]}
        return self.side.spec.model_copy(update={"consumers": consumers, "fields": fields})

    def _consumer(self, name: str) -> ConsumerSpec:
        asked = how_asked(self.side, name)
        if "receives" not in asked:
            raise StoreError(
                f"run {self.side.run.run_id}: it does not say what {name} receives\n  where: {self.side.folder}\n"
                "  cause: it was stored by an older version\n  next:  run that audit again"
            )
        adapter = next(one.adapter for one in self.side.run.consumers if one.name == name)
        return ConsumerSpec.model_construct(name=name, adapter=cast(Adapter, adapter), receives=asked["receives"])

    def _check(self) -> None:
        for arm in _arms(self.side.run):
            for name, column in self.columns(arm).items():
                own = self.own(name, arm)
                if (column.verdicts, column.blocked_by) != (own.verdicts, own.blocked_by):
                    raise StoreError(
                        f"run {self.side.run.run_id}: its tables do not give the counts of its run.json in"
                        f" {self.field}, {name}\n  where: {self.side.folder}\n"
                        f"  seen:  {column.verdicts} and {own.verdicts}\n"
                        "  cause: files of the run were changed\n  next:  run that audit again"
                    )


def _exchanged(judging: _Judging, consumer: str, parser: str, arm: str | None) -> Exchanged:
    judging.judge(consumer, parser)
    run, place = judging.side.run, judging.readers.index(consumer) + 1
    before, after = judging.own(consumer, arm), judging.columns(arm)[consumer]
    others = judging.own(parser, arm)
    after = replace(after, label=others.label, label_note=others.label_note, untrusted=others.untrusted)
    both = _both(judging, place, arm)
    suppressed = _suppressed(run, before, after)
    reader = judging.side.spec.fields[judging.field].reference
    return Exchanged(
        field=judging.field,
        consumer=consumer,
        parser=parser,
        arm=arm,
        before=before,
        after=_withheld(after) if _is_withheld(run, after) else after,
        paired=None if suppressed else pairs_of(both),
        flips=_flips(judging, place, arm),
        rereads=_rereads(judging, consumer, parser, arm),
        suppressed=suppressed,
        moves_references=reader in ("each", consumer),
    )


def _suppressed(run: Run, before: Column, after: Column) -> str:
    """Say why the rates are not to be compared, with the gate of the run."""
    gate = run.gate or _DEFAULT_GATE
    if _is_withheld(run, after):
        return (
            f"with the other parser {after.broken_references:,} references cannot be read, so a run would withhold its"
            " rates"
        )
    if not before.comparable:
        return before.not_comparable
    return closed_because(after.judged, after.blocked, after.support, gate.min_judged, gate.max_blocked)


def _is_withheld(run: Run, after: Column) -> bool:
    """Say whether a run would give no rate; one that has broken references and gives rates was told to report them."""
    return bool(after.broken_references) and not run.broken_references


def _withheld(column: Column) -> Column:
    return replace(
        column,
        coverage=None,
        content_rate=None,
        usable_rate=None,
        interval=None,
        ceiling=None,
        ceiling_interval=None,
    )


_SAME_CASE: Final = "a.place = j.place AND a.arm IS NOT DISTINCT FROM j.arm"


def _turns(place: int, arm: str | None) -> str:
    """SQL for the cases with the letter that a consumer has in the run, and the one that it would have."""
    of_arm = f"WHERE j.arm = {literal(arm)}" if arm is not None else ""
    return f"""
        SELECT j.place, j.p_unit, j.r_unit, substr(a.pattern, {place}, 1) AS before,
            substr(j.pattern, {place}, 1) AS after
        FROM judged j JOIN as_is a ON {_SAME_CASE} {of_arm}"""


def _both(judging: _Judging, place: int, arm: str | None) -> Counter[tuple[str, str]]:
    rows = judging.connection.execute(
        f"SELECT before, after, count(*) FROM ({_turns(place, arm)}) GROUP BY ALL"
    ).fetchall()
    return Counter({(before, after): count for before, after, count in rows})


def _flips(judging: _Judging, place: int, arm: str | None) -> tuple[Flip, ...]:
    rows = judging.connection.execute(f"""
        SELECT before, after, count(*), list(place ORDER BY place)[1:{SHOWN}]
        FROM ({_turns(place, arm)}) WHERE before <> after GROUP BY ALL""").fetchall()
    return in_order(
        Flip(VERDICT_OF[before], VERDICT_OF[after], flip_kind(before, after), count, tuple(cases))
        for before, after, count, cases in rows
    )


def _rereads(judging: _Judging, consumer: str, parser: str, arm: str | None) -> tuple[Reread, ...]:
    """Give the first cases that change, those that are right for one of them before the others."""
    index = judging.index()
    one, other = index[consumer], index[parser]
    rows = judging.connection.execute(f"""
        SELECT t.place, p.token, r.token, p.s{one}, p.v{one}, f.error, p.s{other}, p.v{other}, g.error, before, after
        FROM ({_turns(judging.readers.index(consumer) + 1, arm)}) t
        LEFT JOIN outcomes p ON p.unit = t.p_unit LEFT JOIN outcomes r ON r.unit = t.r_unit
        LEFT JOIN old.faults f ON f.unit = t.p_unit AND f.consumer = {one}
        LEFT JOIN old.faults g ON g.unit = t.p_unit AND g.consumer = {other}
        WHERE before <> after
        ORDER BY before <> 'o' AND after <> 'o', before, after, t.place LIMIT {SHOWN}""").fetchall()
    return tuple(
        Reread(
            case_id, prediction, reference, _said(*row[0:3]), _said(*row[3:6]), VERDICT_OF[row[6]], VERDICT_OF[row[7]]
        )
        for case_id, prediction, reference, *row in rows
    )


def _said(status: str | None, value: str | None, error: str | None) -> str:
    """Say what a parser made of a string, as `view.decoded` does."""
    if status is None:
        return "not asked"
    if status == "v":
        return value or ""
    name = STATUS_OF[status].replace("_", " ")
    return f"{name}: {error}" if error else name
