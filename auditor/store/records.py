"""What a history needs of a run, read in a thousandth of a second: a whole run takes a hundred times as long."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from auditor.errors import StoreError
from auditor.model.document import from_document
from auditor.model.run import SCHEMA, Run, Severity
from auditor.store.reading import read_run


class GateRecord(msgspec.Struct, frozen=True, gc=False):
    """Whether the content gate was open, and why not."""

    open: bool
    reason: str


class CasesRecord(msgspec.Struct, frozen=True, gc=False):
    """Cases that were expected, and those that were judged."""

    expected: int
    judged: int


class ColumnRecord(msgspec.Struct, frozen=True, gc=False):
    """The figures of a column that are compared between runs; a rate is None where it is undefined or withheld."""

    field: str
    consumer: str
    ok: int
    judged: int
    content_rate: float | None
    split: str = "all"
    untrusted: tuple[str, ...] = ()
    comparable: bool = True
    not_comparable: str = ""
    arm: str | None = None
    interval: tuple[float, float] | None = None
    ceiling: float | None = None


class FindingRecord(msgspec.Struct, frozen=True, gc=False):
    """What tells a bug in another run."""

    code: str
    severity: Severity
    fingerprint: str


class ConsumerRecord(msgspec.Struct, frozen=True, gc=False):
    """A consumer as it ran."""

    name: str
    version: str
    settings: dict[str, str] = {}


class RunRecord(msgspec.Struct, frozen=True, gc=False):
    """A run without its evidence."""

    run_id: str
    name: str
    manifest_sha256: str
    created_at: str
    cases: CasesRecord
    consumers: tuple[ConsumerRecord, ...]
    columns: tuple[ColumnRecord, ...]
    findings: tuple[FindingRecord, ...]
    schema: int
    rates_withheld: bool = False
    gate: GateRecord | None = None
    redecoded_of: str = ""


def read_record(path: Path) -> RunRecord:
    """Read a `run.json` as far as a history needs it; StoreError says what is wrong with it."""
    try:
        record = msgspec.json.decode(path.read_bytes(), type=RunRecord)
    except OSError as error:
        raise StoreError(f"{path}: no readable run: {error.strerror or error}") from error
    except msgspec.MsgspecError:
        # A character that is half of a pair is JSON to Python alone, and whose words say more of what is wrong.
        return _record_of(read_run(path))
    if record.schema != SCHEMA:
        raise StoreError(f"{path}: schema {SCHEMA} is expected, seen: {record.schema}; another version wrote it")
    return record


def _record_of(run: Run) -> RunRecord:
    columns = tuple(
        ColumnRecord(
            one.field,
            one.consumer,
            one.verdicts["ok"],
            one.judged,
            one.content_rate,
            one.split,
            one.untrusted,
            one.comparable,
            one.not_comparable,
            one.arm,
            (one.interval.low, one.interval.high) if one.interval else None,
            one.ceiling,
        )
        for one in run.columns
    )
    return RunRecord(
        run.run_id,
        run.name,
        run.manifest_sha256,
        run.created_at,
        CasesRecord(run.cases.expected, run.cases.judged),
        tuple(ConsumerRecord(one.name, one.version, one.settings) for one in run.consumers),
        columns,
        tuple(FindingRecord(one.code, one.severity, one.fingerprint) for one in run.findings),
        run.schema,
        run.rates_withheld,
        GateRecord(run.gate.open, run.gate.reason) if run.gate else None,
        run.redecoded_of,
    )


def read_figures(path: Path) -> Run:
    """Read a run without its witnesses and shapes, which are most of it; StoreError says what is wrong with it."""
    try:
        document: Any = json.loads(path.read_text(encoding="utf-8"))
        for field in document["fields"]:
            field["shapes"] = field["disagreements"] = []
        for finding in document["findings"]:
            finding["witnesses"], finding["shapes"] = [], {}
        return from_document(document)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return read_run(path)
