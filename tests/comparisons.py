"""A workspace whose predictions, references and parsers change between two runs, and the commands in it."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import auditor
from auditor.api import AuditedRun
from auditor.cli.main import app

SPEC = """name = "days"
[cases]
predictions = "predictions.csv"
references = "references.csv"
[fields.day]
type = "date"
reference = "typed"
[consumers.billing]
adapter = "python"
reads.day = "parsers:day"
"""

ISO = "from datetime import date\nday = date.fromisoformat\n"


class Workspace:
    """A folder with a spec; every run in it is a second later than the one before."""

    def __init__(self, folder: Path, spec: str = SPEC, parsers: str = ISO) -> None:
        self.folder = folder
        self.moment = 1_700_000_000
        folder.mkdir(parents=True, exist_ok=True)
        self.write("pyproject.toml", "")
        self.write("audit.toml", spec)
        self.write("parsers.py", parsers)

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def table(self, name: str, rows: Mapping[str, Any], field: str = "day") -> None:
        """Write a file of values by case id: one field, or several by name."""
        with (self.folder / name).open("w", newline="", encoding="utf-8") as file:
            several = isinstance(next(iter(rows.values()), ""), Mapping)
            names = list(next(iter(rows.values()))) if several else [field]
            writer = csv.writer(file)
            writer.writerow(["case_id", *names])
            writer.writerows([case, *(row.values() if several else [row])] for case, row in rows.items())

    def run(self, predictions: Mapping[str, Any] | None = None, **options: Any) -> AuditedRun:
        """Audit, with other predictions if given, and without probes."""
        if predictions is not None:
            self.table("predictions.csv", predictions)
        with chdir(self.folder), pytest.MonkeyPatch.context() as patch:
            patch.setenv("SOURCE_DATE_EPOCH", self._next())
            return auditor.run(**{"probe": "off", **options})

    def auditor(self, *arguments: str) -> Result:
        """Call the command line here."""
        environment = {"COLUMNS": "200", "SOURCE_DATE_EPOCH": self._next()}
        with chdir(self.folder):
            return CliRunner().invoke(app, [str(one) for one in arguments], env=environment)

    def document(self, *arguments: str, code: int = 0) -> dict[str, Any]:
        """Call the command line with a json report, and give that."""
        done = self.auditor(*arguments, "-o", "document.json")
        assert done.exit_code == code, done.output
        found: dict[str, Any] = json.loads((self.folder / "document.json").read_text(encoding="utf-8"))
        return found

    def _next(self) -> str:
        self.moment += 1
        return str(self.moment)


def ids(count: int) -> list[str]:
    """Give ids that sort as they are numbered."""
    return [f"C-{number:03d}" for number in range(1, count + 1)]
