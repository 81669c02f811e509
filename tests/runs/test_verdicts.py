"""The verdict of every case, whatever form the files have: it adds up to the columns, and names the right ids."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import auditor
from auditor.api import AuditedRun
from auditor.errors import StoreError
from auditor.model.verdicts import FIELD_VERDICTS

PARSERS = """
from datetime import date
from decimal import Decimal

def day(text):
    return date.fromisoformat(text)

def amount(text):
    return Decimal(text.replace(",", ""))
"""

BATCHES = """
def of_rows(read):
    def each(rows):
        return [read(row) if row[0].isdecimal() else None for row in rows]
    return each

day, amount = of_rows(day), of_rows(amount)
"""

MODELS = """
from datetime import date
from decimal import Decimal
from pydantic import BaseModel

class Contract(BaseModel):
    day: date
    total: Decimal
"""

SPEC = """
name = "verdicts"
[cases]
predictions = "{predictions}"
references = "{references}"
{cases}
[fields.day]
type = "date"
{settings}
[fields.total]
type = "decimal"
[consumers.billing]
adapter = "python"
reads.day = "parsers:day"
reads.total = "parsers:amount"
[consumers.api]
adapter = "pydantic"
model = "models:Contract"
"""

#: id, the prediction of day and of total, the references of both.
ROWS = [
    ("c1", "2024-03-01", "12.50", "2024-03-01", "12.50"),
    ("c2", "2024-03-01", "1,250", "2024-03-01", "1250"),
    ("c3", "March 1", "3", "2024-03-01", "4"),
    ("c4", "2024-03-01", "12.50", "2024-03-01", "12.50"),
    ("c5", "2024-03-01", "12.50", "", "12.50"),
]


def written(folder: Path, form: str) -> Path:
    """Write the rows in one of the forms that the auditor reads."""
    (folder / "parsers.py").write_text(PARSERS)
    (folder / "models.py").write_text(MODELS)
    names, cases = ("predictions.csv", "references.csv"), ""
    if form == "one file":
        names = ("records.csv", "records.csv")
        lines = ["case_id,field,prediction,reference"]
        for id_, day, total, of_day, of_total in ROWS:
            lines += [f'{id_},day,"{day}",{of_day}', f'{id_},total,"{total}",{of_total}']
        (folder / "records.csv").write_text("\n".join(lines))
    else:
        references = [{"case_id": row[0], "day": row[3], "total": row[4]} for row in ROWS]
        (folder / "references.csv").write_text(
            "case_id,day,total\n" + "\n".join(",".join(one.values()) for one in references)
        )
        if form == "completions":
            names, cases = ("predictions.jsonl", "references.csv"), 'completion = "reply"\nfinish = "finish"'
            lines = [
                json.dumps({"case_id": id_, "reply": json.dumps({"day": day, "total": total}), "finish": finish})
                for (id_, day, total, *_), finish in zip(ROWS, ("stop", "stop", "stop", "length", "stop"), strict=True)
            ]
            (folder / names[0]).write_text("\n".join([*lines, '{"case_id": "stranger", "reply": "{}"}']))
        else:
            lines = ["case_id,day,total", *(f'{id_},"{day}","{total}"' for id_, day, total, *_ in ROWS)]
            (folder / names[0]).write_text("\n".join(lines))
    spec = SPEC.format(predictions=names[0], references=names[1], cases=cases, settings="")
    (folder / "audit.toml").write_text(spec)
    return folder


def counted(run: AuditedRun) -> dict[tuple[str, str, str], int]:
    """Count the verdicts of cases by column."""
    rows = run.verdicts().aggregate("field, consumer, verdict, count(*)").fetchall()
    return {(field, consumer, verdict): n for field, consumer, verdict, n in rows}


@pytest.mark.parametrize("form", ["columns", "one file", "completions"])
def test_verdicts_of_cases_add_up_to_the_columns(tmp_path: Path, form: str) -> None:
    run = auditor.run(written(tmp_path, form), probe="off")
    found = counted(run)
    expected = {
        (column.field, column.consumer, name): n
        for column in run.columns
        for name, n in {
            **{name: column.verdicts[name] for name in FIELD_VERDICTS},
            **column.blocked_by,
            "unexpected": column.unexpected,
            "unreferenced": column.unreferenced - column.unexpected,
        }.items()
        if n
    }
    assert found == expected
    lost = run.verdicts().filter("field = 'day' AND verdict = 'rejected'").project("case_id, consumer, prediction")
    assert set(lost.fetchall()) >= {("c3", "billing", '"March 1"'), ("c3", "api", '"March 1"')}
    ids = {row[0] for row in run.verdicts().project("case_id").fetchall()}
    assert ids == {row[0] for row in ROWS}


@pytest.mark.parametrize("form", ["columns", "one file", "completions"])
@pytest.mark.parametrize("batch", [False, True])
def test_they_add_up_where_nobody_takes_whole_payloads(tmp_path: Path, form: str, batch: bool) -> None:
    folder = written(tmp_path, form)
    spec = (folder / "audit.toml").read_text()
    spec = spec[: spec.index("[consumers.api]")] + ("batch = true\n" if batch else "")
    (folder / "audit.toml").write_text(spec)
    if batch:
        (folder / "parsers.py").write_text(PARSERS + BATCHES)
    run = auditor.run(folder, probe="off")
    found = counted(run)
    for column in run.columns:
        of_column = {name: n for (field, _, name), n in found.items() if field == column.field}
        assert {name: of_column.get(name, 0) for name in FIELD_VERDICTS} == column.verdicts
    assert sum(found.values()) == 2 * len(ROWS)


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_completions_without_a_consumer_of_payloads_have_verdicts(tmp_path: Path, suffix: str) -> None:
    """Nobody reads the completion as a whole: equal values of different completions are one pair, and cases find it."""
    (tmp_path / "parsers.py").write_text("def read(text): return text")
    replies = {"c1": '{"f": "x"}', "c2": '{"f": "x", "more": 1}', "c3": '{"f": "y"}', "c4": "no JSON"}
    if suffix == "csv":
        quoted = (f'{id_},"{reply.replace(chr(34), chr(34) * 2)}",stop' for id_, reply in replies.items())
        lines = ["case_id,completion,finish_reason", *quoted]
    else:
        lines = [
            json.dumps({"case_id": id_, "completion": reply, "finish_reason": "stop"}) for id_, reply in replies.items()
        ]
    (tmp_path / f"predictions.{suffix}").write_text("\n".join(lines))
    (tmp_path / "references.csv").write_text("case_id,f\n" + "\n".join(f"{id_},x" for id_ in replies))
    (tmp_path / "audit.toml").write_text(
        f'name = "x"\n[cases]\npredictions = "predictions.{suffix}"\nreferences = "references.csv"\n'
        '[fields.f]\ntype = "identifier"\n[consumers.c]\nadapter = "python"\nreads.f = "parsers:read"\n'
    )
    run = auditor.run(tmp_path, probe="off")
    verdicts = run.verdicts().project("case_id, verdict").order("case_id").fetchall()
    assert verdicts == [("c1", "ok"), ("c2", "ok"), ("c3", "wrong"), ("c4", "malformed")]
    assert sorted(n for (n,) in run.table("pairs").project("n").fetchall()) == [1, 1, 2]


def test_a_row_says_what_was_read_and_why_not(tmp_path: Path) -> None:
    run = auditor.load(auditor.run(written(tmp_path, "columns"), probe="off").folder or "")
    rows = run.verdicts().filter("case_id = 'c3' AND consumer = 'billing'").order("field").fetchall()
    assert rows == [
        ("c3", "day", "billing", "rejected", '"March 1"', '"2024-03-01"', None, "date:2024-03-01",
         "ValueError: Invalid isoformat string: 'March 1'", None),
        ("c3", "total", "billing", "wrong", '"3"', '"4"', "decimal:3", "decimal:4", None, None),
    ]  # fmt: skip


def test_the_files_may_be_gone_and_the_verdicts_stay(tmp_path: Path) -> None:
    """A run keeps its input: later changes of the user's files change no verdict."""
    run = auditor.run(written(tmp_path, "one file"), probe="quick")
    before = sorted(run.verdicts().fetchall(), key=repr)
    for name in ("records.csv", "audit.toml", "parsers.py", "models.py"):
        (tmp_path / name).unlink()
    assert run.folder is not None
    assert sorted(auditor.load(run.folder).verdicts().fetchall(), key=repr) == before


def test_what_was_not_stored_says_so(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="store=True"):
        auditor.run(written(tmp_path, "columns"), store=False, probe="off").verdicts()
    run = auditor.run(tmp_path, probe="off")
    assert run.folder is not None
    (run.folder / "sources" / "contract.json").unlink()
    with pytest.raises(StoreError, match="run the audit again"):
        run.verdicts()
