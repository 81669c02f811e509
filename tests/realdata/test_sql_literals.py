"""Literals from the test suite of PostgreSQL, in the sessions that they were read in, against our adapter.

The file holds a literal, its session and what the suite expects: a value as that session prints it, an error, or that
it is accepted. Dates, numbers and truth values are compared; of what a session prints in a style of its own it is only
checked that it was accepted.
"""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path

import pytest

from tests.engines.adapters import adapter_of, decode, need
from tests.realdata.plain import needs_real_data, records

pytestmark = needs_real_data

KINDS = {
    "bool": "boolean",
    "date": "date",
    "timestamp": "datetime",
    "timestamptz": "datetime",
    "float8": "decimal",
    "numeric": "decimal",
    "int4": "integer",
}
TRUTH = {"t": "bool:true", "f": "bool:false"}

#: A suite runs in the zone of California; its name says in which order it reads the parts of a day.
ORDERS = {"postgresql-15": "MDY", "postgresql-15/mdy": "MDY", "postgresql-15/dmy": "DMY", "postgresql-15/ymd": "YMD"}

#: The suite's own version, where the machine has it; a later one reads no `Y2001M12D27` any more.
MEASURED = Path("/usr/lib/postgresql/15/bin")
UNREAD_LATER = re.compile(r"Y\d+M\d+D")

#: What the file ascribes to a session that reads the year first; the suite had set the month first before these.
MONTH_FIRST = re.compile(r"Wed Jul 11 10:51:14 \S+ 2001")


def read_alike(kind, row, status, text):
    """Say whether a decoding is what the suite expects, as far as that can be told without a parser of dates."""
    expected = row["expected"]
    if expected.startswith("ERROR"):
        return status == "rejected" and not text.startswith("unexpected type")
    if row["raw"].strip().lower() == "nan":
        return status == "null"
    if status == "rejected":  # accepted by the engine: no field of the type holds it (infinity, a year before Christ)
        return text.startswith("unexpected type")
    if kind == "boolean":
        return text == TRUTH[expected]
    if kind in ("decimal", "integer") and not expected.startswith("accepted"):
        return Decimal(text.partition(":")[2]) == Decimal(expected)
    if re.fullmatch(r"\d{4}-\d\d-\d\d", expected):
        return text == f"date:{expected}"
    return status == "value"


@pytest.mark.parametrize("suite", ORDERS)
def test_a_literal_is_read_as_the_suite_of_postgres_expects(suite):
    need("postgres")
    wanted = [row for row in records("sql_casts.jsonl") if row["consumer"] == suite and row["field"] in KINDS]
    columns = {name: KINDS[name] for name in sorted({row["field"] for row in wanted})}
    reads = {name: f"cast({{value}} as {name})" for name in columns}
    settings = {"TimeZone": "PST8PDT", "DateStyle": f"ISO, {ORDERS[suite]}"}
    server = str(MEASURED) if MEASURED.is_dir() else None
    adapter = adapter_of("postgres", reads, columns, settings=settings, server=server)
    wrong = []
    for name, kind in columns.items():
        rows = [row for row in wanted if row["field"] == name and not MONTH_FIRST.fullmatch(row["raw"])]
        rows = [row for row in rows if server or not UNREAD_LATER.match(row["raw"])]
        answers = decode(adapter, name, [row["raw"] for row in rows])
        for row, (status, text, _) in zip(rows, answers, strict=True):
            if not read_alike(kind, row, status, text):
                wrong.append((row["case_id"], name, row["raw"], row["expected"], status, text))
    adapter.close()
    assert wrong == []
