"""Labels: what stands for production, and what cannot."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import auditor
from auditor.audit.labels import label_note, label_of
from auditor.errors import SpecError
from auditor.model.decoding import Readiness
from auditor.spec.models import ConsumerSpec
from auditor.spec.read import read_spec

SPEC = """
name = "contracts"
[cases]
predictions = "predictions.csv"
references = "references.csv"
[fields.total]
type = "decimal"
[consumers.warehouse]
adapter = "sql"
engine = "%s"
production = "%s"
reads.total = "cast({value} as decimal(18, 2))"
"""


@pytest.mark.parametrize(
    ("engine", "ran", "production", "label", "note"),
    [
        ("postgres", "PostgreSQL 18.6", None, "native", ""),
        ("postgres", "PostgreSQL 15.4", "postgres 15.4", "native", ""),
        ("postgres", "PostgreSQL 18.6", "postgres 15.4", "reference", "postgres 18.6 stands for postgres 15.4"),
        ("postgres", "PostgreSQL 15.18", "postgres 15", "reference", "postgres 15.18 stands for postgres 15"),
        ("mariadb", "mariadb 10.11.19-MariaDB-0+deb12u1", "mariadb 10.11.19", "native", ""),
        ("sqlite", "sqlite 3.40.1 (aa0837)", "SQLite 3.40.1", "native", ""),
        ("spark", "spark 4.3.0", "databricks 17.3", "reference", "spark 4.3.0 stands for databricks 17.3"),
        ("spark", "spark 4.3.0", "databricks", "reference", "spark 4.3.0 stands for databricks"),
        ("googlesql", "googlesql reference (zetasql 0.1.5)", None, "reference", "googlesql 0.1.5 stands for bigquery"),
    ],
)
def test_another_version_or_build_is_a_reference(
    engine: str, ran: str, production: str | None, label: str, note: str
) -> None:
    consumer = ConsumerSpec(name="warehouse", adapter="sql", engine=engine, production=production)  # type: ignore[arg-type]
    ready = Readiness("warehouse", {}, "", {"engine": ran})
    assert (label_of(consumer, ready), label_note(consumer, ready)) == (label, note)


@pytest.mark.parametrize(
    ("engine", "production", "says"),
    [
        ("mariadb", "mysql 8.4", "MariaDB and MySQL are two products"),
        ("postgres", "redshift", "postgres is another product than redshift"),
        ("spark", "snowflake 8", "stands for nothing but itself and databricks"),
        ("postgres", "postgres", "does not say which version"),
        ("postgres", "15.4", "no product with its version"),
    ],
)
def test_another_product_never_stands_for_production(tmp_path: Path, engine: str, production: str, says: str) -> None:
    (tmp_path / "audit.toml").write_text(SPEC % (engine, production))
    with pytest.raises(SpecError) as caught:
        read_spec(tmp_path)
    assert says in str(caught.value)
    assert "consumers.warehouse.production" in str(caught.value)


def test_a_warehouse_out_of_reach_is_a_mistake_that_names_the_way(tmp_path: Path) -> None:
    (tmp_path / "audit.toml").write_text((SPEC % ("snowflake", "")).replace('production = ""\n', ""))
    with pytest.raises(SpecError) as caught:
        read_spec(tmp_path)
    assert "snowflake cannot be run here" in str(caught.value)
    assert "`auditor record warehouse`" in str(caught.value)


def test_the_gap_stands_on_the_column_of_every_report(tmp_path: Path) -> None:
    (tmp_path / "audit.toml").write_text(SPEC % ("duckdb", "duckdb 1.0.0"))
    for name in ("predictions", "references"):
        (tmp_path / f"{name}.csv").write_text("case_id,total\n1,1.5\n")
    run = auditor.run(tmp_path / "audit.toml", probe="off")
    words = f"duckdb {duckdb.__version__} stands for duckdb 1.0.0"
    column = run.column("total", "warehouse")
    assert (column.label, column.label_note) == ("reference", words)
    for name in ("r.md", "r.html", "r.csv", "r.json"):
        run.write(tmp_path / name)
        assert words in (tmp_path / name).read_text()
