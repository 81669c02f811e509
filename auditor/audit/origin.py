"""The stored run whose raw outputs an audit decodes again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from auditor.load.contract import Reader
from auditor.spec.models import CasesSpec


@dataclass(frozen=True)
class Origin:
    """Where the files of an audit come from: a run, its cases as its spec named them, and who takes payloads out."""

    run_id: str
    cases: CasesSpec
    sources: tuple[dict[str, Any], ...]
    reader: Reader | None = None
    runs: Path | None = None  # where the run is stored, if not with those of the spec
    texts: Mapping[str, str] = field(default_factory=dict)  # further files of the run, by name
