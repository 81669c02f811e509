"""`auditor init`: a workspace that can be audited, and a spec proposed from the records given."""

import json
import runpy
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from auditor.cli.guess import guess_type
from auditor.cli.main import app
from auditor.spec.models import AuditSpec
from auditor.spec.read import read_spec

PARSERS = Path(__file__).parents[2] / "auditor/cli/templates/workspace/consumers/billing/parsers.py"


def tokens(*values: object) -> list[str]:
    """Write values as JSON text."""
    return [json.dumps(value, ensure_ascii=False) for value in values]


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        (["2024-03-01", "2024-12-31"], "date"),
        (["March 1, 2024", "1 March 2024", "01/03/2024"], "date"),
        (["2024-03-01T00:00:00Z"], "datetime"),
        (["1,234.50 EUR", "$99"], "money"),
        (["1", "24"], "integer"),
        ([1, 24], "integer"),
        (["1", "2.50"], "decimal"),
        ([True, False], "boolean"),
        (["Yes", "no"], "boolean"),
        (["0", "1"], "integer"),
        (["0042", "17"], "identifier"),
        (["PO-1", "AB/77"], "identifier"),
        (["1234567890123456789"], "identifier"),
        (["monthly", "annual"], "category"),
        (["2024-03-01", "soon"], "category"),
        (["04/22/23", "01/06/23"], "date"),
        (["5/8/14"], "date"),
        (["31.12.24", "1.2.24"], "date"),
        (["5/8/14", "7/11/06", "11/15/12", "2/10/14", "[]/[]/2019"], "date"),
        (["5/8/14", "7/11/06", "11/15/12", "[]/[]/2019"], "category"),
        (["20-00-00", "40-47-84"], "identifier"),
        (["13/13/2024"], "identifier"),
        (["X"], "boolean"),
        (["x", "[ ]"], "boolean"),
        (["X", "Y"], "category"),
        (["12.5 kg", "3kg"], "quantity"),
        (["500 g", "1 kg", "12,5 kg"], "quantity"),
        (["30 days", "12 months"], "quantity"),
        (["12 EUR", "5 kg"], "category"),
        (["1", "2", "3", "4", "5", "12A"], "identifier"),
        ([], "category"),
    ],
)
def test_types_are_guessed_conservatively(values: list[object], type_: str) -> None:
    assert guess_type(tokens(*values), tokens("anything")).type == (type_ if values else "category")


def notes(*values: object) -> str:
    return " | ".join(guess_type(tokens(*values), []).notes)


def test_what_dates_in_numbers_leave_open_is_said() -> None:
    assert notes("04/22/23", "01/06/23") == (
        'the month comes first in "04/22/23"; 1 is ambiguous, such as "01/06/23" | '
        'years of two digits, such as "04/22/23": each parser picks the century by a rule of its own'
    )
    assert notes("01/06/2023", "02/06/2023") == (
        'no value tells whether the day or the month comes first; 2 are ambiguous, such as "01/06/2023"'
    )
    assert notes("31.12.2024", "1.1.2024") == 'the day comes first in "31.12.2024"'
    assert notes("31/12/2024", "12/31/2024") == (
        'some have the day first ("31/12/2024") and some the month ("12/31/2024")'
    )
    assert notes("2024-03-01", "1 March 2024") == ""
    values = ("04/22/23", "22/04/23", "1/2/23", "2024-03-01")
    assert [guess_type(tokens(value), []).month_first for value in values] == [True, False, None, None]


def test_what_most_are_and_some_are_not_is_said() -> None:
    guess = guess_type(tokens("5/18/14", "7/11/06", "11/15/12", "2/10/14", "[]/[]/2019"), [])
    assert guess.why == 'written as dates: 4 of 5 distinct references (of 5 read), such as "2/10/14"'
    assert guess.notes[-1] == '1 is no date, such as "[]/[]/2019"; a run will list them as broken references'


def test_a_quantity_has_the_commonest_unit() -> None:
    assert guess_type(tokens("1 kg", "2 kg", "500 g"), []).unit == "kg"
    converted = "a plain number is taken to be in this unit, and other units of its kind are converted"
    assert notes("1 kg", "2 kg", "500 g") == notes("1 kg", "2 kg") == converted
    assert notes("1 kg", "2 kg", "3 gal") == (
        "the references have several units (kg 2, gal 1), and gal is not converted: write them in one"
    )


def test_a_guess_says_why() -> None:
    assert guess_type(tokens("0042", "17", "17"), []).why == (
        'some have leading zeros, which a number would lose: both distinct references (of 3 read), such as "17"'
    )


def test_without_files_a_sample_is_written(tmp_path: Path) -> None:
    said = CliRunner().invoke(app, ["init", "--into", str(tmp_path)])
    assert said.exit_code == 0, said.output
    spec = read_spec(tmp_path)
    assert {name: field.type for name, field in spec.fields.items()} == {
        "effective_date": "date",
        "total": "money",
        "auto_renew": "boolean",
        "po_number": "identifier",
    }
    assert list(spec.consumers) == ["billing", "warehouse"]
    assert ".auditor/" in (tmp_path / ".gitignore").read_text()


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "audit.toml").write_text("mine")
    said = CliRunner().invoke(app, ["init", "--into", str(tmp_path)])
    assert said.exit_code == 2
    assert "there already, and nothing was written" in said.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["audit.toml"]
    assert (tmp_path / "audit.toml").read_text() == "mine"


def test_a_gitignore_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("mine\n")
    said = CliRunner().invoke(app, ["init", "--into", str(tmp_path)])
    assert (tmp_path / ".gitignore").read_text() == "mine\n"
    assert "add .auditor/ to it" in said.stdout


def proposed(folder: Path, predictions: str, references: str) -> AuditSpec:
    """Let `init` propose a spec for two files in `folder`."""
    arguments = ["init", str(folder / predictions), str(folder / references), "--into", str(folder / "workspace")]
    said = CliRunner().invoke(app, arguments)
    assert said.exit_code == 0, said.output
    return read_spec(folder / "workspace")


def test_columns_of_both_files_are_proposed(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("id,total,day,model\n1,12,2024-03-01,x\n2,13,N/A,x\n")
    (tmp_path / "r.csv").write_text("id,total,day,locale\n1,12.50,1 March 2024,en-GB\n2,13,2 March 2024,en-GB\n")
    spec = proposed(tmp_path, "p.csv", "r.csv")
    assert spec.cases.predictions == ("../p.csv",)
    assert spec.cases.id == "id"
    assert {name: (field.type, field.reference) for name, field in spec.fields.items()} == {
        "total": ("decimal", "typed"),
        "day": ("date", "billing"),
    }, "a reference that is not in canonical form is read by the consumer"
    assert list(spec.consumers) == ["billing"]


def written(folder: Path, predictions: str, references: str) -> tuple[AuditSpec, str]:
    (folder / "p.csv").write_text(predictions)
    (folder / "r.csv").write_text(references)
    return proposed(folder, "p.csv", "r.csv"), (folder / "workspace/audit.toml").read_text()


@pytest.mark.parametrize(
    ("values", "type_", "reader", "says"),
    [
        (["04/22/23", "05/23/23"], "date", "billing", "none of the 2 distinct references is in canonical form (2024-"),
        (["04/22/23", "2023-05-01"], "date", "billing", "1 of 2 distinct references is not in canonical form (2024-"),
        (["2024-03-01", "2024-03-02"], "date", "typed", "both distinct references are in canonical form"),
        (["2024-02-30", "2024-03-02"], "date", "billing", "1 of 2 distinct references is not in canonical form"),
        (["X", "X"], "boolean", "billing", "the one distinct reference is not in canonical form (true or false)"),
        (["12.5 kg", "1 kg"], "quantity", "typed", "both distinct references are in canonical form"),
        (["12.5 kg", "500 g"], "quantity", "typed", "both distinct references are in canonical form"),
        (["12.5 kg", "3 gal"], "quantity", "billing", "1 of 2 distinct references is not in canonical form"),
        (["PO-1", "PO-2"], "identifier", "typed", "the references are taken as they are written"),
        (["monthly", "annual"], "category", "typed", "the references are taken as they are written"),
    ],
)
def test_who_reads_the_references_is_said_with_the_reason(
    tmp_path: Path, values: list[str], type_: str, reader: str, says: str
) -> None:
    rows = "id,x,n\n" + "".join(f"c{number},{value},1\n" for number, value in enumerate(values))
    spec, text = written(tmp_path, "id,x,n\nc0,monthly,1\n", rows)
    assert (spec.fields["x"].type, spec.fields["x"].reference) == (type_, reader)
    assert says in text


def test_what_is_late_in_the_file_counts(tmp_path: Path) -> None:
    """A guess from the first rows would call all of them canonical."""
    rows = "id,day\n" + "".join(f"c{number},2024-03-01\n" for number in range(3_000)) + "last,01/03/2024\n"
    spec, text = written(tmp_path, rows, rows)
    assert (spec.fields["day"].type, spec.fields["day"].reference) == ("date", "billing")
    assert "(of 3,001 read)" in text and "1 of 2 distinct references is not in canonical form" in text


def test_every_field_of_a_long_file_is_there_however_late_it_comes(tmp_path: Path) -> None:
    rows = [f"c{case},f{field},1,1" for field in range(42) for case in range(60)]
    (tmp_path / "both.csv").write_text("\n".join(["case_id,field,prediction,reference", *rows]) + "\n")
    spec = proposed(tmp_path, "both.csv", "both.csv")
    assert list(spec.fields) == [f"f{field}" for field in range(42)]
    assert "Left out" not in (tmp_path / "workspace/audit.toml").read_text()


def test_what_is_left_out_is_named_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text(
        '{"id": "a", "day": "2024-03-01", "a": {"sum": 1}, "b": {"sum": 2}, "model": "x", "lines": [1]}\n'
    )
    (tmp_path / "r.jsonl").write_text(
        '{"id": "a", "day": "2024-03-01", "sum": 1, "note": "x", "locale": "en-GB", "lines": [1]}\n'
    )
    spec = proposed(tmp_path, "p.jsonl", "r.jsonl")
    text = (tmp_path / "workspace/audit.toml").read_text()
    assert list(spec.fields) == ["day"]
    for line in (
        '# Left out, in the references and not in the predictions: "note"',
        '# Left out, in the predictions and not in the references: "a.sum", "b.sum", "model"',
        '# Left out, in several places of the predictions (set `path`): "sum"',
        '# Left out, about the case, no field of it: "locale"',
        '# Left out, arrays, which are compared as text where you add them: "lines"',
    ):
        assert line in text.splitlines(), line


def test_a_file_that_is_not_read_to_its_end_is_said_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("auditor.cli.records.SAMPLE", 5)
    rows = "id,day\n" + "".join(f"c{number},2024-03-01\n" for number in range(6))
    _, text = written(tmp_path, rows, rows)
    assert "rows were looked at: what occurs only later is not here" in text and "(of 5 read)" in text


@pytest.mark.parametrize(("day", "month_first"), [("04/22/23", True), ("22/04/23", False)])
def test_the_stand_in_reads_dates_in_numbers_as_the_references_have_them(
    tmp_path: Path, day: str, month_first: bool
) -> None:
    rows = f"id,day\nc1,{day}\nc2,{day}\n"
    written(tmp_path, rows, rows)
    parse = runpy.run_path(str(tmp_path / "workspace/consumers/billing/parsers.py"))
    assert parse["MONTH_FIRST_IN_NUMBERS"] is month_first
    assert parse["read_date"](day) == date(2023, 4, 22)


def test_long_form(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("case_id,field,prediction\nc1,n,7\nc1,paid,yes\nc2,n,8\n")
    (tmp_path / "r.csv").write_text("case_id,field,reference\nc1,n,7\nc1,paid,true\nc2,n,8\n")
    spec = proposed(tmp_path, "p.csv", "r.csv")
    assert {name: field.type for name, field in spec.fields.items()} == {"n": "integer", "paid": "boolean"}


def test_completions_with_nested_values(tmp_path: Path) -> None:
    reply = {"total": 12.5, "shipment": {"weight": "3"}}
    rows = [{"doc": f"d{i}", "reply": f"```json\n{json.dumps(reply)}\n```", "finish_reason": "stop"} for i in range(3)]
    (tmp_path / "p.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "r.csv").write_text("doc,total,weight\nd0,12.50,3\nd1,12.50,4\nd2,12.50,4\n")
    spec = proposed(tmp_path, "p.jsonl", "r.csv")
    assert (spec.cases.id, spec.cases.completion) == ("doc", "reply")
    assert (spec.cases.finish, spec.cases.assume_finish) == ("finish_reason", None)
    assert spec.fields["weight"].path == "shipment.weight"
    assert spec.fields["total"].type == "decimal"


def of_completions(folder: Path, *rows: dict[str, object]) -> tuple[AuditSpec, str]:
    """Give the spec that is proposed for completions, and its text."""
    lines = [json.dumps({"id": f"d{i}", "reply": '{"total": 1}', **row}) for i, row in enumerate(rows)]
    (folder / "p.jsonl").write_text("\n".join(lines))
    (folder / "r.csv").write_text("id,total\n" + "".join(f"d{i},1\n" for i in range(len(rows))))
    spec = proposed(folder, "p.jsonl", "r.csv")
    return spec, (folder / "workspace/audit.toml").read_text()


@pytest.mark.parametrize("column", ["finish", "finish_reason", "stop_reason", "finishReason", "why_it_ended"])
def test_a_column_of_finish_reasons_is_named_and_no_reason_is_assumed(tmp_path: Path, column: str) -> None:
    """A reply that was cut off must stay `truncated`: by its name, or by what is in it, the column is found."""
    spec, text = of_completions(tmp_path, {column: "stop"}, {column: "length"})
    assert (spec.cases.finish, spec.cases.assume_finish) == (column, None)
    assert "have no finish reason" not in text


def test_replies_without_a_reason_beside_a_finish_column_are_counted_and_left_unknown(tmp_path: Path) -> None:
    spec, text = of_completions(tmp_path, {"finish_reason": "stop"}, {"finish_reason": None}, {})
    assert (spec.cases.finish, spec.cases.assume_finish) == ("finish_reason", None)
    assert "2 of 3 replies have no finish reason: those are `unknown`" in text


def test_without_a_finish_column_one_is_assumed_and_said(tmp_path: Path) -> None:
    spec, text = of_completions(tmp_path, {"model": "x"}, {"model": "x"})
    assert (spec.cases.finish, spec.cases.assume_finish) == (None, "stop")
    assert "no column of finish reasons was found" in text


def test_a_column_of_transport_errors_is_named(tmp_path: Path) -> None:
    spec, _ = of_completions(tmp_path, {"finish_reason": "stop"}, {"error": "timeout", "reply": None})
    assert spec.cases.error == "error"


def test_replies_with_text_around_the_object_are_counted_with_what_to_do(tmp_path: Path) -> None:
    fenced = '```json\n{"total": 1}\n```'
    _, text = of_completions(tmp_path, {"reply": fenced}, {"reply": fenced}, {})
    assert "2 of 3 replies hold text around the object, such as a fence: those are `malformed`" in text
    assert "JSON mode" in text and "production" in text
    (tmp_path / "clean").mkdir()
    assert "malformed" not in of_completions(tmp_path / "clean", {}, {})[1]


def test_parquet_and_awkward_names(tmp_path: Path) -> None:
    table = pa.table({"id": ["a", "b"], 'the "total"\x7f': [Decimal("1.50"), None], "größe": [date(2024, 3, 1), None]})
    pq.write_table(table, tmp_path / "p.parquet")
    pq.write_table(table, tmp_path / "r.parquet")
    spec = proposed(tmp_path, "p.parquet", "r.parquet")
    assert {name: field.type for name, field in spec.fields.items()} == {'the "total"\x7f': "decimal", "größe": "date"}


@pytest.mark.parametrize(
    ("predictions", "references", "says"),
    [
        ("a,b\n1,2\n", "a,c\n1,2\n", "tells the cases apart"),
        ("id,b\n1,2\n", "id,c\n1,2\n", "shares no field with"),
        ("", "id,c\n1,2\n", "has no rows"),
    ],
)
def test_files_that_do_not_match_leave_nothing_behind(
    tmp_path: Path, predictions: str, references: str, says: str
) -> None:
    (tmp_path / "p.csv").write_text(predictions)
    (tmp_path / "r.csv").write_text(references)
    into = tmp_path / "workspace"
    said = CliRunner().invoke(app, ["init", str(tmp_path / "p.csv"), str(tmp_path / "r.csv"), "--into", str(into)])
    assert said.exit_code == 2
    assert says in said.stderr
    assert not into.exists()


@pytest.mark.parametrize(
    ("function", "text", "value"),
    [
        ("read_date", "2024-03-01", date(2024, 3, 1)),
        ("read_date", "March 1st, 2024", date(2024, 3, 1)),
        ("read_date", "1 Mar 2024", date(2024, 3, 1)),
        ("read_date", "01/03/2024", date(2024, 3, 1)),
        ("read_date", "N/A", ValueError),
        ("read_date", "31/12/69", date(2069, 12, 31)),
        ("read_date", "31/12/70", date(1970, 12, 31)),
        ("read_date", "04/22/23", ValueError),
        ("read_quantity", "12.5 kg", (Decimal("12.5"), "kg")),
        ("read_quantity", "1,200kg", (Decimal(1200), "kg")),
        ("read_quantity", "12", ValueError),
        ("read_quantity", "12,5 kg", ValueError),
        ("read_boolean", "X", True),
        ("read_date", "2024-02-30", ValueError),
        ("read_datetime", "2024-03-01T09:05:07", datetime(2024, 3, 1, 9, 5, 7)),  # noqa: DTZ001
        ("read_datetime", "2024-03-01", ValueError),
        ("read_decimal", "1,234.50", Decimal("1234.50")),
        ("read_decimal", "1,2", ValueError),
        ("read_integer", "24", 24),
        ("read_integer", "24.5", ValueError),
        ("read_money", "$1,234.50", (Decimal("1234.50"), "USD")),
        ("read_money", "EUR 3", (Decimal(3), "EUR")),
        ("read_money", "12", ValueError),
        ("read_boolean", "Yes", True),
        ("read_boolean", "false", False),
        ("read_boolean", "", ValueError),
        ("read_identifier", " 0042 ", "0042"),
        ("read_identifier", "N/A", ValueError),
        ("read_category", " Monthly", "Monthly"),
        ("read_category", "not stated", ValueError),
    ],
)
def test_the_parsers_of_the_workspace_are_sound(function: str, text: str, value: object) -> None:
    parse = runpy.run_path(str(PARSERS))[function]
    if value is ValueError:
        with pytest.raises(ValueError):
            parse(text)
    else:
        assert parse(text) == value
