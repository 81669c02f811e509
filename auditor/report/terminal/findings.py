"""The bugs, worst first, each with its cause, its witnesses and what can be done."""

from __future__ import annotations

from collections import Counter
from typing import Final

from rich.text import Text

from auditor.model.figures import plural
from auditor.model.run import Finding, Run
from auditor.report import environments, view
from auditor.report.broken import broken_groups
from auditor.report.groups import Group, entries_line, grouped
from auditor.report.terminal.paper import LABEL, Paper
from auditor.report.text import DATA_LIMIT, PROSE_LIMIT
from auditor.report.witnesses import WitnessView, witness_views

WITNESSES: Final = 3
BROKEN: Final = 50
IDS: Final = 30
SHAPES: Final = 8
_STYLES: Final = {"high": "bold red", "medium": "yellow", "low": "blue", "info": "dim"}


def write_broken_references(run: Run, paper: Paper) -> None:
    """Print the references that their decoder does not read: the first values, and how many more there are."""
    paper.line(paper.text(f"BROKEN REFERENCES  {len(run.broken_references):,}", "bold red"))
    groups = broken_groups(run.broken_references)
    for group in groups[:BROKEN]:
        item = group.first
        error = f": {item.error}" if item.error else ""
        paper.line(
            paper.text(item.field),
            Text("  "),
            paper.text(item.raw, "magenta"),
            Text("  "),
            paper.text(group.count, "bold"),
            Text("  "),
            paper.text(f"{item.decoder}: {item.status.replace('_', ' ')}{error}"),
            indent=2,
            hang=2,
        )
        paper.line(paper.text(group.ids(IDS), "dim", PROSE_LIMIT), indent=4)
    rest: Counter[str] = Counter()
    for group in groups[BROKEN:]:
        rest[f"{group.first.field} for {group.first.decoder}"] += len(group.cases)
    if rest:
        listed = ", ".join(f"{count:,} of {where}" for where, count in rest.items())
        paper.line(paper.text(f"{view.more(rest.total())} in the html and json reports: {listed}"), indent=2, hang=2)
    paper.blank()


def write_findings(run: Run, paper: Paper) -> None:
    """Print every bug, or say that there is none and what that does not prove."""
    if not run.findings:
        said = view.no_bugs(run)
        paper.line(paper.text(said, "bold green" if said == view.NO_BUGS else "bold yellow", PROSE_LIMIT))
        paper.line(paper.text(environments.no_proof(run), limit=PROSE_LIMIT))
        return
    groups = grouped(run.findings)
    paper.line(paper.text("BUGS", "bold"), paper.text(f"  {entries_line(groups)}"))
    for group in groups:
        paper.blank()
        _write_group(run, group, paper)


def write_finding(run: Run, finding: Finding, paper: Paper) -> None:
    """Print one bug with all its witnesses."""
    _write_group(run, Group(finding), paper, len(finding.witnesses))


def _write_group(run: Run, group: Group, paper: Paper, most: int = WITNESSES) -> None:
    finding = group.lead
    style = _STYLES[finding.severity]
    owners = ", ".join(group.owners)
    place = " · ".join(part for part in (finding.field, group.who) if part)
    paper.line(
        paper.text(finding.code, style),
        paper.text(f"  {place}"),
        paper.text(f"  owner {owners}" if owners else "", "dim"),
        paper.text(f"  #{finding.fingerprint[:8]}", "dim"),
        hang=8,
        head=Text(finding.severity.upper(), style=style),
    )
    paper.line(paper.text(group.title, "bold", PROSE_LIMIT), indent=2, hang=2)
    if finding.detail:
        paper.line(paper.text(finding.detail, limit=PROSE_LIMIT), indent=2)
    for number, pair in enumerate(group.listed):
        paper.item("" if number else "between", pair, indent=2)
    paper.item("affected", view.affected(finding), indent=2)
    if finding.cause:
        paper.item("cause", finding.cause, indent=2)
    for number, (kind, shapes) in enumerate(view.shape_lists(finding).items()):
        paper.item("" if number else "shapes", f"{kind}: {_shapes(shapes)}", indent=2)
    if finding.location is not None:
        paper.item("at", finding.location.place, indent=2)
    witnesses = witness_views(run, finding)
    for witness in witnesses[:most]:
        _write_witness(witness, paper)
    if len(witnesses) > most:
        more = plural(len(witnesses) - most, "more witness", "more witnesses")
        paper.item("", f"{more} in the html and json reports", "dim", indent=2)
    for number, fix in enumerate(finding.fixes, 1):
        paper.item("to fix" if number == 1 else "", f"{number}. {fix}", indent=2)


def _shapes(shapes: dict[str, int]) -> str:
    ordered = sorted(shapes.items(), key=lambda item: (-item[1], item[0]))
    quoted = [(f'"{shape}"' if " " in shape or "," in shape else shape, count) for shape, count in ordered[:SHAPES]]
    shown = ", ".join(f"{shape} {count:,}" for shape, count in quoted)
    return shown + (f" and {len(ordered) - SHAPES:,} more" if len(ordered) > SHAPES else "")


def _write_witness(witness: WitnessView, paper: Paper) -> None:
    place = paper.text(f"  {witness.place}", "dim")
    paper.item("witness", paper.text(witness.raw, "magenta").append_text(place), indent=2)
    names = [paper.text(reading.consumer) for reading in witness.readings]
    width = min(max((name.cell_len for name in names), default=0), DATA_LIMIT // 10)
    for name, reading in zip(names, witness.readings, strict=True):
        said = paper.text(view.decoded(reading.decoding), "green" if reading.decoding.status == "value" else "red")
        if reading.where:
            said.append_text(paper.text(f"  [{reading.where}]", "yellow"))
        paper.line(said, indent=2 + LABEL, hang=width + 2, head=name.append("  "))
