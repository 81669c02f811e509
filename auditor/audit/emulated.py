"""Emulated consumers: what their records say of them, and their columns, which are judged apart and decide nothing.

A consumer whose SQL was transpiled takes part in nothing that is said of others, unless the warehouse's own records
show no difference in any of its expressions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from duckdb import DuckDBPyConnection

from auditor.audit.columns import Arms, all_columns
from auditor.decode.session import Session, open_session
from auditor.judge.answers import answer_at
from auditor.load.tokens import string_token
from auditor.model.decoding import Readiness
from auditor.model.figures import plural
from auditor.model.run import Column
from auditor.score.verdict_table import create_judged
from auditor.spec.models import AuditSpec, ConsumerSpec

#: Differences that a note shows, shortest first.
SHOWN = 3

#: What stands where other columns have the codes of findings that make their rate meaningless.
UNTRUSTED = "emulated"


@dataclass(frozen=True)
class Calibration:
    """One expression against the records of its warehouse: strings that both were asked, and how some differ."""

    strings: int
    different: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Say whether there is something to compare, and no difference."""
        return self.strings > 0 and not self.different


@dataclass(frozen=True)
class Emulated:
    """The emulated consumers of a run, by field that each reads; those that are calibrated throughout are decided."""

    calibrations: Mapping[str, Mapping[str, Calibration]]

    @property
    def undecided(self) -> tuple[str, ...]:
        """Name those that take part in nothing."""
        return tuple(
            name for name, fields in self.calibrations.items() if not all(one.holds for one in fields.values())
        )

    def ordered(self, spec: AuditSpec) -> AuditSpec:
        """Give the spec with the undecided consumers last: what is said of the others counts the first ones only."""
        last = self.undecided
        names = [*(name for name in spec.consumers if name not in last), *last]
        return spec.model_copy(update={"consumers": {name: spec.consumers[name] for name in names}})

    def deciding(self, readers: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        """Leave the undecided out of the readers of each field."""
        last = self.undecided
        return {field: tuple(name for name in names if name not in last) for field, names in readers.items()}

    def notes(self) -> tuple[str, ...]:
        """Say of each expression what the records show."""
        found = []
        for name, fields in self.calibrations.items():
            for field, one in fields.items():
                if one.different:
                    count = f"{len(one.different):,} of {plural(one.strings, 'recorded string')}"
                    shown = "; ".join(one.different[:SHOWN])
                    found.append(f"{field}, {name}: the emulation differs from the warehouse on {count}: {shown}")
        return tuple(found)

    def label_note(self, name: str, field: str) -> str:
        """Say what the label `emulated` comes to on a column."""
        one = self.calibrations[name].get(field, Calibration(0, ()))
        if one.holds:
            said = f"calibrated on {plural(one.strings, 'string')}"
            return said if name not in self.undecided else f"{said}, but not in all of its fields: decides nothing"
        if one.different:
            return f"differs from the warehouse on {len(one.different):,} of {one.strings:,} strings: decides nothing"
        return "not calibrated: decides nothing"


def calibrate(spec: AuditSpec, sessions: Mapping[str, Session]) -> Emulated:
    """Hold each emulated consumer against the records of its warehouse, where the spec names any."""
    return Emulated(
        {
            name: _calibrations(spec, consumer, sessions[name])
            for name, consumer in spec.consumers.items()
            if consumer.emulate and name in sessions
        }
    )


def _calibrations(spec: AuditSpec, consumer: ConsumerSpec, session: Session) -> dict[str, Calibration]:
    fields = [name for name in spec.fields if name in consumer.reads]
    if consumer.calibrate is None:
        return dict.fromkeys(fields, Calibration(0, ()))
    own = {"adapter": "recorded", "results": consumer.calibrate, "emulate": False}
    recorded = consumer.model_copy(update=own)
    with open_session(spec, recorded, spec.environment.environment(), spec.fields) as records:
        return {name: _compared(spec, name, session, records) for name in fields}


def _compared(spec: AuditSpec, name: str, session: Session, records: Session) -> Calibration:
    strings = sorted(records.readiness.recorded.get(name, ()), key=lambda text: (len(text), text))
    field = spec.fields[name].model_copy(update={"grain": None})
    tokens = [string_token(text) for text in strings]
    ours, theirs = session.decode(name, tokens), records.decode(name, tokens)
    different = []
    for position, text in enumerate(strings):
        here, there = answer_at(field, ours, position), answer_at(field, theirs, position)
        if (here.letter, here.key) != (there.letter, there.key):
            said = " and ".join(one.text or one.decoding("").status for one in (there, here))
            different.append(f"{json.dumps(text, ensure_ascii=False)[:80]} (recorded and emulated: {said})")
    return Calibration(len(strings), tuple(different))


def columns_apart(
    connection: DuckDBPyConnection,
    spec: AuditSpec,
    found: Emulated,
    readers: Mapping[str, tuple[str, ...]],
    index: Mapping[str, int],
    arms: Arms,
    readiness: Mapping[str, Readiness],
    *,
    payloads: bool,
    withhold_rates: bool,
) -> tuple[Column, ...]:
    """Judge the undecided consumers by themselves, and give their columns; `judged` is theirs afterwards."""
    if not found.undecided:
        return ()
    apart = {field: tuple(name for name in names if name in found.undecided) for field, names in readers.items()}
    create_judged(connection, spec, apart, index, payloads=payloads)
    columns = all_columns(connection, spec, apart, arms, readiness, {}, withhold_rates=withhold_rates)
    return labelled(tuple(replace(one, untrusted=(UNTRUSTED,), recoverable=0) for one in columns), found)


def labelled(columns: tuple[Column, ...], found: Emulated) -> tuple[Column, ...]:
    """Say on the columns of emulated consumers what their label comes to."""
    return tuple(
        replace(one, label_note=f"{one.label_note}, {found.label_note(one.consumer, one.field)}")
        if one.consumer in found.calibrations
        else one
        for one in columns
    )
