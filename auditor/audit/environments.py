"""Probes every consumer in other environments, and keeps what moved as tables.

- ``moves(unit, consumer, environment, s, v, k, error)``: what a raw value is in an environment of one changed factor,
  only where that is not what it is in the base.
- ``movers(unit, consumer, code)``: the raw values that a finding is about.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial

from duckdb import DuckDBPyConnection

from auditor.audit.batches import Batches
from auditor.audit.consumers import Answers
from auditor.audit.questions import Question as AskedOfUnits
from auditor.audit.transfer import CHUNK, Cells, shown
from auditor.audit.units import FieldUnits
from auditor.decode.payload_rows import PayloadKeys
from auditor.decode.session import Session
from auditor.decode.stop import Stop
from auditor.model.decoding import Decodings
from auditor.model.dependence import Answer, Place, Probed
from auditor.model.environment import Environment
from auditor.probe import Level, Question, probe_consumer
from auditor.probe.environments import Course, course_of, zones_for
from auditor.probe.launch import Launcher
from auditor.probe.sent import Sent
from auditor.spec.models import AuditSpec, ConsumerSpec

#: Strings that are looked at for abbreviations of zones.
LOOKED_AT = 10_000

_MOVES: dict[str, type[str] | type[int]] = {
    "unit": int,
    "consumer": int,
    "environment": str,
    "s": str,
    "v": str,
    "k": str,
    "error": str,
}
_MOVERS: dict[str, type[str] | type[int]] = {"unit": int, "consumer": int, "code": str}


@dataclass
class _Asked:
    """What one consumer was asked and answered, and how to find the rows of a place again."""

    consumer: ConsumerSpec
    asked: Mapping[str, AskedOfUnits]
    answers: Mapping[tuple[str, str], Answers]
    _known: dict[tuple[str, int], list[list[int]]] = field(default_factory=dict)

    def questions(self, spec: AuditSpec) -> dict[str, Question]:
        """Give the questions of the probes, by field."""
        return {
            name: Question(spec.fields[name], question.chunks, partial(self._sent, name), partial(self._base, name))
            for name, question in self.asked.items()
        }

    def _sent(self, name: str, chunk: int) -> Sent:
        return self.asked[name].at(chunk)[0]

    def _base(self, name: str, chunk: int) -> Decodings:
        answers = self.answers[name, self.consumer.name]
        texts, start = answers.texts.chunk(chunk), chunk * CHUNK
        if self.consumer.batch:
            texts = answers.texts.values()
        sent, asked = self.asked[name].at(chunk)
        rows = range(len(texts)) if asked is None else [rows[0] for rows in _rows_of(len(sent.tokens), asked)]
        found = Decodings([texts[row] for row in rows])
        for position, row in enumerate(rows):
            if texts[row] is None:
                found.faults[position] = answers.faults[start + row]
        return found

    def units_at(self, place: Place) -> Sequence[int]:
        """Give the units that a place answers."""
        name, chunk, position = place
        known = self._known.get((name, chunk))
        if known is None:
            column = self.asked[name].units.columns["unit"]
            units = column.values() if self.consumer.batch else column.chunk(chunk)
            sent, asked = self.asked[name].at(chunk)
            known = [[unit] for unit in units]
            if asked is not None:
                known = [[units[row] for row in rows] for rows in _rows_of(len(sent.tokens), asked)]
            self._known[name, chunk] = known
        return known[position]


def _rows_of(strings: int, asked: Sequence[int | None]) -> list[list[int]]:
    """Give the rows that each string answers."""
    rows: list[list[int]] = [[] for _ in range(strings)]
    for row, position in enumerate(asked):
        if position is not None:
            rows[position].append(row)
    return rows


class _Recorder:
    """Rows of one consumer for ``moves`` and ``movers``, packed as they come: there may be millions."""

    def __init__(self, asked: _Asked, number: int) -> None:
        self.asked, self.number = asked, number
        self.moves = {name: Cells(kind) for name, kind in _MOVES.items()}
        self.movers = {name: Cells(kind) for name, kind in _MOVERS.items()}

    def move(self, environment: Environment, place: Place, answer: Answer) -> None:
        """Add an answer that is not that of the base."""
        for unit in self.asked.units_at(place):
            row = (unit, self.number, environment.name, answer.letter, answer.text, answer.key, answer.error)
            _append(self.moves, row)

    def found(self, result: Probed) -> None:
        """Add what the probes found out about each string."""
        codes = {(mover.place, mover.code) for mover in result.movers} | set(result.others)
        for place, code in sorted(codes):
            for unit in self.asked.units_at(place):
                _append(self.movers, (unit, self.number, code))


def _append(columns: Mapping[str, Cells], row: Sequence[object]) -> None:
    for column, value in zip(columns.values(), row, strict=True):
        column.extend((value,))


@dataclass(frozen=True)
class Probes:
    """What the probes of a run found: `units` are the rows behind each mover.

    `singles` are, by consumer, the environments of one changed factor in which it ran: those that ``moves`` is about.
    """

    level: Level
    of_consumers: tuple[Probed, ...] = ()
    singles: Mapping[str, tuple[Environment, ...]] = field(default_factory=dict)
    units: Mapping[tuple[str, Place], Sequence[int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Answered:
    """What all consumers were asked in the base, and answered; `index` gives their numbers."""

    sessions: Mapping[str, Session]
    units: Mapping[str, FieldUnits]
    batches: Batches
    answers: Mapping[tuple[str, str], Answers]
    index: Mapping[str, int]

    def of(self, consumer: ConsumerSpec) -> _Asked:
        """Give what one consumer was asked."""
        session = self.sessions[consumer.name]
        reads = [name for name in session.readiness.reads if name in self.units and len(self.units[name])]
        asked = {name: AskedOfUnits(consumer, session, self.units[name], self.batches) for name in reads}
        return _Asked(consumer, asked, self.answers)

    def lost(self, consumer: str) -> int:
        """Count the strings on which a consumer crashed or hung."""
        faults = (fault for (_, name), one in self.answers.items() if name == consumer for fault in one.faults.values())
        return sum(fault.status in ("crashed", "timed_out") for fault in faults)


def probe_all(
    connection: DuckDBPyConnection,
    spec: AuditSpec,
    base: Answered,
    keys: tuple[frozenset[str] | None, PayloadKeys | None],
    level: Level,
) -> Probes:
    """Probe all consumers side by side and write ``moves`` and ``movers``.

    `keys` are the `carried` and `keys` that the sessions of the base were opened with.
    """
    create_tables(connection)
    if level == "off":
        return Probes(level)
    results = _probe_each(spec, base, keys, level)
    singles: dict[str, tuple[Environment, ...]] = {}
    at: dict[tuple[str, Place], Sequence[int]] = {}
    for probed, recorder, course in results:
        recorder.found(probed)
        varied = {one for some in course.singles.values() for one in some}
        singles[probed.consumer] = tuple(dict.fromkeys(one for one in probed.launched if one in varied))
        at |= {(probed.consumer, mover.place): recorder.asked.units_at(mover.place) for mover in probed.movers}
        for table, columns in (("moves", recorder.moves), ("movers", recorder.movers)):
            if len(columns["unit"]):
                with shown(connection, f"new_{table}", columns):
                    connection.execute(f"INSERT INTO {table} SELECT * FROM new_{table}")
    return Probes(level, tuple(probed for probed, _, _ in results), singles, at)


def create_tables(connection: DuckDBPyConnection) -> None:
    """Create ``moves`` and ``movers``, empty."""
    names = {int: "BIGINT", str: "VARCHAR"}
    for table, columns in (("moves", _MOVES), ("movers", _MOVERS)):
        listed = ", ".join(f"{name} {names[kind]}" for name, kind in columns.items())
        connection.execute(f"CREATE OR REPLACE TABLE {table} ({listed})")


def _probe_each(
    spec: AuditSpec,
    answered: Answered,
    keys: tuple[frozenset[str] | None, PayloadKeys | None],
    level: Level,
) -> list[tuple[Probed, _Recorder, Course]]:
    """Probe the consumers in threads; all launches of all of them share as many places as there are cores."""
    zones = zones_for(text for one in answered.units.values() for text in one.columns["token"].chunk(0)[:LOOKED_AT])
    base = spec.environment.environment()
    with ExitStack() as stack:
        stop = Stop()
        stack.callback(stop.close)
        launches = stack.enter_context(ThreadPoolExecutor(os.cpu_count() or 1))
        threads = stack.enter_context(ThreadPoolExecutor(max(1, len(answered.sessions))))
        stack.callback(stop.set)

        def probe(name: str) -> tuple[Probed, _Recorder, Course]:
            consumer = spec.consumers[name]
            recorder = _Recorder(answered.of(consumer), answered.index[name])
            launcher = Launcher(spec, consumer, base, *keys, launches, stop, answered.lost(name))
            course = course_of(base, consumer.env, level, zones)
            return probe_consumer(launcher, recorder.asked.questions(spec), course, recorder.move), recorder, course

        return list(threads.map(probe, answered.sessions))
