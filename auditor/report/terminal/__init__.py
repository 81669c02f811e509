"""A run on the terminal: columns with bars, then the bugs, worst first; plain text where it is no terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from auditor.model.run import Run
from auditor.report import environments, view
from auditor.report.terminal.columns import write_fields
from auditor.report.terminal.findings import write_broken_references, write_findings
from auditor.report.terminal.paper import Paper
from auditor.report.terminal.summary import write_summary

if TYPE_CHECKING:
    from rich.console import Console


def write_terminal(run: Run, console: Console) -> None:
    """Print the run: what was audited, broken references if any, a row per column, every bug, and what they come to."""
    paper = Paper(console)
    _write_header(run, paper)
    if run.broken_references:
        write_broken_references(run, paper)
    write_fields(run, paper)
    write_findings(run, paper)
    write_summary(run, paper)


def _write_header(run: Run, paper: Paper) -> None:
    paper.line(paper.text(run.name or "audit", "bold"), paper.text("  " + view.bugs_line(run), _headline_style(run)))
    paper.item("run", f"{run.run_id} · {run.created_at} · auditor {run.auditor_version}", "dim")
    for line in view.case_lines(run):
        paper.item("cases", line)
    paper.item("environment", " · ".join(f"{k} {v}" for k, v in view.environment_parts(run).items()), "dim")
    paper.item("probes", environments.probe_line(run), "" if environments.is_probed(run) else "yellow")
    for note in run.notes:
        paper.item("note", note, "yellow")
    paper.blank()


def _headline_style(run: Run) -> str:
    counts = view.severity_counts(run.findings)
    return "bold red" if "high" in counts else "green" if view.bugs_line(run) == view.NO_BUGS else "yellow"
