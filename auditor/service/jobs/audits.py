"""The audits that the operator lets the service run: known by the names of their specs, which a client can say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from auditor.errors import AuditorError

if TYPE_CHECKING:
    from auditor.spec.models import AuditSpec

#: How much is decoded again in other environments, and what a broken reference does: as the options of `auditor run`.
#: Said here again, since whoever serves pages does not import what audits.
Level = Literal["full", "quick", "off"]
BrokenReferences = Literal["stop", "report"]


@dataclass(frozen=True)
class ConfiguredAudit:
    """An audit by its spec; fields, consumers and their readers are those of the moment at which it was read."""

    name: str
    file: Path
    fields: tuple[str, ...]
    consumers: tuple[str, ...]


@dataclass(frozen=True)
class HowToAudit:
    """How audits are run, as the options of `auditor run` say."""

    probe: Level = "full"
    broken_references: BrokenReferences = "stop"


@dataclass(frozen=True)
class Allowed:
    """What the operator allows: audits by name, folders from which files may be named, bytes of an upload, and jobs
    that run at once.
    """

    audits: Mapping[str, ConfiguredAudit] = field(default_factory=dict)
    folders: tuple[Path, ...] = ()
    most_bytes: int = 1024**3
    at_once: int = 1
    how: HowToAudit = HowToAudit()


def configured_audits(specs: Iterable[Path]) -> dict[str, ConfiguredAudit]:
    """Read the specs; AuditorError where one has mistakes, or two have one name."""
    from auditor.spec.read import read_spec

    found: dict[str, ConfiguredAudit] = {}
    for file in specs:
        audit = configured(read_spec(file))
        if audit.name in found and found[audit.name].file != audit.file:
            raise AuditorError(
                f"--audit: {audit.file} and {found[audit.name].file} are both named {audit.name!r}\n"
                "  cause: a client names an audit by the name of its spec\n"
                "  next:  give one of them another `name`, or leave it out"
            )
        found[audit.name] = audit
    return found


def configured(spec: AuditSpec) -> ConfiguredAudit:
    """Give what of a spec a client may know."""
    return ConfiguredAudit(spec.name, spec.file, tuple(spec.fields), tuple(spec.consumers))


def spec_now(audit: ConfiguredAudit) -> AuditSpec:
    """Read the spec as it is now; AuditorError where it has mistakes, or is that of another audit meanwhile."""
    from auditor.spec.read import read_spec

    spec = read_spec(audit.file)
    if spec.name != audit.name:
        raise AuditorError(
            f"{audit.file}: its name is {spec.name!r}, and was {audit.name!r} when the service was started\n"
            "  next:  start the service anew, or give it its name back"
        )
    return spec


def with_predictions(spec: AuditSpec, predictions: Path) -> AuditSpec:
    """Give a spec whose predictions are a file that was submitted; references stay those of the operator."""
    cases = spec.cases.model_copy(update={"predictions": (str(predictions),)})
    return spec.model_copy(update={"cases": cases})
