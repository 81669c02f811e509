"""Every case by its id, with the raw values of each field: what `pairs` groups, one by one."""

from __future__ import annotations

import duckdb

from auditor.load.contract import Reader
from auditor.load.pairs import judged_value, wide_sql
from auditor.load.parts import RoleTable
from auditor.load.roles import open_roles
from auditor.spec.models import AuditSpec
from auditor.sql import literal


def create_cases(
    spec: AuditSpec, connection: duckdb.DuckDBPyConnection, *, payloads: bool, reader: Reader | None = None
) -> None:
    """Create the table `cases`: case_id, split, field, outcome, prediction, reference, payload, reference_payload.

    A row per expected case and field, raw values as tokens. The files are those that `load` has read, so nothing is
    proved again.
    """
    roles = open_roles(spec, connection, payloads, reader)
    predictions, references = roles.predictions, roles.references
    splits = spec.cases.split is not None
    split = "coalesce(r.split, p.split)" if splits else "NULL::VARCHAR"
    values = ", ".join(
        f"{{'field': {literal(name)}, 'prediction': {_token(predictions, index, judged_value(index))},"
        f" 'reference': {_token(references, index, f'r.v{index}')}}}"
        for index, name in enumerate(spec.fields)
    )
    try:
        connection.execute(f"""
            CREATE OR REPLACE TABLE cases AS
            SELECT case_id, split, v.field AS field, outcome, v.prediction AS prediction, v.reference AS reference,
                payload, reference_payload
            FROM (
                SELECT r.id AS case_id, {split} AS split, coalesce(p.outcome, 'missing') AS outcome,
                    CASE WHEN p.outcome = 'judged' THEN p.payload END AS payload, r.payload AS reference_payload,
                    unnest([{values}]) AS v
                FROM {wide_sql(references, connection, spec.fields, payloads, splits)} AS r
                LEFT JOIN {wide_sql(predictions, connection, spec.fields, payloads, splits)} AS p ON r.id = p.id
            )""")
    finally:
        predictions.release()
        references.release()


def _token(table: RoleTable, index: int, value: str) -> str:
    name = "value" if table.layout.form == "long" else f"v{index}"
    return table.value(name, f"({value})").as_token()
