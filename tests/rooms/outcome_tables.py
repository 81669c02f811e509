"""Builds the outcome tables that findings read, from parsers called directly."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from auditor.audit.moves import create_tables
from auditor.findings.context import Context
from auditor.findings.find import find
from auditor.findings.probes import ProbeOutcome, probe_tokens
from auditor.judge.keys import grain_key
from auditor.judge.shapes import shape_of
from auditor.judge.typed import read_typed
from auditor.model.run import Column, Finding
from auditor.model.verdicts import FIELD_VERDICTS, LETTER_OF, VERDICT_OF
from auditor.spec.models import AuditSpec, CasesSpec, ConsumerSpec, FieldSpec
from tests.databases import empty_database

Parser = Callable[[Any], Any]


class Crash(BaseException):
    """Stands for a parser that takes its process down."""


class Hang(BaseException):
    """Stands for a parser that never answers."""


@dataclass(frozen=True)
class Case:
    """One pair of raw tokens with the number of cases that have it."""

    prediction: str | None
    reference: str | None
    n: int = 1
    place: str | None = None


def cases(*pairs: Sequence[Any], place: str | None = None) -> list[Case]:
    """Make cases from (prediction, reference[, n]) given as Python values; None is missing."""
    return [Case(*(None if raw is None else token(raw) for raw in pair[:2]), *pair[2:], place=place) for pair in pairs]


def token(raw: Any) -> str:
    """Write a raw value as its token; a token made by `Raw` stays as it is."""
    return raw if isinstance(raw, Raw) else json.dumps(raw, ensure_ascii=False)


class Raw(str):
    """The source text of a JSON value."""


def tagged(value: Any, field_type: str = "") -> str:
    """Write a parser's value as tagged text."""
    if isinstance(value, bool):
        return f"bool:{str(value).lower()}"
    if isinstance(value, datetime):
        return f"datetime:{value.isoformat()}"
    if isinstance(value, date):
        return f"date:{value.isoformat()}"
    if isinstance(value, int):
        return f"int:{value}"
    if isinstance(value, float):
        return f"decimal:{value!r}"
    if isinstance(value, Decimal):
        return f"decimal:{value}"
    if isinstance(value, tuple):
        return f"{field_type}:{value[0]} {value[1]}"
    return f"text:{value}"


@dataclass
class Tables:
    """An audit of one field by some parsers."""

    field: FieldSpec
    parsers: Mapping[str, Parser]
    cases: Sequence[Case]
    receives: Mapping[str, str] = field(default_factory=dict)
    probe: bool = True
    payloads: bool = False  # a row per case, as where some consumer validates whole payloads

    def __post_init__(self) -> None:
        self.connection = empty_database()
        self.readers = tuple(self.parsers)
        self.spec = AuditSpec(
            name="test",
            file=Path("audit.toml"),
            folder=Path(),
            cases=CasesSpec(predictions=("p.csv",), references=("r.csv",)),
            fields={self.field.name: self.field},
            consumers={
                name: ConsumerSpec(name=name, owner=f"{name}-team", adapter="python", receives=self._receives(name))  # type: ignore[arg-type]
                for name in self.readers
            },
        )
        self._fill()
        create_tables(self.connection)

    def find(self) -> tuple[Finding, ...]:
        """Give the findings."""
        return find(self.context())

    def context(self) -> Context:
        """Give what findings are made from."""
        return Context(
            connection=self.connection,
            spec=self.spec,
            readers={self.field.name: self.readers},
            index={name: number for number, name in enumerate(self.readers)},
            columns=[self._column(position) for position in range(len(self.readers))],
            probes=tuple(self._probes()) if self.probe else (),
            case_ids=lambda rows: {row: f"case-{row}" for row in rows},
        )

    def _receives(self, consumer: str) -> str:
        return self.receives.get(consumer, "text")

    def decode(self, consumer: str, raw: str) -> tuple[str | None, str | None, str | None, str | None]:
        """Give status letter, value, key and error of a token; all None where the consumer is not asked."""
        received: Any = raw
        if self._receives(consumer) == "python":
            received = json.loads(raw)
        elif self._receives(consumer) == "text":
            if raw == "null":
                return "n", None, None, "JSON null"
            received = json.loads(raw) if raw.startswith('"') else raw
        try:
            value = self.parsers[consumer](received)
        except Crash:
            return "c", None, None, "killed by signal 11"
        except Hang:
            return "t", None, None, "no answer in 2 s"
        except Exception as error:  # noqa: BLE001 - a parser may raise anything
            return "r", None, None, f"{type(error).__name__}: {error}"
        if value is None or value != value:
            return "n", None, None, None
        text = tagged(value, self.field.type)
        key = grain_key(self.field, text)
        return ("v", text, key, None) if key is not None else ("r", None, None, "unexpected type")

    def _probes(self) -> list[ProbeOutcome]:
        outcomes = []
        for name in self.readers:
            for probe in probe_tokens(self.field, self._receives(name)):
                outcomes.append(ProbeOutcome(self.field.name, name, probe, *self.decode(name, probe.token)))
        return outcomes

    def _fill(self) -> None:
        predictions = {(case.prediction, self._payload(number)) for number, case in enumerate(self.cases, 1)}
        references = {(case.reference, None) for case in self.cases}
        rows = sorted(((raw, payload or "") for raw, payload in predictions | references if raw is not None))
        units = {row: number for number, row in enumerate(rows)}
        columns = "".join(f", s{i} VARCHAR, v{i} VARCHAR, k{i} VARCHAR" for i in range(len(self.readers)))
        run = self.connection.execute
        run(
            "CREATE TABLE outcomes (unit BIGINT, field VARCHAR, token VARCHAR, payload VARCHAR,"
            f" role_prediction BOOL, role_reference BOOL, shape VARCHAR, json_type VARCHAR{columns})"
        )
        run("CREATE VIEW own_outcomes AS SELECT * FROM outcomes")
        run("CREATE TABLE faults (unit BIGINT, consumer INTEGER, error VARCHAR)")
        run(
            "CREATE TABLE judged (field VARCHAR, outcome VARCHAR, p_unit BIGINT, r_unit BIGINT, n BIGINT,"
            " first_row BIGINT, place VARCHAR, pattern VARCHAR, shape VARCHAR, same_text BOOLEAN, split VARCHAR,"
            " arm VARCHAR)"
        )
        self.decoded = {(name, raw): self.decode(name, raw) for name in self.readers for raw, _ in units}
        for (raw, payload), unit in units.items():
            roles = [(raw, payload or None) in predictions, (raw, payload or None) in references]
            shape = shape_of(self.field, raw)
            row: list[Any] = [unit, self.field.name, raw, payload or None, *roles, shape, ""]
            for number, name in enumerate(self.readers):
                *outcome, error = self.decoded[name, raw]
                row += outcome
                if error:
                    run("INSERT INTO faults VALUES (?, ?, ?)", [unit, number, error])
            run(f"INSERT INTO outcomes VALUES ({', '.join('?' * len(row))})", row)
        self.patterns: dict[str, int] = {}
        for number, case in enumerate(self.cases, start=1):
            pattern = "".join(LETTER_OF[self._verdict(name, case)] for name in self.readers)
            self.patterns[pattern] = self.patterns.get(pattern, 0) + case.n
            prediction = units.get((case.prediction, self._payload(number) or ""))  # type: ignore[arg-type]
            place = [prediction, units.get((case.reference, "")), case.n, number, case.place, pattern]
            run(
                "INSERT INTO judged VALUES (?, 'judged', ?, ?, ?, ?, ?, ?, '', false, NULL, NULL)",
                [self.field.name, *place],
            )

    def _payload(self, number: int) -> str | None:
        return f'{{"case": {number}}}' if self.payloads else None

    def _verdict(self, consumer: str, case: Case) -> str:
        given = case.prediction not in (None, "null", '""')
        if case.reference in (None, '""', "null"):
            return "unexpected" if given else "unreferenced"
        truth = self._truth(consumer, case.reference)
        if truth is None:
            return "broken_reference"
        if not given:
            return "absent"
        status, _, key, _ = self.decoded[consumer, case.prediction]
        if status != "v":
            return {"r": "rejected", "n": "null", "c": "crashed", "t": "timed_out"}[str(status)]
        return "ok" if key == truth else "wrong"

    def _truth(self, consumer: str, reference: str) -> str | None:
        decoder = self.field.reference
        if decoder == "typed":
            text, _ = read_typed(self.field, reference)
            return None if text is None else grain_key(self.field, text)
        return self.decoded[consumer if decoder == "each" else decoder, reference][2]

    def _column(self, position: int) -> Column:
        verdicts = dict.fromkeys(FIELD_VERDICTS, 0)
        recoverable = outside = 0
        for pattern, n in self.patterns.items():
            verdict = VERDICT_OF[pattern[position]]
            if verdict in verdicts:
                verdicts[verdict] += n
                recoverable += n if pattern[position] in "rndct" and "o" in pattern else 0
            else:
                outside += n
        judged = sum(verdicts.values())
        accepted = verdicts["ok"] + verdicts["wrong"]
        return Column(
            field=self.field.name, consumer=self.readers[position], label="native", support=judged, judged=judged,
            blocked=0, blocked_by={}, verdicts=verdicts, unreferenced=0, unexpected=0, broken_references=outside,
            coverage=1.0, content_rate=None, usable_rate=None, interval=None,
            ceiling=accepted / judged if judged else None, ceiling_interval=None, recoverable=recoverable,
        )  # fmt: skip


def audit(
    field_type: str,
    parsers: Mapping[str, Parser],
    some: Sequence[Case],
    *,
    receives: Mapping[str, str] | None = None,
    probe: bool = True,
    **settings: Any,
) -> tuple[Finding, ...]:
    """Audit one field called `field` and give its findings."""
    spec = FieldSpec(name=settings.pop("name", "field"), type=field_type, **settings)  # type: ignore[arg-type]
    return Tables(spec, parsers, some, receives or {}, probe).find()


def codes(findings: Sequence[Finding]) -> set[str]:
    """Give the codes of findings, without the news of a common shape."""
    return {finding.code for finding in findings} - {"common-shape"}
