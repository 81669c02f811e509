"""Fresh processes of one consumer, each in an environment of its own."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TypeVar

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

#: What `not_varied` calls the launches that look for the line that reads the clock.
READING_LINE = "the clock of one line"

#: Names in `not_fixed` of the factors of an environment.
PART_OF = {factor: factor.replace("_", " ") for factor in FACTORS}

#: Hears how many processes have answered, of how many that are planned so far.
Report = Callable[[int, int], None]


def silent(done: int, planned: int) -> None:
    """Report to nobody."""


class NotVaried(Exception):
    """An environment that could not be made, or in which the consumer does not run; the text says why."""


@dataclass
class Launcher:
    """Starts processes of one consumer; `launched` and `not_varied` say what came of it.

    `unset` are the factors, each with a value, that could not be set on this machine. `report` hears of every process
    that has answered.
    """

    spec: AuditSpec
    consumer: ConsumerSpec
    base: Environment
    carried: frozenset[str] | None
    keys: PayloadKeys | None
    pool: ThreadPoolExecutor
    stop: Stop
    lost_in_base: int = 0
    slow_in_base: int = 0
    launched: list[Environment] = field(default_factory=list)
    not_varied: dict[str, str] = field(default_factory=dict)
    unset: set[tuple[str, object]] = field(default_factory=set)
    report: Report = silent
    planned: int = 0
    done: int = 0

    def each(
        self, environments: Iterable[Environment], ask: Callable[[Session, Environment], Result]
    ) -> Iterator[tuple[Environment, Result]]:
        """Run `ask` in a fresh process of each environment, side by side; gives those that could be made, in order."""
        futures = deque((one, self.pool.submit(self._in, one, ask)) for one in environments)
        self._plan(len(futures))
        while futures:  # a result is let go of as soon as it is given
            environment, future = futures.popleft()
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
        patience = Patience(START, self.lost_in_base + MORE_LOST, self.slow_in_base)
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
            ) as session:
                self._see_that_it_varies(session, environment)
                return ask(session, environment)
        except ConsumerError as error:
            raise NotVaried(f"{error.tried}: {error.seen}") from error

    def _see_that_it_varies(self, session: Session, environment: Environment) -> None:
        """Note each factor that the worker's canary does not find; NotVaried where none is left."""
        changed = environment.differs_in(self.base)
        missing = [factor for factor in changed if PART_OF[factor] in session.readiness.not_fixed]
        for factor in missing:
            self.unset.add((factor, getattr(environment, factor)))
            self.not_varied.setdefault(factor_note(factor, environment), NOT_SET)
        if changed and len(missing) == len(changed):
            raise NotVaried(NOT_SET)

    def in_force(self, environment: Environment) -> Environment:
        """Give an environment as it was in force: what could not be set is as in the base."""
        factors = [one for one in environment.differs_in(self.base) if (one, getattr(environment, one)) in self.unset]
        return replace(environment, **{factor: getattr(self.base, factor) for factor in factors})

    def note_late(self, environment: Environment, field_name: str, string: str) -> None:
        """Note that a string took too long: what it is there is not known."""
        reason = f"{field_name}: no answer in time for {string[:60]}"
        if self.lost_in_base == 0:
            self._note(environment, reason)

    def _note(self, environment: Environment, reason: str) -> None:
        changed = environment.differs_in(self.base)
        what = factor_note(changed[0], environment) if len(changed) == 1 else environment.name
        self.not_varied.setdefault(what, reason)


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
        late = [position for position, fault in decodings.faults.items() if fault.status == "timed_out"]
        if late:
            launcher.note_late(environment, name, asked[name].tokens[late[0]])
        yield name, decodings
