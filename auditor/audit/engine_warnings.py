"""The table ``warnings``: what SQL engines said or did silently beside a raw value."""

from __future__ import annotations

from collections.abc import Mapping

from duckdb import DuckDBPyConnection

from auditor.audit.answers import Answers
from auditor.audit.transfer import Cells, shown
from auditor.audit.units import FieldUnits


def create_warnings(
    connection: DuckDBPyConnection,
    units: Mapping[str, FieldUnits],
    answers: Mapping[tuple[str, str], Answers],
    index: Mapping[str, int],
) -> None:
    """Create the table, with the unit of each raw value and the number of the consumer."""
    connection.execute("CREATE OR REPLACE TABLE warnings (unit BIGINT, consumer INTEGER, warning VARCHAR)")
    for (name, consumer), one in sorted(answers.items()):
        if not one.engine_warnings:
            continue
        rows = sorted(one.engine_warnings)
        numbers = units[name].columns["unit"].values()
        columns = {
            "unit": Cells(int, [numbers[row] for row in rows]),
            "warning": Cells(str, [one.engine_warnings[row] for row in rows]),
        }
        with shown(connection, "new_warnings", columns):
            connection.execute(f"INSERT INTO warnings SELECT unit, {index[consumer]}, warning FROM new_warnings")
