"""A run as JUnit XML, as CI shows tests: columns, bugs, broken references, and what was not judged.

A column is a test that passes; a finding from `low` on is a failure, unless the team's baseline knows it, which makes
it skipped like what was blocked; a broken reference is an error of the test itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from auditor.model import figures
from auditor.model.baseline import FAILING, Baseline, day_of
from auditor.model.figures import plural
from auditor.model.run import Column, Finding, Run
from auditor.model.thresholds import shortfall
from auditor.report import view
from auditor.report.broken import BrokenGroup, broken_groups
from auditor.report.environments import range_text
from auditor.report.text import PROSE_LIMIT, WHOLE, visible, visible_lines
from auditor.report.told import told, told_broken


def junit_text(run: Run, baseline: Baseline) -> str:
    """Give the document; one suite per kind of test."""
    day = day_of(run)
    root = Element("testsuites", name=visible(run.name or "audit"))
    suites = {
        "columns": [_column(run, column) for column in run.columns],
        "bugs": [_finding(run, finding, baseline, day) for finding in view.worst_first(run.findings)],
        "references": [_broken(group) for group in broken_groups(run.broken_references)],
        "blocked": [_blocked(run, name, count) for name, count in view.blocked_cases(run).items() if count],
    }
    for name, cases in suites.items():
        suite = SubElement(root, "testsuite", {"name": name, "timestamp": run.created_at[:19]} | _counts(cases))
        suite.extend(cases)
    root.attrib.update(_counts([case for cases in suites.values() for case in cases]))
    for element in root.iter():
        _show(element)
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _show(element: Element) -> None:
    """Escape what XML cannot hold, and what would not show, wherever it comes from; the lines of a text stay lines."""
    for name, text in element.attrib.items():
        element.set(name, visible(text, WHOLE))
    if element.text:
        element.text = visible_lines(element.text)


def _counts(cases: list[Element]) -> dict[str, str]:
    kinds = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    counts = {name: str(sum(case.find(kind) is not None for case in cases)) for name, kind in kinds.items()}
    return {"tests": str(len(cases)), **counts}


def _test(kind: str, name: str) -> Element:
    return Element("testcase", classname=visible(kind), name=visible(name))


def _column(run: Run, column: Column) -> Element:
    case = _test(f"column.{column.field}", view.column_name(column))
    rates = "; ".join(_rates(run, column))
    if short := shortfall(column):
        SubElement(case, "failure", type="at-least", message=short).text = rates
    else:
        SubElement(case, "system-out").text = rates
    return case


def _rates(run: Run, column: Column) -> Iterator[str]:
    of = f"{plural(column.judged, 'judged case')}, {column.blocked:,} blocked"
    if column.content_rate is None or column.interval is None:
        yield "rates are withheld: references are broken" if run.rates_withheld else "no case was judged"
        yield of
    else:
        rate = f"{figures.rate(column)} % right, 95 % interval {figures.interval(column.interval)}"
        yield f"{rate}, {column.verdicts['ok']:,} of {of}"
    if moves := range_text(run, column):
        yield moves
    if column.untrusted:
        yield f"not to be trusted: {', '.join(column.untrusted)}"


def _finding(run: Run, finding: Finding, baseline: Baseline, day: date) -> Element:
    case = _test(f"bug.{finding.code}", f"{finding.field}: {', '.join(finding.consumers) or 'all'} {finding.anchor}")
    title, state = visible(finding.title, PROSE_LIMIT), baseline.state_of(finding, day)
    if finding.severity == "info":
        SubElement(case, "system-out").text = title
    elif state not in FAILING:
        entry = baseline.entries[finding.fingerprint]
        until = f" until {entry.until}" if entry.until else ""
        SubElement(case, "skipped", message=visible(f"{state}{until}: {entry.reason}", PROSE_LIMIT))
    else:
        failure = SubElement(case, "failure", type=finding.code, message=f"{finding.severity}, {state}: {title}")
        failure.text = "\n".join(told(run, finding))
    return case


def _broken(group: BrokenGroup) -> Element:
    first = group.first
    case = _test(f"reference.{first.field}", f"{visible(first.raw)} for {first.decoder}")
    message, cases = told_broken(group)
    SubElement(case, "error", type="broken-reference", message=message).text = cases
    return case


def _blocked(run: Run, name: str, count: int) -> Element:
    case = _test("blocked", name)
    SubElement(case, "skipped", message=f"{name}: {count:,} of {plural(run.cases.expected, 'case')}, not judged")
    return case
