"""Where the spec stands, and on which of its lines what a finding may point at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from auditor.findings.dependence_cause import file_text
from auditor.model.decoding import Readiness
from auditor.model.run import Finding, Location
from auditor.model.spec_place import SpecPlace
from auditor.spec.find import nearest_pyproject
from auditor.spec.lines import KeyPath, key_lines
from auditor.spec.models import AuditSpec


def spec_place(spec: AuditSpec, findings: Iterable[Finding], readiness: Mapping[str, Readiness]) -> SpecPlace | None:
    """Give the place of a spec that was read from a file; None where that cannot be read any more."""
    try:
        text = spec.file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    lines = {name: line for key, line in key_lines(text).items() if (name := _name(key))}
    for name, consumer in spec.consumers.items():
        lines |= _as_version(name, consumer.version_of, lines)
    named = dict.fromkeys(finding.location.file for finding in findings if finding.location is not None)
    files = tuple(file for file in named if (spec.folder / file).is_file())
    folder = spec.file.absolute().parent
    return SpecPlace(folder.relative_to(_root(folder)).as_posix(), lines, files, _parsers(spec, readiness))


def _parsers(spec: AuditSpec, readiness: Mapping[str, Readiness]) -> dict[str, Location]:
    """Give where the code of consumers stands that lies in the spec's folder, and in no library."""
    found = {}
    for name, ready in readiness.items():
        for field, (file, line) in ready.places.items():
            short = file_text(file, spec.folder)
            if not Path(short).is_absolute() and (spec.folder / short).is_file():
                found[f"{name}.{field}"] = Location(short, line)
    return found


def _as_version(name: str, of: str | None, lines: Mapping[str, int]) -> dict[str, int]:
    """Give the lines of a consumer as those of one of its versions, which has none of its own."""
    if of is None or of == name:
        return {}
    return {name + key[len(of) :]: line for key, line in lines.items() if key == of or key.startswith(f"{of}.")}


def _name(key: KeyPath) -> str:
    """Give the name of a key in `SpecPlace.lines`; of what nothing points at none."""
    if key[0] == "fields" and len(key) == 2:
        return ".".join(key)
    if key[0] == "consumers" and (len(key) == 2 or key[2:] in (("reads",), ("model",)) or key[2:3] == ("reads",)):
        return ".".join(key[1:])
    return ""


def _root(folder: Path) -> Path:
    """Give the root of the repository that a folder is in, else the folder of its project, else itself."""
    for candidate in (folder, *folder.parents):
        if (candidate / ".git").exists():
            return candidate
    project = nearest_pyproject(folder)
    return project.parent if project else folder
