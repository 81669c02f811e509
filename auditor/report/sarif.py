"""A run as SARIF 2.1.0 for code scanning: each bug at the line of the parser where it is proven, else of the spec.

A forge shows what lies in the repository, so a line in an installed library stands beside the line of the spec that
names the consumer. What the team's baseline knows is there as suppressed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import PurePosixPath
from typing import Any, Final
from urllib.parse import quote

from auditor.model.baseline import FAILING, Baseline, day_of
from auditor.model.run import Finding, Location, Run
from auditor.report import view
from auditor.report.text import PROSE_LIMIT, visible, visible_lines

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"

_LEVELS: Final = {"high": "error", "medium": "warning", "low": "note", "info": "note"}


def sarif_text(run: Run, baseline: Baseline) -> str:
    """Give the log: one run, a rule per code, a result per finding, worst first."""
    day = day_of(run)
    findings = view.worst_first(run.findings)
    codes = list(dict.fromkeys(finding.code for finding in findings))
    driver = {
        "name": "fidelity-auditor",
        "semanticVersion": run.auditor_version,
        "rules": [{"id": code, "name": code, "shortDescription": {"text": code.replace("-", " ")}} for code in codes],
    }
    results = [_result(run, finding, codes.index(finding.code), baseline, day) for finding in findings]
    log = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "automationDetails": {"id": f"{visible(run.name or 'audit')}/{run.run_id}"},
                "columnKind": "unicodeCodePoints",
                "results": results,
            }
        ],
    }
    return json.dumps(_shown(log), ensure_ascii=False, indent=2) + "\n"


def _shown(value: Any) -> Any:
    """Escape what would not show in every text, wherever it comes from."""
    if isinstance(value, str):
        return visible_lines(value)
    if isinstance(value, dict):
        return {name: _shown(item) for name, item in value.items()}
    return [_shown(item) for item in value] if isinstance(value, list) else value


def _result(run: Run, finding: Finding, rule: int, baseline: Baseline, day: date) -> dict[str, Any]:
    places = list(_places(run, finding))
    result = {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": _LEVELS[finding.severity],
        "message": {"text": _message(finding)},
        "locations": [_location(*places[0])],
        "partialFingerprints": {"finding/v1": finding.fingerprint},
        "properties": {
            "field": visible(finding.field),
            "consumers": [visible(name) for name in finding.consumers],
            "owners": [visible(name) for name in finding.owners],
            "severity": finding.severity,
            "affected": finding.affected,
        },
    }
    if places[1:]:
        result["relatedLocations"] = [_location(*place) for place in places[1:]]
    state = baseline.state_of(finding, day)
    if state not in FAILING:
        reason = visible(baseline.entries[finding.fingerprint].reason, PROSE_LIMIT)
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": reason}]
    return result


def _message(finding: Finding) -> str:
    fixes = [f"Fix: {visible(fix, PROSE_LIMIT)}" for fix in finding.fixes[:1]]
    parts = (finding.title, finding.detail, finding.cause)
    return "\n".join([*(visible(part, PROSE_LIMIT) for part in parts if part), *fixes])


def _places(run: Run, finding: Finding) -> Iterator[tuple[str, int]]:
    """Give file and line of what is to be mended, the best first: a proven line, the parsers', the spec's."""
    spec = run.spec_place
    folder = PurePosixPath(spec.folder if spec else "")
    lines = dict.fromkeys(_spec_lines(run, finding))
    parsers = _parsers_of(finding, spec.parsers if spec else {})
    in_spec = [(str(folder / parser.file), parser.line) for parser in parsers]
    in_spec += [(str(folder / (run.spec or "audit.toml")), line) for line in lines]
    if finding.location is None:
        yield from in_spec
        return
    place = (str(folder / finding.location.file), finding.location.line)
    if spec is None or finding.location.file in spec.files:
        yield place
        yield from in_spec
    else:
        yield from in_spec
        yield finding.location.file, finding.location.line


def _parsers_of(finding: Finding, parsers: Mapping[str, Location]) -> Iterator[Location]:
    """Give where the consumers' own code stands, each place once."""
    named = (f"{consumer}.{finding.field}" for consumer in finding.consumers)
    yield from dict.fromkeys(parsers[name] for name in named if name in parsers)


def _spec_lines(run: Run, finding: Finding) -> Iterator[int]:
    """Give the lines of the spec that name the parsers of a finding, else its field."""
    lines = run.spec_place.lines if run.spec_place else {}
    named = [line for consumer in finding.consumers if (line := _line_of(consumer, finding.field, lines))]
    yield from named or [lines.get(f"fields.{finding.field}", 1)]


def _line_of(consumer: str, field: str, lines: Mapping[str, int]) -> int | None:
    keys = (f"{consumer}.reads.{field}", f"{consumer}.reads", f"{consumer}.model", consumer)
    return next((lines[key] for key in keys if key in lines), None)


def _location(file: str, line: int) -> dict[str, Any]:
    artifact = {"uri": quote(visible(file), safe="/~")}
    return {"physicalLocation": {"artifactLocation": artifact, "region": {"startLine": max(line, 1)}}}
