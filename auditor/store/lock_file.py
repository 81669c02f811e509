"""Write and read audit.lock: TOML with sorted keys and one thing a line, so that a change shows as its own lines."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from auditor.errors import StoreError
from auditor.model.lock import LOCK_SCHEMA, CaseDigests, Lock, LockedConsumer
from auditor.spec.models import AuditSpec
from auditor.spec.toml import key, quoted
from auditor.whole_file import write_whole

LOCK_NAME: Final = "audit.lock"

#: What the manifest binds beside ids, references and contracts.
TRAITS: Final = ("prompts", "splits", "locales", "jurisdictions")

_FREEZE: Final = "write it again with `auditor freeze`"

_HEAD: Final = """\
# Written by `auditor freeze`, to be committed. `auditor run --locked` refuses to run where any of this moved.
# A digest of a case says that a reference, or a prompt, is the same, and not what it is.
"""

#: What the last line starts with.
_SEAL: Final = "# sha256 of the lines above: "


@dataclass(frozen=True)
class LockFile:
    """A lock that was read, its file, and the sha256 of that."""

    path: Path
    lock: Lock
    sha256: str


def lock_path(spec: AuditSpec) -> Path:
    """Give the place of a spec's lock: beside it."""
    return spec.folder / LOCK_NAME


def write_lock(lock: Lock, path: Path) -> None:
    """Write a lock, whole or not at all; StoreError where it cannot be written."""
    try:
        write_whole(path, lock_text(lock).encode())
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}") from error


def lock_text(lock: Lock) -> str:
    """Give the text of audit.lock, the same for the same lock."""
    lines = [
        _HEAD,
        f"schema = {LOCK_SCHEMA}",
        *_lines(
            {
                "auditor_version": lock.auditor_version,
                "manifest_sha256": lock.manifest_sha256,
                "rows_sha256": lock.rows_sha256,
                **{f"{name}_sha256": digest for name, digest in _traits(lock.traits_sha256).items()},
                "spec_sha256": lock.spec_sha256,
            }
        ),
    ]
    for name, consumer in sorted(lock.consumers.items()):
        lines += ["", f"[consumers.{key(name)}]", f"version = {quoted(consumer.version)}"]
        lines += [f"[consumers.{key(name)}.parts]", *_lines(consumer.parts)]
        if consumer.late:
            lines += [f"[consumers.{key(name)}.late]  # imported only when it read strings", *_lines(consumer.late)]
    lines += ["", "[spec]", *_lines(dict(sorted(lock.spec.items())))]
    cases = lock.cases
    lines += ["", "[cases]", f"count = {cases.count}", f"columns = [{', '.join(map(quoted, cases.columns))}]"]
    lines += ["", "[cases.listed]  # a digest per column", *_lines({i: " ".join(d) for i, d in cases.listed.items()})]
    if cases.buckets:
        lines += ["", "[cases.sums]  # of all cases, by a part of their ids"]
        lines += _lines({f"{number:04}": line for number, line in enumerate(cases.buckets)})
    text = "\n".join(lines) + "\n"
    return f"{text}\n{_SEAL}{_sealed(text)}\n"


def _traits(digests: Mapping[str, str]) -> dict[str, str]:
    """Give the digests in their order; that of prompts is there even where the cases have none."""
    return {name: digests.get(name, "") for name in TRAITS if name in digests or name == "prompts"}


def _sealed(text: str) -> str:
    """Give the digest of what a lock says: of its lines, whatever ends them."""
    return hashlib.sha256("\n".join(text.strip().splitlines()).encode()).hexdigest()


def _check_seal(path: Path, text: str) -> None:
    """Refuse a lock whose lines are not those that were written: a change by hand, or a merge of two locks."""
    body, _, seal = text.rpartition(_SEAL)
    if not body or _sealed(body) != seal.strip():
        raise StoreError(
            f"{path}: is not as it was written\n  cause: it was edited by hand, or merged from two locks\n"
            f"  next:  {_FREEZE}"
        )


def _lines(texts: Mapping[str, str]) -> list[str]:
    return [f"{key(name)} = {quoted(text)}" for name, text in texts.items()]


def read_lock(path: Path) -> LockFile:
    """Read a lock; StoreError where there is none, or it is broken, edited, or of a later auditor."""
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise StoreError(
            f"{path}: there is no lock\n  next:  `auditor freeze` writes one; review and commit it"
        ) from error
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}") from error
    try:
        document = tomllib.loads(content.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        cause = "  cause: a merge left its marks, or the file is cut short" if b"<<<<<<<" in content else ""
        said = f"{path} is broken: {error}"
        raise StoreError("\n".join(filter(None, [said, cause, f"  next:  {_FREEZE}"]))) from error
    schema = document.get("schema")
    if schema != LOCK_SCHEMA:
        hint = "install the auditor that wrote it, or " + _FREEZE
        raise StoreError(
            f"{path}: schema is {schema!r}, this auditor reads {LOCK_SCHEMA}\n"
            f"  cause: auditor {document.get('auditor_version', 'of another version')} wrote it\n  next:  {hint}"
        )
    try:
        lock = _lock(document)
        _check_seal(path, content.decode("utf-8"))
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(f"{path} is broken: {_said(error)}\n  next:  {_FREEZE}") from error
    return LockFile(path, lock, hashlib.sha256(content).hexdigest())


def _said(error: Exception) -> str:
    return f"the key {error} is missing" if isinstance(error, KeyError) else str(error)


def _lock(document: Mapping[str, Any]) -> Lock:
    consumers = {
        name: LockedConsumer(_text(one["version"]), _texts(one["parts"]), _texts(one.get("late", {})))
        for name, one in _table(document["consumers"]).items()
    }
    return Lock(
        auditor_version=_text(document["auditor_version"]),
        manifest_sha256=_text(document["manifest_sha256"]),
        rows_sha256=_text(document["rows_sha256"]),
        traits_sha256={
            name: _text(document[key]) for name in TRAITS if document.get(key := f"{name}_sha256", "") != ""
        },
        spec_sha256=_text(document["spec_sha256"]),
        spec=_texts(document["spec"]),
        consumers=consumers,
        cases=_cases(_table(document["cases"])),
    )


def _cases(table: Mapping[str, Any]) -> CaseDigests:
    columns = tuple(_text(one) for one in table["columns"])
    listed = {case: tuple(digests.split(" ")) for case, digests in _texts(table["listed"]).items()}
    for case, digests in listed.items():
        if len(digests) != len(columns):
            raise ValueError(f"case {case} has {len(digests)} digests, and there are {len(columns)} columns")
    sums = _texts(table.get("sums", {}))
    return CaseDigests(columns, int(table["count"]), listed, tuple(sums[name] for name in sorted(sums)))


def _table(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError(f"a table was expected, and found {value!r}")
    return value


def _texts(value: Any) -> dict[str, str]:
    return {name: _text(text) for name, text in _table(value).items()}


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a text was expected, and found {value!r}")
    return value
