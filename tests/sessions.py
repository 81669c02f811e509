"""Sessions for tests: a consumer described in one call."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from auditor.decode.clock import CLOCKS
from auditor.decode.session import Session, open_session
from auditor.model.decoding import Decodings
from auditor.model.dependence import Watch
from auditor.model.environment import Environment
from auditor.spec.models import AuditSpec, CasesSpec, ConsumerSpec, EnvironmentSpec, FieldSpec

PARSERS = Path(__file__).resolve().parent / "hostile" / "parsers"


def open_consumer(
    folder: Path,
    reads: dict[str, str] | None = None,
    *,
    types: dict[str, str] | None = None,
    environment: Environment | None = None,
    carried: frozenset[str] | None = None,
    paths: dict[str, str] | None = None,
    watch: Watch | None = None,
    clocks: Sequence[str] = CLOCKS,
    **consumer: Any,
) -> Session:
    """Open a session on a consumer in `folder`; fields are identifiers unless `types` says otherwise."""
    spec, described = described_in(folder, reads, types, paths, **consumer)
    asked = environment or EnvironmentSpec().environment()
    return open_session(spec, described, asked, spec.fields, carried=carried, watch=watch, clocks=clocks)


def described_in(
    folder: Path,
    reads: dict[str, str] | None = None,
    types: dict[str, str] | None = None,
    paths: dict[str, str] | None = None,
    **consumer: Any,
) -> tuple[AuditSpec, ConsumerSpec]:
    """Describe one consumer in `folder`, and an audit of it alone."""
    types = dict.fromkeys(reads or {}, "identifier") | (types or {})
    fields = {name: FieldSpec(name=name, type=kind, path=(paths or {}).get(name)) for name, kind in types.items()}
    described = ConsumerSpec(**{"name": "subject", "adapter": "python", "reads": reads or {}} | consumer)
    spec = AuditSpec(
        name="test",
        file=folder / "audit.toml",
        folder=folder,
        cases=CasesSpec(predictions=("p.csv",), references=("r.csv",)),
        fields=fields,
        consumers={described.name: described},
    )
    return spec, described


def quoted(texts: Iterable[str]) -> list[str]:
    """Write texts as raw tokens."""
    return [json.dumps(text, ensure_ascii=not text.isprintable()) for text in texts]


def shown(decodings: Decodings) -> list[str]:
    """Write decodings as text: the value, or ``status: error``."""
    return [
        text if text is not None else f"{decodings.faults[index].status}: {decodings.faults[index].error}"
        for index, text in enumerate(decodings.texts)
    ]
