"""What consumers had decoded when an audit failed, kept beside its runs for the next audit of the same cases.

A consumer that had answered for all its raw values is not asked for them again, as long as nothing differs that its
answers depend on: its version and settings, the files of its root, the spec, the base environment, and the very
strings. What only its answers can show, such as a library that it imports while it parses, is looked at by asking for
some of them again. A service, or a server that somebody else runs, may be another one meanwhile and have no version
that says so: its answers are never kept.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from auditor.audit.answers import Answers
from auditor.audit.requests import Asked, Request
from auditor.decode.session import Session
from auditor.model.decoding import Decodings, Fault
from auditor.model.verdicts import STATUS_LETTER
from auditor.probe.sent import Sent, decode_sent
from auditor.spec.models import AuditSpec, ConsumerSpec
from auditor.version import VERSION

#: Raw values of a field that are asked again before the others are taken as they were kept.
SAMPLE = 200

#: Files of a root that are looked at; of one with more, nothing is kept.
MOST_FILES = 2_000

#: Folders of a root whose files decide nothing, or change with each run.
_PASSED_OVER = {".auditor", ".git", "__pycache__"}


@dataclass(frozen=True)
class _Finished:
    """All answers of a consumer, and what was asked."""

    session: Session
    requests: Sequence[Request]
    answers: Mapping[str, Answers]


class Kept:
    """The decodings that one audit finds, and those that it leaves behind where it fails; no folder, none."""

    def __init__(self, runs: Path | None, spec: AuditSpec, manifest: str) -> None:
        self._spec, self._manifest = spec, manifest
        name = hashlib.sha256(os.fsencode(os.path.abspath(spec.file))).hexdigest()[:16]
        self._folder = None if runs is None else runs.parent / "kept" / name
        self._finished: dict[str, _Finished] = {}
        self._reused: list[str] = []
        self._files: dict[str, list[tuple[str, int, int]] | None] = {}  # as they were before anything was decoded

    def take(self, session: Session, requests: Sequence[Request]) -> dict[str, Answers] | None:
        """Give the answers that a consumer gave before, None where there are none that hold still."""
        if self._folder is None or not requests:
            return None
        consumer = self._spec.consumers[session.readiness.consumer]
        self._files[consumer.name] = files_of(self._spec, consumer)
        if not self._folder.is_dir():
            return None
        key = self._key(session, requests)
        told = None if key is None else _read(self._path(session.readiness.consumer, key))
        if told is None or set(told["fields"]) != {one.field for one in requests}:
            return None
        answers = {field: _answers(one) for field, one in told["fields"].items()}
        if any(len(answers[one.field].letters) != len(one.units) for one in requests):
            return None
        for request in requests:
            if not _answers_alike(self._spec, session, request, answers[request.field]):
                return None
        if session.finish().version != told["version"]:
            return None
        self._reused.append(session.readiness.consumer)
        return answers

    def finish(self, session: Session, requests: Sequence[Request], answers: Mapping[str, Answers]) -> None:
        """Note that a consumer has answered for everything."""
        if self._folder is not None and requests:
            self._finished[session.readiness.consumer] = _Finished(session, requests, answers)

    def forget(self) -> None:
        """Hold on to nothing more: so many answers are needed once, and in the outcome tables then."""
        self._finished.clear()

    def notes(self) -> tuple[str, ...]:
        """Say whose decodings are those of an earlier audit."""
        said = "its decodings in the base environment are those that an audit which failed had kept"
        return tuple(f"{name}: {said}; some were asked again, and were the same" for name in sorted(self._reused))

    def save(self) -> tuple[str, ...]:
        """Write what is finished, for the next audit, and name the consumers; nothing where there is no room for it."""
        if self._folder is None or not self._finished:
            return ()
        saved = []
        try:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder.mkdir(parents=True)
            for name, one in self._finished.items():
                key = self._key(one.session, one.requests)
                if key is None:
                    continue
                fields = {field: _told(given) for field, given in one.answers.items()}
                aside = self._folder / "writing"
                told = {"version": one.session.finish().version, "fields": fields}
                aside.write_bytes(gzip.compress(json.dumps(told).encode(), 1))
                aside.rename(self._path(name, key))
                saved.append(name)
        except OSError:  # the failure that is to be told is another one
            shutil.rmtree(self._folder, ignore_errors=True)
            return ()
        return tuple(saved)

    def clear(self) -> None:
        """Remove what an audit that failed had left: the run is done."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _path(self, consumer: str, key: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{hashlib.sha256(consumer.encode()).hexdigest()[:8]}-{key}.json.gz"

    def _key(self, session: Session, requests: Sequence[Request]) -> str | None:
        """Give a digest of all that the answers depend on; None where they depend on what nobody can see here."""
        spec, readiness = self._spec, session.readiness
        consumer = spec.consumers[readiness.consumer]
        files = self._files.get(consumer.name)
        if files is None or consumer.adapter == "http" or consumer.connection:
            return None
        depends: list[Any] = [VERSION, self._manifest, consumer.model_dump(mode="json"), files]
        depends.append(spec.environment.model_dump(mode="json"))
        depends.append([readiness.version, readiness.settings, readiness.reads, readiness.scope, readiness.not_fixed])
        depends += [spec.fields[one.field].model_dump(mode="json") for one in requests]
        digest = hashlib.sha256(json.dumps(depends, sort_keys=True, default=str).encode())
        for request in requests:
            for chunk in range(request.chunks):
                sent, asked = request.at(chunk)
                parts = [request.field, sent.tokens, sent.payloads, sent.predictions, sent.batches, asked]
                digest.update(json.dumps(parts).encode())
        return digest.hexdigest()[:40]


def files_of(spec: AuditSpec, consumer: ConsumerSpec) -> list[tuple[str, int, int]] | None:
    """Give path, size and time of change of each file of a consumer's root; None where there are too many."""
    found: list[tuple[str, int, int]] = []
    for folder, folders, names in os.walk(spec.folder / (consumer.root or "."), followlinks=True):
        folders[:] = sorted(set(folders) - _PASSED_OVER)
        for name in sorted(names):
            path = os.path.join(folder, name)
            try:
                state = os.stat(path)
            except OSError:  # a link to nothing, or gone meanwhile
                return None
            found.append((path, state.st_size, state.st_mtime_ns))
        if len(found) > MOST_FILES:
            return None
    return found


def _answers_alike(spec: AuditSpec, session: Session, request: Request, kept: Answers) -> bool:
    """Ask for some of the first chunk's raw values again; batches, which are read whole, for all."""
    if not request.chunks:
        return True
    sent, asked = request.at(0)
    if sent.batches is None:
        step = max(1, len(sent.tokens) // SAMPLE)
        positions = list(range(0, len(sent.tokens), step))
        again = decode_sent(session, spec.fields[request.field], sent.only(positions))
    else:
        positions = list(range(len(sent.tokens)))
        again = decode_sent(session, spec.fields[request.field], sent)
    rows = _rows_of(sent, asked)
    texts = next(iter(kept.texts.chunks()))
    letters = next(iter(kept.letters.chunks()))
    return all(
        (texts[rows[position]], letters[rows[position]]) == _outcome(again, at) for at, position in enumerate(positions)
    )


def _rows_of(sent: Sent, asked: Asked) -> dict[int, int]:
    """Map what was sent to the first raw value that it answers."""
    if asked is None:
        return {position: position for position in range(len(sent.tokens))}
    rows: dict[int, int] = {}
    for row, position in enumerate(asked):
        if position is not None:
            rows.setdefault(position, row)
    return rows


def _outcome(decodings: Decodings, at: int) -> tuple[str | None, str]:
    fault = decodings.faults.get(at)
    return decodings.texts[at], "v" if fault is None else STATUS_LETTER[fault.status]


def _told(answers: Answers) -> dict[str, Any]:
    return {
        "texts": [text for chunk in answers.texts.chunks() for text in chunk],
        "letters": [letter for chunk in answers.letters.chunks() for letter in chunk],
        "faults": [[row, fault.status, fault.error] for row, fault in answers.faults.items()],
        "warnings": list(answers.warnings.items()),
        "engine_warnings": list(answers.engine_warnings.items()),
    }


def _answers(told: Mapping[str, Any]) -> Answers:
    answers = Answers()
    answers.texts.extend(told["texts"])
    answers.letters.extend(told["letters"])
    answers.faults.update((row, Fault(status, error)) for row, status, error in told["faults"])
    answers.warnings.update((row, text) for row, text in told["warnings"])
    answers.engine_warnings.update((row, text) for row, text in told["engine_warnings"])
    return answers


def _read(path: Path) -> dict[str, Any] | None:
    """Read a file of answers; None where there is none, or none that is whole."""
    try:
        told: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    except (OSError, EOFError, ValueError, zlib.error):
        return None
    return told
