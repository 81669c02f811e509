"""The file of a warehouse's answers: what survives an export, and what makes it no record at all."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from auditor.decode.records import contract_of
from auditor.decode.session import Session
from auditor.errors import ConsumerError
from tests.sessions import described_in, open_consumer, quoted, shown

READS = {
    "effective_date": "try_to_date({value})",
    "total": "try_cast({value} as number(18, 2))",
    "name": "trim({value})",
}
TYPES = {"effective_date": "date", "total": "decimal", "name": "identifier"}
HEADER = ("field", "raw", "status", "value", "type", "error", "seen")


def about(folder: Path, reads: dict[str, str] = READS, **spec: object) -> list[tuple[str, ...]]:
    """Give the rows that say what was recorded."""
    _, consumer = described_in(folder, reads, TYPES, adapter="recorded", **{"engine": "snowflake"} | spec)  # type: ignore[arg-type]
    told = {"engine": "snowflake", "version": "8.40.1", "recorded_at": "2026-11-30 10:00:00", "setting.TIMEZONE": "UTC"}
    told |= {f"contract.{field}": contract_of(consumer, field) for field in reads}
    return [("", name, "about", value, "", "", "") for name, value in told.items()]


def answer(field: str, raw: str, status: str, value: str = "", kind: str = "", error: str = "") -> tuple[str, ...]:
    """Give a row of an answer."""
    return (field, json.dumps(raw), status, value, kind, error, hashlib.md5(raw.encode()).hexdigest())


def as_csv(rows: Sequence[Sequence[str]], header: Sequence[str] = HEADER, delimiter: str = ",") -> str:
    """Write rows as CSV."""
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows([header, *rows])
    return out.getvalue()


def opened(folder: Path, text: str | bytes, reads: dict[str, str] = READS, **consumer: object) -> Session:
    """Write a file of records and open a consumer on it."""
    (folder / "warehouse.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    own = {"adapter": "recorded", "engine": "snowflake", "results": "warehouse.csv"} | consumer
    return open_consumer(folder, reads, types=TYPES, **own)  # type: ignore[arg-type]


def refused(folder: Path, text: str | bytes, **consumer: object) -> str:
    """Give why a file is not taken."""
    with pytest.raises(ConsumerError) as caught, opened(folder, text, **consumer):
        pass
    return str(caught.value)


ANSWERS = [
    answer("effective_date", "03/01/2024", "value", "2024-03-01", "DATE[SB4]"),
    answer("effective_date", "N/A", "null"),
    answer("total", "1.50", "value", "1.50", "NUMBER(18,2)[SB8]"),
    answer("total", "x", "rejected", error="Numeric value 'x' is not recognized"),
    answer("name", "a\r\nb\u00e9,\"'", "value", 'a\nb\u00e9,"', "VARCHAR"),
    answer("name", "", "value", "", "VARCHAR"),
    answer("name", " ", "null", "", "VARCHAR"),
]


def decoded(folder: Path, text: str | bytes) -> list[str]:
    """Decode what was recorded, and one string that was not."""
    with opened(folder, text) as session:
        return [
            *shown(session.decode("effective_date", quoted(["03/01/2024", "N/A"]))),
            *shown(session.decode("total", ['"1.50"', "1.50", '"x"'])),
            *shown(session.decode("name", quoted(["a\r\nb\u00e9,\"'", "", " ", "b"]))),
        ]


EXPECTED = [
    "date:2024-03-01",
    "null: NULL",
    "decimal:1.50",
    "decimal:1.50",
    "rejected: Numeric value 'x' is not recognized",
    'text:a\nb\u00e9,"',
    "text:",
    "null: NULL",
    "not_recorded: the records hold no answer for it: run `auditor record` again for what is new",
]


def test_the_status_decides_and_never_whether_a_cell_is_empty(tmp_path: Path) -> None:
    assert decoded(tmp_path, as_csv([*about(tmp_path), *ANSWERS])) == EXPECTED


def test_columns_may_be_in_any_order_in_any_case_with_other_columns(tmp_path: Path) -> None:
    rows = [(*reversed(row), "7") for row in [*ANSWERS, *about(tmp_path)]]
    text = as_csv(rows, [*(name.upper() for name in reversed(HEADER)), "ROW_NUMBER"])
    assert decoded(tmp_path, text) == EXPECTED


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_exports_of_common_clients_are_read(tmp_path: Path, encoding: str, delimiter: str) -> None:
    text = as_csv([*about(tmp_path), *ANSWERS], delimiter=delimiter)
    assert decoded(tmp_path, text.encode(encoding)) == EXPECTED


def test_files_may_be_appended_to_each_other(tmp_path: Path) -> None:
    first, second = as_csv([*about(tmp_path), *ANSWERS[:3]]), as_csv([*about(tmp_path), *ANSWERS[2:]])
    assert decoded(tmp_path, first + second) == EXPECTED


def test_json_lines_are_read_and_null_is_an_empty_text(tmp_path: Path) -> None:
    lines = []
    for row in [*about(tmp_path), *ANSWERS]:
        cells = {name: cell or None for name, cell in zip(HEADER, row, strict=True)}
        lines.append(json.dumps({name.upper(): cell for name, cell in cells.items() if name != "error" or cell}))
    assert decoded(tmp_path, "\n".join(lines) + "\n") == EXPECTED


def test_it_says_what_was_recorded_and_its_version_is_that_of_the_file(tmp_path: Path) -> None:
    with opened(tmp_path, as_csv([*about(tmp_path), *ANSWERS])) as session:
        ready = session.finish()
    assert ready.settings == {
        "engine": "snowflake 8.40.1",
        "recorded_at": "2026-11-30 10:00:00",
        "results": "warehouse.csv",
        "TIMEZONE": "UTC",
    }
    assert ready.not_fixed == ("clock", "zone", "locale")
    with opened(tmp_path, as_csv([*about(tmp_path), *ANSWERS[1:]])) as session:
        assert session.finish().version != ready.version
    with opened(tmp_path, as_csv([*about(tmp_path), *ANSWERS])) as session:
        assert session.finish().version == ready.version


def test_two_answers_for_one_string_are_an_unstable_warehouse(tmp_path: Path) -> None:
    other = answer("effective_date", "03/01/2024", "value", "2024-01-03", "DATE[SB4]")
    said = refused(tmp_path, as_csv([*about(tmp_path), *ANSWERS, other]))
    start = len(about(tmp_path)) + 2
    assert f"warehouse.csv:{start + len(ANSWERS) + 1} says 2024-01-03 and line {start} says 2024-03-01" in said
    assert "unstable" in said
    assert decoded(tmp_path, as_csv([*about(tmp_path), *ANSWERS, *ANSWERS])) == EXPECTED


def test_another_expression_setting_or_engine_is_another_consumer(tmp_path: Path) -> None:
    text = as_csv([*about(tmp_path), *ANSWERS])
    changed = READS | {"total": "to_number({value}, 18, 2)"}
    said = refused(tmp_path, text, reads=changed)
    assert "reads.total" in said
    assert "run `auditor record subject` again" in said
    assert "reads.effective_date" in refused(tmp_path, text, settings={"DATE_INPUT_FORMAT": "DD/MM/YYYY"})
    assert "recorded in snowflake" in refused(tmp_path, text, engine="redshift")


def test_a_string_that_the_warehouse_read_otherwise_is_no_record(tmp_path: Path) -> None:
    changed = (
        "name",
        json.dumps("\u00e9"),
        "value",
        "\u00c3\u00a9",
        "VARCHAR",
        "",
        hashlib.md5(b"\xc3\x83\xc2\xa9").hexdigest(),
    )
    assert "read another string" in refused(tmp_path, as_csv([*about(tmp_path), changed]))
    for seen in (hashlib.md5("\u00e9".encode("utf-16-le")).hexdigest().upper(), "C3A9"):
        with opened(tmp_path, as_csv([*about(tmp_path), (*changed[:3], "\u00e9", "VARCHAR", "", seen)])) as session:
            assert shown(session.decode("name", quoted(["\u00e9"]))) == ["text:\u00e9"]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([answer("total", "1", "ok")], "the status is 'ok'"),
        ([("total", "1", "value", "1", "", "", "")], "no string in JSON's quotes"),
        ([("total", '"1', "value", "1", "", "", "")], "no string in JSON's quotes"),
        ([("", "version", "about", "9", "", "", "")], "version is '9', and was '8.40.1'"),
    ],
)
def test_a_damaged_row_is_named_by_its_line(tmp_path: Path, rows: list[tuple[str, ...]], says: str) -> None:
    said = refused(tmp_path, as_csv([*about(tmp_path), *rows]))
    assert says in said
    assert f"warehouse.csv:{len(about(tmp_path)) + 2}" in said


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no row about it says its engine"),
        ("field,raw,status\n", "no column value"),
        ("field,raw,status,value,value\n", "the column value twice"),
        ("field,raw,status,value\na,b\n", "line 2 has 2 cells, the header 4"),
        ('field,raw,status,value\n"a', "line 2 is no CSV"),
        ('{"field": "a"\n', "line 1 is no JSON"),
        ('{"field": "total", "raw": "\\"1\\"", "status": "value", "value": 1}\n', "value is 1, not a text"),
        (b"field,raw,status,value\n\xe9\n", "line 2 is not UTF-8"),
    ],
)
def test_a_damaged_file_says_what_is_wrong(tmp_path: Path, text: str | bytes, says: str) -> None:
    assert says in refused(tmp_path, text)


def test_a_missing_file_says_how_it_is_made(tmp_path: Path) -> None:
    with pytest.raises(ConsumerError, match="No such file") as caught:
        open_consumer(tmp_path, READS, types=TYPES, adapter="recorded", engine="snowflake", results="no.csv")
    assert "auditor record" in str(caught.value)
