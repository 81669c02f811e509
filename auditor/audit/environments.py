"""Probes every consumer in other environments, and keeps what moved in the tables of `moves.py`."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from duckdb import DuckDBPyConnection

from auditor.audit.answers import Answers
from auditor.audit.batches import Batches
from auditor.audit.events import Launches, Tell, nobody
from auditor.audit.moves import MOVERS, MOVES, Probes
from auditor.audit.requests import Request
from auditor.audit.transfer import CHUNK, Cells, shown
from auditor.audit.units import FieldUnits
from auditor.decode.payload_rows import PayloadKeys
from auditor.decode.session import Session
from auditor.model.decoding import Decodings
from auditor.model.dependence import Answer, Place, Probed
from auditor.model.environment import BASE, Environment
from auditor.probe import Level, Question
from auditor.probe.launch import InBase
from auditor.probe.questions import lost_in, slow_in
from auditor.probe.sent import Sent
from auditor.probe.side_by_side import Subject, probe_side_by_side
from auditor.spec.models import AuditSpec, ConsumerSpec

#: Strings of a field, evenly over the data, that are looked at for what a zone or a language means to them.
LOOKED_AT = 10_000

#: An environment in which not all strings were read has no rate; what was asked twice there counts once.
_INSERT = {
    "moves": "INSERT INTO moves SELECT DISTINCT ON (unit, consumer, environment) * FROM new_moves"
    " WHERE list_contains($launched::VARCHAR[], environment) ORDER BY unit, consumer, environment",
    "movers": "INSERT INTO movers SELECT * FROM new_movers",
    "shown_moves": "INSERT INTO shown_moves SELECT DISTINCT ON (unit, consumer, environment) * FROM new_shown_moves"
    " ANTI JOIN moves USING (unit, consumer, environment) ORDER BY unit, consumer, environment",
}


@dataclass
class _Asked:
    """What one consumer was asked and answered, and how to find the rows of a place again."""

    consumer: ConsumerSpec
    asked: Mapping[str, Request]
    answers: Mapping[tuple[str, str], Answers]
    _known: dict[tuple[str, int], tuple[array[int], Rows | None]] = field(default_factory=dict)
    _kept: dict[str, tuple[Sent, Decodings]] = field(default_factory=dict)  # of fields with one chunk

    def questions(self, spec: AuditSpec) -> dict[str, Question]:
        """Give the questions of the probes, by field."""
        return {
            name: Question(spec.fields[name], request.chunks, partial(self._sent, name), partial(self._base, name))
            for name, request in self.asked.items()
        }

    def _sent(self, name: str, chunk: int) -> Sent:
        return self._of_one_chunk(name)[0] if self.asked[name].chunks == 1 else self.asked[name].at(chunk)[0]

    def _base(self, name: str, chunk: int) -> Decodings:
        return self._of_one_chunk(name)[1] if self.asked[name].chunks == 1 else self._answered(name, chunk)

    def _of_one_chunk(self, name: str) -> tuple[Sent, Decodings]:
        """Give what is sent and answered, made once for all launches; of many chunks it would take too much memory."""
        if name not in self._kept:
            self._kept[name] = self.asked[name].at(0)[0], self._answered(name, 0)
        return self._kept[name]

    def _answered(self, name: str, chunk: int) -> Decodings:
        answers = self.answers[name, self.consumer.name]
        texts, start = answers.texts.chunk(chunk), chunk * CHUNK
        if self.consumer.batch:
            texts = answers.texts.values()
        sent, asked = self.asked[name].at(chunk)
        if asked is None:
            rows: Sequence[int] = range(len(texts))
        else:
            by_string = Rows.of(len(sent.tokens), asked)
            rows = [by_string[position][0] for position in range(len(sent.tokens))]
        found = Decodings([texts[row] for row in rows])
        for position, row in enumerate(rows):
            if texts[row] is None:
                found.faults[position] = answers.faults[start + row]
        return found

    def units_at(self, place: Place) -> Sequence[int]:
        """Give the units that a place answers."""
        name, chunk, position = place
        if (name, chunk) not in self._known:
            column = self.asked[name].units.columns["unit"]
            units = array("q", column.values() if self.consumer.batch else column.chunk(chunk))
            sent, asked = self.asked[name].at(chunk)
            self._known[name, chunk] = units, None if asked is None else Rows.of(len(sent.tokens), asked)
        units, rows = self._known[name, chunk]
        return (units[position],) if rows is None else [units[row] for row in rows[position]]


@dataclass(frozen=True)
class Rows:
    """The rows that each string answers, packed: those of string `n` are `rows[starts[n]:starts[n + 1]]`.

    >>> list(Rows.of(2, [1, 0, None, 1])[1])
    [0, 3]
    """

    starts: array[int]
    rows: array[int]

    @classmethod
    def of(cls, strings: int, asked: Sequence[int | None]) -> Rows:
        """Pack what is asked: for each row the string that answers it, None where none does."""
        starts = array("q", bytes(8 * (strings + 1)))
        for position in asked:
            if position is not None:
                starts[position + 1] += 1
        for position in range(strings):
            starts[position + 1] += starts[position]
        free = array("q", starts)
        rows = array("q", bytes(8 * starts[strings]))
        for row, position in enumerate(asked):
            if position is not None:
                rows[free[position]] = row
                free[position] += 1
        return cls(starts, rows)

    def __getitem__(self, position: int) -> Sequence[int]:
        """Give the rows of one string, in order."""
        return self.rows[self.starts[position] : self.starts[position + 1]]


class _Recorder:
    """Rows of one consumer for ``moves`` and ``movers``, packed as they come: there may be millions."""

    def __init__(self, asked: _Asked, number: int) -> None:
        self.asked, self.number = asked, number
        self.moves = {name: Cells(kind) for name, kind in MOVES.items()}
        self.movers = {name: Cells(kind) for name, kind in MOVERS.items()}
        self.shown = {name: Cells(kind) for name, kind in MOVES.items()}

    def move(self, environment: Environment, place: Place, answer: Answer) -> None:
        """Add an answer that is not that of the base."""
        self._add(self.moves, environment.name, place, answer)

    def _add(self, table: Mapping[str, Cells], environment: str, place: Place, answer: Answer) -> None:
        for unit in self.asked.units_at(place):
            _append(table, (unit, self.number, environment, answer.letter, answer.text, answer.key, answer.error))

    def found(self, result: Probed) -> None:
        """Add what the probes found out about each string."""
        codes = {(mover.place, mover.code) for mover in result.movers} | set(result.others)
        for place, code in sorted(codes):
            for unit in self.asked.units_at(place):
                _append(self.movers, (unit, self.number, code))
        for mover in result.movers:
            if mover.together or mover.code == "unstable":
                for environment, answer in mover.readings[1:]:  # the first is that of the base
                    name = f"{BASE}, again" if environment == BASE else environment
                    self._add(self.shown, name, mover.place, answer)

    def tables(self) -> tuple[tuple[str, Mapping[str, Cells]], ...]:
        """Give the rows by table, in the order to write them in."""
        return ("moves", self.moves), ("movers", self.movers), ("shown_moves", self.shown)


def _append(columns: Mapping[str, Cells], row: Sequence[object]) -> None:
    for column, value in zip(columns.values(), row, strict=True):
        column.extend((value,))


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
        asked = {name: Request(consumer, session, self.units[name], self.batches) for name in reads}
        return _Asked(consumer, asked, self.answers)

    def in_base(self, consumer: str) -> InBase:
        """Give what came of a consumer in the base."""
        own = {name: one for (name, reader), one in self.answers.items() if reader == consumer}
        return InBase(
            lost=sum(lost_in(one.faults) for one in own.values()),
            late=frozenset((name, token) for name, one in own.items() for token in self._late(name, one)),
            slow=sum(slow_in(one.warnings) for one in own.values()),
            unset=frozenset(self.sessions[consumer].readiness.not_fixed),
            inapplicable=self.sessions[consumer].readiness.inapplicable,
        )

    def _late(self, name: str, answers: Answers) -> Iterator[str]:
        tokens = self.units[name].columns["token"]
        for row, fault in answers.faults.items():
            if fault.status == "timed_out":
                yield tokens.chunk(row // CHUNK)[row % CHUNK]


def probe_all(
    connection: DuckDBPyConnection,
    spec: AuditSpec,
    base: Answered,
    level: Level,
    *,
    carried: frozenset[str] | None,
    keys: PayloadKeys | None,
    tell: Tell = nobody,
) -> Probes:
    """Probe all consumers side by side, and write the tables of what moved; `tell` hears of every launch.

    `carried` and `keys` are those that the sessions of the base were opened with.
    """
    recorders = {name: _Recorder(base.of(spec.consumers[name]), base.index[name]) for name in base.sessions}
    subjects = {
        name: Subject(recorder.asked.questions(spec), base.in_base(name), recorder.move, _telling(tell, name))
        for name, recorder in recorders.items()
    }
    strings = {name: one.columns["token"].spread(LOOKED_AT) for name, one in base.units.items()}
    results = probe_side_by_side(spec, subjects, strings, level, carried=carried, keys=keys)
    singles: dict[str, tuple[Environment, ...]] = {}
    at: dict[tuple[str, Place], Sequence[int]] = {}
    for name, (probed, course) in results.items():
        recorder = recorders[name]
        recorder.found(probed)
        varied = {one for some in course.singles.values() for one in some}
        in_force = [one for one, so in zip(probed.launched, probed.in_force, strict=True) if one == so]
        singles[probed.consumer] = tuple(dict.fromkeys(one for one in in_force if one in varied))
        at |= {(probed.consumer, mover.place): recorder.asked.units_at(mover.place) for mover in probed.movers}
        launched = [one.name for one in singles[probed.consumer]]
        for table, columns in recorder.tables():
            if len(columns["unit"]):
                with shown(connection, f"new_{table}", columns):
                    connection.execute(_INSERT[table], {"launched": launched} if table == "moves" else {})
    return Probes(level, tuple(probed for probed, _ in results.values()), singles, at)


def _telling(tell: Tell, consumer: str) -> Callable[[int, int], None]:
    return lambda done, planned: tell(Launches(consumer, done, planned))
