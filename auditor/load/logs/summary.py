"""What a log holds, before any spec: its ids, finish reasons, the keys of its payloads and its references."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from auditor.load.arm_names import arm_texts
from auditor.load.columnar import ColumnarFile
from auditor.load.completions import reply_text
from auditor.load.files import find_files, mistake
from auditor.load.finish import TOOL_REASONS, outcome_of
from auditor.load.json_lines import all_keys, members, read_chunks, read_records
from auditor.load.layout import FINISH_NAMES
from auditor.load.logs.part import ARMS_OF, answerers_of, read_replies
from auditor.load.logs.recognise import Records, recognise
from auditor.load.logs.reply import Reply
from auditor.load.payload import braced_text, fenced_text
from auditor.load.rows import texts_of
from auditor.spec.models import CasesSpec, LogFormat


@dataclass
class LogSummary:
    """Counts over the replies of one file; `columns` are those of a plain file, which has no replies of a log.

    `asked` counts, by what may name an arm, who was asked: `model`, and what else the log has.
    """

    name: str
    format: str
    shape: str = ""
    rows: int = 0
    ids: Counter[str] = field(default_factory=Counter)
    finish_reasons: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    payload_keys: Counter[str] = field(default_factory=Counter)
    references: Counter[str] = field(default_factory=Counter)
    readers: Counter[str] = field(default_factory=Counter)
    answers: set[tuple[str, str | None]] = field(default_factory=set)  # ids, each with the arm that answers it
    asked: dict[str, Counter[str]] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    answerers: tuple[str, ...] = ()  # of a log with several answers to a case: one is chosen by `filter`
    arms: tuple[str, ...] = ()  # or all are scored, each as the arm that these name

    @property
    def repeated(self) -> int:
        """Replies beyond the first one of their id, or of their id and arm."""
        return self.rows - len(self.answers)


def summarise(path: Path, cases: CasesSpec, named: LogFormat | None) -> LogSummary:
    """Read a file and say what it holds; LoadError where it cannot be read."""
    (file,) = find_files(path.parent, (path.name,), "predictions")
    log = recognise(file, named=named)
    if log is None:
        return _plain(path, file.name, file.format, cases.id)
    found = LogSummary(file.name, log.format, log.shape)
    if cases.filter is None and not cases.arm and (several := answerers_of(Records(file, log))):
        found.answerers, found.arms = several, ARMS_OF[log.format]
        cases = cases.model_copy(update={"arm": found.arms})
    for reply, case in read_replies(Records(file, log), cases):
        found.rows += 1
        found.ids[case] += 1
        found.answers.add(
            (case, arm_texts([[reply.asked.get(column)] for column in cases.arm])[0] if cases.arm else None)
        )
        found.references.update(reply.references.keys())
        for what, name in reply.asked.items():
            found.asked.setdefault(what, Counter())[name or ""] += 1
        found.finish_reasons[reply.finish or ""] += 1
        found.outcomes[_outcome(found, reply)] += 1
    return found


def _outcome(found: LogSummary, reply: Reply) -> str:
    if reply.error is not None:
        return "transport"
    if reply.refusal is not None:
        return "refused"
    outcome = outcome_of(reply.finish, None)
    if outcome == "judged" and (reply.finish or "").lower() in TOOL_REASONS and not reply.of_tool:
        outcome = "unknown"
    text = reply_text(reply.text)
    # A reply without a reason is not judged before the spec asserts one; what it holds is there to be seen.
    if text is None or not (outcome == "judged" or (outcome == "unknown" and not reply.finish)):
        return "malformed" if outcome == "judged" else outcome
    objects = {"strict": text, "fenced": fenced_text(text), "the outermost braces": braced_text(text)}
    keys = {name: _keys(read) for name, read in objects.items()}
    found.readers.update(name for name, some in keys.items() if some is not None)
    found.payload_keys.update(next((some for some in keys.values() if some is not None), ()))
    return "malformed" if outcome == "judged" and keys["strict"] is None else outcome


def _keys(text: str) -> tuple[str, ...] | None:
    try:
        return tuple(dict.fromkeys(key for key, _ in members(text, constants=False)))
    except (ValueError, RecursionError):
        return None


def _plain(path: Path, name: str, kind: str, case_id: str) -> LogSummary:
    """Say what a plain file holds: its columns and, where its names say so, ids and finish reasons."""
    (file,) = find_files(path.parent, (path.name,), "predictions")
    if kind == "jsonl":
        found = LogSummary(name, "JSON lines", columns=tuple(all_keys(file)))
        named = _named(found.columns, case_id)
        for records in read_records(file, list(named)):
            for key in named:
                _count(found, key, case_id, texts_of(records.values[key]))
        found.rows = sum(sum(map(bool, map(bytes.strip, chunk.split(b"\n")))) for _, chunk in read_chunks(file))
        return found
    import duckdb

    try:
        with duckdb.connect() as connection:
            columnar = ColumnarFile(file, connection)
            found = LogSummary(name, kind.upper() if kind != "parquet" else "Parquet", columns=tuple(columnar.names))
            found.rows = columnar.count
            for key in _named(found.columns, case_id):
                value = columnar.text([key])
                assert value is not None
                query = f"SELECT nullif({value.sql}, '') FROM {columnar.relation(connection)}"
                _count(found, key, case_id, [text for (text,) in connection.execute(query).fetchall()])
            columnar.release()
    except duckdb.Error as error:
        raise mistake(name, f"cannot be read: {str(error).splitlines()[0]}") from error
    return found


def _named(columns: Sequence[str], case_id: str) -> tuple[str, ...]:
    """Give the column of the ids and that of the finish reasons, as far as a file has them."""
    finish = [name for name in FINISH_NAMES if name in columns][:1]
    return (*([case_id] if case_id in columns else []), *finish)


def _count(found: LogSummary, key: str, case_id: str, texts: Sequence[str | None]) -> None:
    if key == case_id:
        found.ids.update(text for text in texts if text is not None)
    else:
        found.finish_reasons.update(text or "" for text in texts)
        found.outcomes.update(outcome_of(text, None) for text in texts)
