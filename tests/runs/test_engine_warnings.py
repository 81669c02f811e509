"""What an SQL engine does silently stands in the run: SQLite's cast makes a number of any text, and says nothing."""

from __future__ import annotations

from pathlib import Path

import auditor

SPEC = """
name = "shop"
[cases]
predictions = "records.csv"
references = "records.csv"
[fields.total]
type = "decimal"
reference = "typed"
[consumers.till]
adapter = "sql"
engine = "sqlite"
reads.total = "cast({value} as real)"
[consumers.books]
adapter = "sql"
engine = "duckdb"
reads.total = "try_cast({value} as decimal(10, 2))"
"""


def test_warnings_are_stored_and_stand_beside_the_verdicts(tmp_path: Path) -> None:
    (tmp_path / "audit.toml").write_text(SPEC)
    rows = ["C-1,total,N/A,1.00", "C-2,total,12 EUR,12.00", "C-3,total,12.00,12.00", "C-4,total,N/A,0.00"]
    (tmp_path / "records.csv").write_text("\n".join(["case_id,field,prediction,reference", *rows]) + "\n")
    run = auditor.run(tmp_path, probe="off")
    said = "the text is no number: SQLite took what it begins with, or 0"
    asked = "case_id, consumer, verdict, warning"
    assert run.verdicts().project(asked).order("case_id, consumer DESC").fetchall() == [
        ("C-1", "till", "wrong", said),
        ("C-1", "books", "null", None),
        ("C-2", "till", "ok", said),
        ("C-2", "books", "null", None),
        ("C-3", "till", "ok", None),
        ("C-3", "books", "ok", None),
        ("C-4", "till", "ok", said),
        ("C-4", "books", "null", None),
    ]
    assert run.table("warnings").project("consumer, warning").fetchall() == [(0, said), (0, said)]
    assert run.folder is not None
    (run.folder / "warnings.parquet").unlink()
    older = auditor.load(run.folder).verdicts().filter("warning IS NOT NULL").fetchall()
    assert older == [], "a run of an older version has no such table"
