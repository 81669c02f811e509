"""What a long list of bugs comes to: counts by severity and by owner, and where to read all of it."""

from __future__ import annotations

from auditor.model.run import Run
from auditor.report import view
from auditor.report.terminal.paper import Paper


def write_summary(run: Run, paper: Paper) -> None:
    """Print the counts after the bugs, so that they are the last thing on the screen."""
    if not run.findings:
        return
    paper.blank()
    paper.line(paper.text("SUMMARY", "bold"), paper.text(f"  {view.bugs_line(run)}"))
    owners = view.owner_counts(run.findings)
    width = max((len(paper.text(owner).plain) for owner in owners), default=0)
    for owner, counts in owners.items():
        paper.line(paper.text(view.counts_line(counts)), indent=2, hang=width + 2, head=paper.text(f"{owner}  "))
    if any(len(finding.owners) > 1 for finding in run.findings):
        paper.line(paper.text("A bug between several owners counts for each of them.", "dim"), indent=2)
    said = "Html and json reports hold the same, with all witnesses and all counts:"
    command = f"auditor report {run.run_id} -o report.html -o report.json"
    paper.line(paper.text(f"{said} {command}", "dim", 1000), indent=2)
