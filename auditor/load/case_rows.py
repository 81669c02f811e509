"""Every case by its id, with the raw values of each field: what `pairs` groups, one by one."""

from __future__ import annotations

import duckdb

from auditor.load.contract import Reader
from auditor.load.pairs import judged_value, wide_sql
from auditor.load.parts import RoleTable
from auditor.load.roles import open_roles
from auditor.load.splits import create_splits
from auditor.spec.models import AuditSpec
from auditor.sql import literal


def create_cases(
    spec: AuditSpec, connection: duckdb.DuckDBPyConnection, *, payloads: bool, reader: Reader | None = None
) -> None:
    """Create the table `cases`: arm, case_id, split, field, outcome, prediction, reference, payload, reference_payload.

    A row per arm (NULL where there are none), expected case and field; values are tokens. The files are those that
    `load` has read, so nothing is proved again.
    """
    roles = open_roles(spec, connection, payloads, reader)
    references = roles.references
    splits = create_splits(spec, roles.predictions, references, connection)
    of_case = f"LEFT JOIN {splits} AS s ON s.id = r.id" if splits else ""
    split = "s.split" if splits else "NULL::VARCHAR"
    connection.execute(
        "CREATE OR REPLACE TABLE cases (arm VARCHAR, case_id VARCHAR, split VARCHAR, field VARCHAR, outcome VARCHAR, "
        "prediction VARCHAR, reference VARCHAR, payload VARCHAR, reference_payload VARCHAR)"
    )
    for arm, predictions in roles.arms.items():
        values = ", ".join(
            f"{{'field': {literal(name)}, 'prediction': {_token(predictions, index, judged_value(index))},"
            f" 'reference': {_token(references, index, f'r.v{index}')}}}"
            for index, name in enumerate(spec.fields)
        )
        try:
            connection.execute(
                f"""
                INSERT INTO cases
                SELECT $arm, case_id, split, v.field, outcome, v.prediction, v.reference, payload, reference_payload
                FROM (
                    SELECT r.id AS case_id, {split} AS split, coalesce(p.outcome, 'missing') AS outcome,
                        CASE WHEN p.outcome = 'judged' THEN p.payload END AS payload, r.payload AS reference_payload,
                        unnest([{values}]) AS v
                    FROM {wide_sql(references, connection, spec.fields, payloads)} AS r
                    LEFT JOIN {wide_sql(predictions, connection, spec.fields, payloads)} AS p ON r.id = p.id
                    {of_case}
                )""",
                {"arm": arm},
            )
        finally:
            predictions.release()
            references.release()


def _token(table: RoleTable, index: int, value: str) -> str:
    name = "value" if table.layout.form == "long" else f"v{index}"
    return table.value(name, f"({value})").as_token()
