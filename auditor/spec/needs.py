"""Consumers whose programs are not installed here: left out of the audit, which says so."""

from __future__ import annotations

import os
import shutil

from auditor.errors import Mistake, SpecError
from auditor.model.left_out import LeftOut
from auditor.spec.engines import lacking
from auditor.spec.models import AuditSpec, ConsumerSpec


def leave_out_missing(spec: AuditSpec) -> AuditSpec:
    """Take out the consumers that need a program which is not on their PATH; SpecError where none is left."""
    missing = {name: _missing(consumer) for name, consumer in spec.consumers.items()}
    left_out = tuple(LeftOut(name, spec.consumers[name].owner, some) for name, some in missing.items() if some)
    consumers = {name: consumer for name, consumer in spec.consumers.items() if not missing[name]}
    if not consumers:
        what = "every consumer needs a program that is not installed"
        hint = "; ".join(one.why for one in left_out) + "; install what is missing"
        raise SpecError([Mistake(f"{spec.file}: consumers", what, hint)])
    return spec.model_copy(update={"consumers": consumers, "left_out": left_out}) if left_out else spec


def _missing(consumer: ConsumerSpec) -> tuple[str, ...]:
    """Give the needs that are not there; the name of a consumer's own engine stands for all that the engine needs."""
    path = consumer.env.get("PATH", os.environ.get("PATH"))
    programs = [need for need in consumer.needs if consumer.adapter != "sql" or need != consumer.engine]
    missing = tuple(program for program in programs if shutil.which(program, path=path) is None)
    return missing if len(programs) == len(consumer.needs) else (*missing, *lacking(consumer))
