"""Files of predictions and references in a folder, loaded in one call."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

from auditor.load import Loaded, load
from auditor.spec.models import AuditSpec, CasesSpec, FieldSpec
from tests.databases import empty_database

Row = tuple[Any, ...]


class Workspace:
    """A folder with files, and what `load` made of them last: `loaded` and the rows of `pairs`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.connection = empty_database()
        self.loaded: Loaded

    def write(self, name: str, content: str | bytes) -> str:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return name

    def json_lines(self, name: str, rows: Sequence[Mapping[str, Any]], *, nulls: bool = True) -> str:
        """Write None as null, or not at all."""
        kept = [{key: value for key, value in row.items() if nulls or value is not None} for row in rows]
        return self.write(name, "".join(json.dumps(row) + "\n" for row in kept))

    def csv(self, name: str, rows: Sequence[Mapping[str, Any]]) -> str:
        """Write texts in quotes and None as an unquoted empty cell."""
        lines = [",".join(map(quoted, rows[0])), *(",".join(map(quoted, row.values())) for row in rows)]
        return self.write(name, "\n".join(lines) + "\n")

    def parquet(self, name: str, rows: Sequence[Mapping[str, Any]], **types: Any) -> str:
        names = list(rows[0])
        arrays = [pyarrow.array([row[key] for row in rows], types.get(key, pyarrow.string())) for key in names]
        pyarrow.parquet.write_table(pyarrow.table(dict(zip(names, arrays, strict=True))), self.folder / name)
        return name

    def spec(
        self, predictions: str | Sequence[str], references: str | Sequence[str], fields: Mapping[str, Any], **cases: Any
    ) -> AuditSpec:
        described = {
            name: FieldSpec(name=name, **(kind if isinstance(kind, dict) else {"type": kind}))
            for name, kind in fields.items()
        }
        files = [(given,) if isinstance(given, str) else tuple(given) for given in (predictions, references)]
        return AuditSpec(
            name="test",
            file=self.folder / "audit.toml",
            folder=self.folder,
            cases=CasesSpec(predictions=files[0], references=files[1], **cases),
            fields=described,
            consumers={},
        )

    def load(
        self,
        predictions: str | Sequence[str],
        references: str | Sequence[str],
        fields: Mapping[str, Any],
        *,
        payloads: bool = False,
        **cases: Any,
    ) -> Loaded:
        self.connection.execute("DROP TABLE IF EXISTS pairs")
        self.loaded = load(self.spec(predictions, references, fields, **cases), self.connection, payloads=payloads)
        return self.loaded

    def pairs(self, columns: str = "field, outcome, prediction, reference, n") -> list[Row]:
        return self.connection.execute(f"SELECT {columns} FROM pairs ORDER BY ALL").fetchall()

    def by_case(self) -> dict[tuple[str, str], tuple[str, str | None, str | None]]:
        """Give outcome, prediction and reference by (case, field), for pairs that stand for one case each."""
        rows = self.connection.execute(
            "SELECT field, outcome, prediction, reference, n, first_row FROM pairs"
        ).fetchall()
        cases = self.loaded.case_at(self.connection, [row[-1] for row in rows])
        assert all(row[4] == 1 for row in rows)
        return {(cases[row[5]], row[0]): (row[1], row[2], row[3]) for row in rows}


def quoted(cell: str | None) -> str:
    """Give a CSV cell that no reader can mistake."""
    return "" if cell is None else '"' + cell.replace('"', '""') + '"'


def written_by_csv(rows: Sequence[Sequence[str]]) -> str:
    """Give rows as Python's csv module writes them."""
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()
