"""Fresh processes of one consumer, each in an environment of its own."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TypeVar

from auditor.decode.clock import CLOCKS
from auditor.decode.payload_rows import PayloadKeys
from auditor.decode.session import Patience, Session, open_session
from auditor.decode.stop import Stop
from auditor.errors import ConsumerError
from auditor.model.decoding import Decodings
from auditor.model.dependence import Watch
from auditor.model.environment import FACTORS, Environment
from auditor.probe.questions import Question
from auditor.probe.sent import Sent, decode_together
from auditor.spec.models import AuditSpec, ConsumerSpec

Result = TypeVar("Result")

#: Seconds that a start may take in another environment; a consumer that hangs there must stall nothing.
START = 20.0

#: Strings that may time out beyond those that the base has lost, before an environment is given up.
MORE_LOST = 1

#: Why a factor is not varied where the canary does not find it.
NOT_SET = "it could not be set on this machine"

#: The same of a program that says what it has: one with a zone in a file of its own follows no TZ.
NOT_FOLLOWED = "it was set, and the program tells that it has another"

#: What `not_varied` calls the launches that look for the line that reads the clock.
READING_LINE = "the clock of one line"

#: Names in `not_fixed` of the factors of an environment.
PART_OF = {factor: factor.replace("_", " ") for factor in FACTORS}
CLOCK = PART_OF["clock"]

#: Hears how many processes have answered, of how many that are planned so far.
Report = Callable[[int, int], None]


def silent(done: int, planned: int) -> None:
    """Report to nobody."""


class NotVaried(Exception):
    """An environment that could not be made, or in which the consumer does not run; the text says why."""


@dataclass(frozen=True)
class InBase:
    """What came of a consumer in the base environment.

    `lost` strings crashed or hung, of which `late` (field, string) gave no answer in time; `slow` ones took too long
    the first time only; `unset` are the parts that could not be set, as readiness names them, and `inapplicable` the
    factors that the consumer has none of.
    """

    lost: int = 0
    late: frozenset[tuple[str, str]] = frozenset()
    slow: int = 0
    unset: frozenset[str] = frozenset()
    inapplicable: tuple[str, ...] = ()


@dataclass
class Launcher:
    """Starts processes of one consumer; `launched` and `not_varied` say what came of it.

    `unset` are the factors, each with a value, that could not be set on this machine, and `unconfirmed` the factors
    of which a program does not tell that they are in force. `report` hears of every process
    that has answered.
    """

    spec: AuditSpec
    consumer: ConsumerSpec
    base: Environment
    carried: frozenset[str] | None
    keys: PayloadKeys | None
    pool: ThreadPoolExecutor
    stop: Stop
    in_base: InBase = InBase()
    launched: list[Environment] = field(default_factory=list)
    not_varied: dict[str, str] = field(default_factory=dict)
    unset: set[tuple[str, object]] = field(default_factory=set)
    unconfirmed: set[str] = field(default_factory=set)
    report: Report = silent
    planned: int = 0
    done: int = 0

    @property
    def is_service(self) -> bool:
        """Say whether the consumer is a service, which is asked by one process of ours at a time."""
        return self.consumer.adapter == "http"

    def each(
        self, environments: Iterable[Environment], ask: Callable[[Session, Environment], Result]
    ) -> Iterator[tuple[Environment, Result]]:
        """Run `ask` in a fresh process of each environment, side by side; gives those that could be made, in order."""
        wanted = list(environments)
        self._plan(len(wanted))
        started = ((one, self.pool.submit(self._in, one, ask)) for one in wanted)
        for environment, future in started if self.is_service else _given_up(deque(started)):
            try:
                result = future.result()
            except NotVaried as reason:
                self._count_done()
                self._note(environment, str(reason))
            else:
                self._count_done()
                self.launched.append(environment)
                yield environment, result

    def watched(
        self, watches: Iterable[Watch], ask: Callable[[Session, Environment], Result]
    ) -> Iterator[tuple[Watch, Result]]:
        """Run `ask` in fresh processes in the base, each with its clock reads watched; gives those that could be."""
        futures = [(watch, self.pool.submit(self._in, self.base, ask, watch)) for watch in watches]
        self._plan(len(futures))
        for watch, future in futures:
            try:
                result = future.result()
            except NotVaried as reason:
                self._count_done()
                self.not_varied.setdefault(READING_LINE, str(reason))
            else:
                self._count_done()
                yield watch, result

    def _plan(self, launches: int) -> None:
        self.planned += launches
        if launches:
            self.report(self.done, self.planned)

    def _count_done(self) -> None:
        self.done += 1
        self.report(self.done, self.planned)

    def _in(
        self, environment: Environment, ask: Callable[[Session, Environment], Result], watch: Watch | None = None
    ) -> Result:
        patience = Patience(START, self.in_base.lost + MORE_LOST, self.in_base.slow)
        # Where no way to fix the clock has served in the base, each launch would try them all, and start three times.
        clocks = CLOCKS[-1:] if CLOCK in self.in_base.unset else CLOCKS
        try:
            with open_session(
                self.spec,
                self.consumer,
                environment,
                self.spec.fields,
                carried=self.carried,
                keys=self.keys,
                stop=self.stop,
                patience=patience,
                watch=watch,
                clocks=clocks,
            ) as session:
                self._see_that_it_varies(session, environment)
                return ask(session, environment)
        except ConsumerError as error:
            raise NotVaried(f"{error.tried}: {error.seen}") from error

    def _see_that_it_varies(self, session: Session, environment: Environment) -> None:
        """Note each factor that the worker's canary does not find; NotVaried where none is left.

        The others must be as in the base: a launch that lost its clock shows nothing but that.
        """
        self.unconfirmed.update(session.readiness.unconfirmed)
        changed = environment.differs_in(self.base)
        for part in session.readiness.not_fixed:
            if part not in self.in_base.unset and part not in {PART_OF[factor] for factor in changed}:
                raise NotVaried(f"the {part} was not as in the base")
        missing = [factor for factor in changed if PART_OF[factor] in session.readiness.not_fixed]
        reason = NOT_FOLLOWED if self.consumer.adapter == "process" else NOT_SET
        for factor in missing:
            self.unset.add((factor, getattr(environment, factor)))
            self.not_varied.setdefault(factor_note(factor, environment), reason)
        if changed and len(missing) == len(changed):
            raise NotVaried(reason)

    def in_force(self, environment: Environment) -> Environment:
        """Give an environment as it was in force: what could not be set is as in the base."""
        factors = [one for one in environment.differs_in(self.base) if (one, getattr(environment, one)) in self.unset]
        return replace(environment, **{factor: getattr(self.base, factor) for factor in factors})

    def note_late(self, environment: Environment, field_name: str, strings: Iterable[str]) -> None:
        """Note that a string took too long here and not in the base: what it is here is not known."""
        for string in strings:
            if (field_name, string) not in self.in_base.late:
                self._note(environment, f"{field_name}: no answer in time for {string[:60]}")
                return

    def _note(self, environment: Environment, reason: str) -> None:
        changed = environment.differs_in(self.base)
        what = factor_note(changed[0], environment) if len(changed) == 1 else environment.name
        self.not_varied.setdefault(what, reason)


def _given_up(futures: deque[tuple[Environment, Future[Result]]]) -> Iterator[tuple[Environment, Future[Result]]]:
    """Give what was started, all of it by now; a result is let go of as soon as the next is asked for."""
    while futures:
        yield futures.popleft()


def factor_note(factor: str, environment: Environment) -> str:
    """Name a factor with its value, as `not_varied` lists it."""
    value = getattr(environment, factor)
    return PART_OF[factor] if isinstance(value, bool) else f"{PART_OF[factor]} {value}"


def decode_all(
    launcher: Launcher, session: Session, environment: Environment, questions: Mapping[str, Question]
) -> Iterator[tuple[Question, int, Decodings]]:
    """Decode everything that is asked, in the environment's order; gives chunk after chunk."""
    chunks = list(range(max((question.chunks for question in questions.values()), default=0)))
    if environment.order == "reversed":
        chunks.reverse()
    for chunk in chunks:
        asked = {name: question.sent(chunk) for name, question in questions.items() if chunk < question.chunks}
        for name, decodings in _decode(launcher, session, environment, questions, asked):
            yield questions[name], chunk, decodings


def decode_some(
    launcher: Launcher,
    session: Session,
    environment: Environment,
    questions: Mapping[str, Question],
    chosen: Mapping[str, Sent],
) -> dict[str, Decodings]:
    """Decode chosen strings of each field."""
    return dict(_decode(launcher, session, environment, questions, chosen))


def _decode(
    launcher: Launcher,
    session: Session,
    environment: Environment,
    questions: Mapping[str, Question],
    asked: Mapping[str, Sent],
) -> Iterator[tuple[str, Decodings]]:
    order = None if environment.order == "given" else environment.ordered
    wanted = [(questions[name].field, sent) for name, sent in asked.items()]
    if environment.order == "reversed":  # a parser may remember what it read of another field
        wanted.reverse()
    for name, decodings in decode_together(session, wanted, order=order):
        late = (position for position, fault in decodings.faults.items() if fault.status == "timed_out")
        launcher.note_late(environment, name, [asked[name].tokens[position] for position in late])
        yield name, decodings
