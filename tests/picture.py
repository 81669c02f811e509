"""The README's picture of a run: `python -m tests.picture` audits the reference pipeline and draws it again."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
README = REPOSITORY / "README.md"
WIDTH = "100"
#: The paragraphs of the report that are shown, by how they start; the others are left out with an ellipsis.
SHOWN = (
    "contracts ",
    "effective_date ",
    "auto_renew ",
    "HIGH    timezone-dependent",
    "HIGH    value-disagreement  effec",
)
_BLOCK = re.compile(r"(?<=<!-- picture -->\n```text\n).*?(?=\n```\n)", re.DOTALL)


def picture_in(readme: str) -> str:
    """Give the picture that stands in the README."""
    found = _BLOCK.search(readme)
    assert found, "the README has lost its picture"
    return found[0]


def drawn(report: str) -> str:
    """Give the picture of a report."""
    parts: list[str] = []
    for paragraph in report.rstrip().split("\n\n"):
        if paragraph.startswith(SHOWN):
            parts.append(paragraph)
        elif parts[-1] != "…":
            parts.append("…")
    return "\n\n".join(parts)


def report_in(folder: Path, *command: str) -> str:
    """Call the auditor in a folder, on a page of the picture's width."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(REPOSITORY), "COLUMNS": WIDTH}
    command = (sys.executable, "-m", "auditor", *command)
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    new = drawn(report_in(REPOSITORY, "run", "--fail-on", "never"))
    README.write_text(_BLOCK.sub(lambda _: new, README.read_text(encoding="utf-8")), encoding="utf-8")
