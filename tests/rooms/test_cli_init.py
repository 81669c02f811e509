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
        ([], "category"),
    ],
)
def test_types_are_guessed_conservatively(values: list[object], type_: str) -> None:
    assert guess_type(tokens(*values), tokens("anything")).type == (type_ if values else "category")


def test_a_guess_says_why() -> None:
    assert guess_type(tokens("0042", "17"), []).why == (
        'some have leading zeros, which a number would lose: all 2 distinct references, such as "17"'
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
    assert "2 of the first 3 replies have no finish reason: those are `unknown`" in text


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
    assert "2 of the first 3 replies hold text around the object, such as a fence: those are `malformed`" in text
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
        ("read_category", "Monthly", "monthly"),
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
