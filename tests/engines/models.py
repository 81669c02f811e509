"""Consumers with a model file on a real engine, opened in this process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from auditor.decode.payload_rows import PayloadKeys
from auditor.decode.sql_model import model_plan
from auditor.spec.models import AuditSpec, CasesSpec, ConsumerSpec, FieldSpec
from auditor.worker.engine_model_adapter import ModelAdapter
from auditor.worker.sql_adapter import open_adapter
from tests.engines.adapters import config_of


def model_of(
    folder: Path,
    engine: str,
    model: str,
    kinds: dict[str, str],
    carried: frozenset[str] | None = None,
    scope: str = "payload",
    **config: Any,
) -> ModelAdapter:
    """Open a model whose output columns have the names of the fields; `carried` are the keys of whole payloads."""
    (folder / "model.sql").write_text(model, encoding="utf-8")
    fields = {name: FieldSpec(name=name, type=kind) for name, kind in kinds.items()}  # type: ignore[arg-type]
    consumer = ConsumerSpec(name="subject", adapter="sql", engine=engine, model="model.sql", scope=scope)  # type: ignore[arg-type]
    spec = AuditSpec(
        name="contracts",
        file=folder / "audit.toml",
        folder=folder,
        cases=CasesSpec(predictions=("p",), references=("r",)),
        fields=fields,
        consumers={"subject": consumer},
    )
    plan = model_plan(spec, consumer, fields, None if carried is None else PayloadKeys(carried, carried))
    adapter = open_adapter(config_of(engine, {}, kinds, plan=plan, **config))
    assert isinstance(adapter, ModelAdapter)
    return adapter
