"""What `auditor freeze` writes down: the cases, the consumers and the spec, as they are at that moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

#: Schema of audit.lock.
LOCK_SCHEMA = 1


@dataclass(frozen=True)
class CaseDigests:
    """What names a case that differs; that some case differs is for the manifest to say.

    `columns` are the fields, and what else the manifest binds, where the cases give it: prompt, split, locale and
    jurisdiction. Up to `LISTED` cases are in `listed`, each with a digest per column: whatever differs can be named.
    Of more cases a thousand are listed, and `buckets` has a line of sums for each of 1024 parts of the ids
    (`auditor.load.case_digests`), so that a lock of a million cases has 2,000 lines. What that costs: a case that is
    not listed is named only where it is the only one of its bucket that differs in a column, or the only one that was
    added or removed; where more than some thousand cases differ, the listed ones that do are named.
    """

    columns: tuple[str, ...]
    count: int
    listed: Mapping[str, tuple[str, ...]]  # by id; "-" where a case has no value
    buckets: tuple[str, ...] = ()


@dataclass(frozen=True)
class LockedConsumer:
    """A consumer as it was when it had started, and what it imported only when it read strings (`late`)."""

    version: str
    parts: Mapping[str, str]
    late: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Lock:
    """The whole of audit.lock; `rows_sha256` and `traits_sha256` are parts of the manifest.

    `traits_sha256` has prompts, splits, locales and jurisdictions of the cases, as far as there are any. `spec` has
    each key of the spec that a result may depend on, and has not its default.
    """

    auditor_version: str
    manifest_sha256: str
    rows_sha256: str
    traits_sha256: Mapping[str, str]
    spec_sha256: str
    spec: Mapping[str, str]
    consumers: Mapping[str, LockedConsumer]
    cases: CaseDigests


@dataclass(frozen=True)
class Locked:
    """That a run was held against a lock: the sha256 of the lock's file, and what was imported that it does not name.

    `not_frozen` are parts of consumers that came with a string which was not there when the lock was made.
    """

    sha256: str
    not_frozen: tuple[str, ...] = ()
