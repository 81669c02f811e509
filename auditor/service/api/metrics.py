"""Figures of the latest run of each audit, in the text of OpenMetrics, so that a monitor shows the columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from fastapi import APIRouter
from prometheus_client.core import CollectorRegistry, GaugeMetricFamily, Metric
from prometheus_client.openmetrics.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector
from starlette.responses import Response

from auditor.model.run import Column
from auditor.service.api.asking import Asked, instant
from auditor.service.api.documented import documented
from auditor.service.history import incident
from auditor.service.workspace import Latest, Workspace

router = APIRouter(tags=["metrics"])

_COLUMN = ("audit", "field", "consumer", "split", "arm")

_EXAMPLE = """\
# HELP auditor_content_rate Right answers among the judged cases.
# TYPE auditor_content_rate gauge
auditor_content_rate{audit="contracts",field="total",consumer="billing",split="all",arm=""} 0.641
# EOF
"""


@router.get(
    "/metrics",
    response_class=Response,
    responses={
        **documented(),
        200: {
            "description": "OpenMetrics text",
            "content": {CONTENT_TYPE_LATEST: {"schema": {"type": "string"}, "example": _EXAMPLE}},
        },
    },
)
def metrics(asked: Asked) -> Response:
    """Give the figures of the latest run of each audit; a rate that is undefined or withheld has no sample."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Figures(asked))
    text = generate_latest(registry)  # type: ignore[no-untyped-call]
    return Response(text, headers={"Content-Type": CONTENT_TYPE_LATEST})


class Figures(Collector):
    """The figures of a workspace as they are now."""

    def __init__(self, workspace: Workspace) -> None:
        shelf = workspace.runs.look()
        found = [workspace.latest(shelf, audit) for audit in shelf.audits]
        self._latest = [one for one in found if one is not None]
        self._damaged, self._said = len(shelf.damaged), workspace.said()

    def collect(self) -> Iterator[Metric]:
        """Give each figure with its samples."""
        yield GaugeMetricFamily("auditor_damaged_runs", "Folders among the runs that cannot be read.", self._damaged)
        yield from self._of_runs()
        yield from self._of_columns()
        yield from self._of_findings()

    def _of_runs(self) -> Iterator[Metric]:
        created = _gauge("auditor_run_created_timestamp_seconds", "When the latest run was made.", ("audit",))
        gate = _gauge("auditor_gate_open", "1 where the rates of the latest run are a point of the trend.", ("audit",))
        cases = _gauge("auditor_cases", "Cases of the latest run, expected and judged.", ("audit", "cases"))
        for one in self._latest:
            when = instant(one.run.created_at)
            if when is not None:
                _add(created, (one.name,), when.timestamp())
            _add(gate, (one.name,), 0 if incident(one.entry.record) else 1)
            _add(cases, (one.name, "expected"), one.run.cases.expected)
            _add(cases, (one.name, "judged"), one.run.cases.judged)
        yield from (created, gate, cases)

    def _of_columns(self) -> Iterator[Metric]:
        rates = {
            "content_rate": _gauge("auditor_content_rate", "Right answers among the judged cases.", _COLUMN),
            "usable_rate": _gauge("auditor_usable_rate", "Right answers among all cases in support.", _COLUMN),
            "ceiling": _gauge("auditor_ceiling", "Judged cases that the consumer accepts at all.", _COLUMN),
            "coverage": _gauge("auditor_coverage", "Judged cases among those in support.", _COLUMN),
            "support": _gauge("auditor_support", "Cases that have a reference.", _COLUMN),
            "judged": _gauge("auditor_judged", "Cases in support that were judged.", _COLUMN),
        }
        blocked = _gauge("auditor_blocked", "Cases in support that were not judged, by class.", (*_COLUMN, "class"))
        trusted = _gauge("auditor_trusted", "0 where a bug makes the rate meaningless.", _COLUMN)
        comparable = _gauge("auditor_comparable", "0 where the content gate is closed for the column.", _COLUMN)
        for one in self._latest:
            for column in one.run.columns:
                named = (one.name, column.field, column.consumer, column.split, column.arm or "")
                for name, family in rates.items():
                    if getattr(column, name) is not None:
                        _add(family, named, getattr(column, name))
                for kind, count in column.blocked_by.items():
                    _add(blocked, (*named, kind), count)
                _add(trusted, named, 0 if column.untrusted else 1)
                _add(comparable, named, 1 if _is_comparable(one, column) else 0)
        yield from (*rates.values(), blocked, trusted, comparable)

    def _of_findings(self) -> Iterator[Metric]:
        every = _gauge("auditor_findings", "Bugs, each once.", ("audit", "code", "severity", "state"))
        by_column = _gauge(
            "auditor_column_findings",
            "Bugs, each once for every consumer that has a part in it.",
            ("audit", "field", "consumer", "code", "severity"),
        )
        for one in self._latest:
            states, columns = Counter[tuple[str, ...]](), Counter[tuple[str, ...]]()
            for finding in one.run.findings:
                states[finding.code, finding.severity, self._said.state_of(finding) or "unknown"] += 1
                for consumer in finding.consumers or ("",):
                    columns[finding.field, consumer, finding.code, finding.severity] += 1
            for key, count in states.items():
                _add(every, (one.name, *key), count)
            for key, count in columns.items():
                _add(by_column, (one.name, *key), count)
        yield from (every, by_column)


def _is_comparable(latest: Latest, column: Column) -> bool:
    return column.comparable and not incident(latest.entry.record)


def _gauge(name: str, said: str, labels: Iterable[str]) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, said, labels=tuple(labels))


def _add(family: GaugeMetricFamily, labels: Iterable[str], value: float) -> None:
    # Half of a pair of characters is no text that could be sent.
    family.add_metric([label.encode("utf-8", "backslashreplace").decode() for label in labels], value)
