"""Holds an audit against a lock: all that moved since then is told at once, before anything is decoded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from duckdb import DuckDBPyConnection

from auditor.audit.lock import READER, lock_consumer, meaning_of
from auditor.audit.summary import canonical_sha256, manifest_sha256
from auditor.decode.reply_reader import ReplyReader
from auditor.decode.session import Session, open_session
from auditor.errors import Refused
from auditor.load import Loaded
from auditor.load.case_digests import COLUMN_OF, Difference, differences
from auditor.model.decoding import Readiness
from auditor.model.figures import plural
from auditor.model.lock import Lock, Locked, LockedConsumer
from auditor.spec.models import AuditSpec
from auditor.spec.toml import key
from auditor.store.lock_file import LockFile

#: Lines about one consumer, or about the spec, before the rest are counted.
SHOWN = 12

_NEXT = "undo what moved, or accept it: `auditor freeze`, and review what changes in the lock"


class Guard:
    """A lock, and the audit that is held against it."""

    def __init__(self, file: LockFile) -> None:
        self._file, self._lock = file, file.lock

    def check(
        self,
        connection: DuckDBPyConnection,
        spec: AuditSpec,
        loaded: Loaded,
        sessions: Mapping[str, Session],
        reader: ReplyReader | None,
    ) -> None:
        """Raise Refused where cases, consumers or the spec are not what was frozen: all that moved, in words."""
        said = [
            *self._cases_moved(connection, spec, loaded),
            *self._consumers_moved(connection, spec, sessions, reader),
            *self._spec_moved(spec),
        ]
        if said:
            head = f"{self._file.path.name}: not what was frozen, so nothing was audited"
            raise Refused("\n".join([head, *said, f"  next:  {_NEXT}"]))

    def _cases_moved(self, connection: DuckDBPyConnection, spec: AuditSpec, loaded: Loaded) -> Iterator[str]:
        lock, now = self._lock, manifest_sha256(spec, loaded)
        if now == lock.manifest_sha256:
            return
        yield f"  the manifest was {lock.manifest_sha256[:16]}…, and is {now[:16]}…"
        if (loaded.manifest_rows_sha256, loaded.traits_sha256) == (lock.rows_sha256, lock.traits_sha256):
            yield "    ids, references and prompts are the same: what moved is how a field is compared (see the spec)"
            return
        for name in sorted(loaded.traits_sha256.keys() ^ lock.traits_sha256.keys()):
            is_new = name in loaded.traits_sha256
            yield (
                f"    the cases have {name} now, and had none" if is_new else f"    the cases had {name}, and have none"
            )
        if loaded.manifest_rows_sha256 == lock.rows_sha256 and not _moved_in_both(loaded.traits_sha256, lock):
            return
        if lock.cases.count != loaded.cases.expected:
            yield f"    {plural(lock.cases.count, 'case')} then, {loaded.cases.expected:,} now"
        yield from _differing(differences(spec, loaded, connection, lock.cases), are_all=not lock.cases.buckets)

    def _consumers_moved(
        self,
        connection: DuckDBPyConnection,
        spec: AuditSpec,
        sessions: Mapping[str, Session],
        reader: ReplyReader | None,
    ) -> Iterator[str]:
        now = {name: session.readiness for name, session in sessions.items()}
        if reader is not None:
            now[READER] = reader.session.readiness
        left_out = {one.name: one.why for one in spec.left_out}
        for name, frozen in self._lock.consumers.items():
            if name not in now:
                yield f"  consumer {left_out.get(name, f'{name} is gone')}"
            elif moved := _parts_moved(frozen, now[name]):
                yield from _consumer_moved(name, frozen.version, now[name].version, moved)
            elif frozen.late and name in sessions:
                late = self._late(connection, spec, sessions[name])
                if moved := _changed(frozen.late, late, whole=False):
                    yield from _consumer_moved(name, frozen.version, now[name].version, moved)
        yield from (f"  consumer {name} is new: it was not frozen" for name in now if name not in self._lock.consumers)

    def _late(self, connection: DuckDBPyConnection, spec: AuditSpec, session: Session) -> Mapping[str, str]:
        """Ask what a consumer imports with strings: in another process, so that its own has read nothing before."""
        consumer, environment = spec.consumers[session.readiness.consumer], spec.environment.environment()
        with open_session(spec, consumer, environment, spec.fields) as another:
            return lock_consumer(connection, another).late

    def _spec_moved(self, spec: AuditSpec) -> Iterator[str]:
        before, now = self._lock.spec, meaning_of(spec)
        digest = canonical_sha256(now)
        if digest == self._lock.spec_sha256:
            return
        # A consumer that is there in one of the two only is told of by its name; its keys say nothing more.
        whole = {key(name) for name in self._lock.consumers.keys() ^ spec.consumers.keys()}
        lines = [line for line in _changed(before, now, whole=True) if not _is_of(line, whole)]
        yield f"  the spec was {self._lock.spec_sha256[:16]}…, and is {digest[:16]}…"
        yield from _shortened(lines or ["in the consumers that have come or gone"])

    def locked(self, sessions: Mapping[str, Session], reader: ReplyReader | None) -> Locked:
        """Say that the audit was held against the lock, after all was read; Refused where what came late has moved."""
        said: list[str] = []
        new: list[str] = []
        all_sessions = dict(sessions) if reader is None else {**sessions, READER: reader.session}
        for name, session in all_sessions.items():
            frozen, now = self._lock.consumers[name], session.finish()
            known = {**frozen.late, **frozen.parts}
            if moved := _changed(known, now.parts, whole=False):
                said += _consumer_moved(name, frozen.version, now.version, moved)
            new += [f"{name}: {part} {text}" for part, text in now.parts.items() if part not in known]
        if said:
            head = f"{self._file.path.name}: not what was frozen, as the strings showed; no run was written"
            raise Refused("\n".join([head, *said, f"  next:  {_NEXT}"]))
        return Locked(self._file.sha256, tuple(new))


def _moved_in_both(digests: Mapping[str, str], lock: Lock) -> bool:
    """Say whether what the cases had then and have now is another: a prompt, a split, a place."""
    return any(digests[name] != lock.traits_sha256[name] for name in digests.keys() & lock.traits_sha256.keys())


def locked_notes(locked: Locked | None) -> tuple[str, ...]:
    """Say what a lock does not hold fast."""
    if locked is None or not locked.not_frozen:
        return ()
    listed = ", ".join(locked.not_frozen[:SHOWN])
    return (f"audit.lock does not name what was imported with a string that it was not made with: {listed}",)


def _differing(found: Sequence[Difference], *, are_all: bool) -> Iterator[str]:
    if not found:
        yield "    so much differs that the lock cannot name a case"
        return
    first = found[0]
    said = {"added": "it is new", "removed": "it is gone"}
    said |= {column: f"its {column.removeprefix('[cases] ')} is another one" for column in COLUMN_OF.values()}
    what = said.get(first.what, f"its reference of {first.what} is another one")
    yield f"    {'the first case that differs' if are_all else 'a case that differs'} is {first.case}: {what}"
    counts = {name: len({one.case for one in found if one.what == name}) for name in ("added", "removed")}
    changed = len({one.case for one in found if one.what not in counts})
    listed = [f"{plural(number, 'case')} {word}" for word, number in (*counts.items(), ("changed", changed)) if number]
    yield f"    {'' if are_all else 'at least '}{', '.join(listed)}"


def _consumer_moved(name: str, before: str, now: str, moved: Sequence[str]) -> Iterator[str]:
    what = f"version {before}, and is {now}" if before != now else "of another make, which shows when it reads strings"
    yield f"  consumer {name} was {what}"
    yield from _shortened(moved)


def _parts_moved(frozen: LockedConsumer, now: Readiness) -> list[str]:
    if frozen.version == now.version:
        return []
    return _changed(frozen.parts, now.parts, whole=True) or ["what it is made of, in a way that no part shows"]


def _changed(before: Mapping[str, str], now: Mapping[str, str], *, whole: bool) -> list[str]:
    """Say what moved; with `whole` also what came or went."""
    names = sorted(before.keys() | now.keys() if whole else before.keys() & now.keys())
    return [_said(name, before.get(name), now.get(name)) for name in names if before.get(name) != now.get(name)]


def _said(name: str, before: str | None, now: str | None) -> str:
    if before is None:
        return f"{name} is new: {now}"
    return f"{name} was {before}, and is gone" if now is None else f"{name} was {before}, and is {now}"


def _is_of(line: str, consumers: set[str]) -> bool:
    return any(line.startswith(f"consumers.{name}.") for name in consumers)


def _shortened(lines: Sequence[str]) -> Iterator[str]:
    yield from (f"    {line}" for line in lines[:SHOWN])
    if len(lines) > SHOWN:
        yield f"    and {len(lines) - SHOWN} more"
