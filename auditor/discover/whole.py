"""Whether a model file can be run whole, asked of what runs it: the plan of a consumer that would."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from auditor.decode.payload_rows import PayloadKeys
from auditor.decode.sql_model import model_plan
from auditor.discover.found import Model
from auditor.errors import ConsumerError
from auditor.spec.models import AuditSpec, CasesSpec, ConsumerSpec, FieldSpec


@dataclass(frozen=True)
class Whole:
    """`refused` are the fields that the model cannot be run for; `scope` says why not on whole payloads."""

    refused: Mapping[str, str] = field(default_factory=dict)
    scope: str = ""
    error: str = ""


def run_whole(model: Model, engine: str, reads: Sequence[tuple[FieldSpec, str]]) -> Whole:
    """Ask for the plan of a consumer with this model, of all reads at once, and of each where that fails."""
    refused: dict[str, str] = {}
    error = _error(model, engine, reads)
    if error:
        refused = {one[0].name: said for one in reads if (said := _error(model, engine, [one]))}
        reads = [one for one in reads if one[0].name not in refused]
        error = _error(model, engine, reads) if reads else error
        if error:
            return Whole(error=error)
    keys = frozenset(head for spec, _ in reads for head in spec.prediction_path.heads)
    return Whole(refused, scope=_error(model, engine, reads, PayloadKeys(keys, keys)))


def _error(model: Model, engine: Any, reads: Sequence[tuple[FieldSpec, str]], keys: PayloadKeys | None = None) -> str:
    """Say why there is no plan; empty where there is one."""
    fields = {spec.name: spec for spec, _ in reads}
    consumer = ConsumerSpec(
        name=model.name,
        adapter="sql",
        engine=engine,
        model=model.place.file,
        reads={spec.name: column for spec, column in reads},
    )
    folder = Path()
    spec = AuditSpec(
        name="discover",
        file=folder / "audit.toml",
        folder=folder,
        cases=CasesSpec(predictions=(), references=()),
        fields=fields,
        consumers={model.name: consumer},
    )
    try:
        model_plan(spec, consumer, fields, keys)
    except ConsumerError as error:
        return error.seen
    except RecursionError:
        return "it is nested too deeply to be run whole"
    return ""
