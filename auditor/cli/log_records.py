"""A first look at an eval log, for `init`: what its replies and references hold, and what [cases] has to say of it."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from auditor.cli.records import SAMPLE, Row, Sample, flat_object
from auditor.errors import LoadError, Mistake
from auditor.load.completions import reply_text
from auditor.load.files import find_files
from auditor.load.finish import outcome_of
from auditor.load.logs.part import ARMS_OF, NAMED, read_replies
from auditor.load.logs.recognise import Log, Records, recognise
from auditor.load.logs.reply import Reply
from auditor.load.payload import braced_text, fenced_text
from auditor.load.tokens import content_of, string_token
from auditor.model.figures import plural
from auditor.spec.lines import quoted
from auditor.spec.models import CasesSpec

#: The key that names the case in a spec for a log: no record has it, so that the log's own id counts.
OWN_ID = "case_id"

#: Suffixes of files that may be logs.
_SUFFIXES = (".json", ".jsonl", ".ndjson", ".eval")


@dataclass(frozen=True)
class LogSample:
    """What a log holds: its replies, its references, and the lines that [cases] needs to read it."""

    format: str
    predictions: Sample
    references: Sample
    lines: tuple[str, ...]


@dataclass
class _Seen:
    """Counts over the replies."""

    replies: int = 0
    judged: int = 0
    without_finish: int = 0
    readers: Counter[str] = field(default_factory=Counter)
    models: set[str] = field(default_factory=set)


def log_sample(path: Path) -> LogSample | None:
    """Look at the first records of a log; None where the file is none, LoadError where it cannot be read."""
    if path.suffix.lower() not in _SUFFIXES:
        return None
    (file,) = find_files(path.parent, (path.name,), "predictions")
    log = recognise(file)
    if log is None:
        return None
    arm = _arm(Records(file, log), log)
    cases = CasesSpec(predictions=(path.name,), references=(path.name,), arm=arm)
    found = list(itertools.islice(read_replies(Records(file, log), cases), SAMPLE + 1))
    is_cut, found = len(found) > SAMPLE, found[:SAMPLE]
    if not found:
        raise LoadError([Mistake(str(path), f"is a log of {log.format}, and holds no record", "give one that does")])
    seen = _Seen()
    predictions = [_prediction(reply, case, seen) for reply, case in found]
    references = [_reference(reply, _without_epoch(log, case)) for reply, case in found]
    if not arm and len(seen.models) > 1:
        arm = ("model",)
    return LogSample(
        log.format,
        Sample(predictions, completion="", is_cut=is_cut),
        Sample([row for row in references if len(row) > 1], is_cut=is_cut),
        tuple(_lines(log, arm, seen)),
    )


def with_ids_of(found: LogSample, asserted: Sample, references: Path, log: Path) -> tuple[LogSample, str]:
    """Give the log with its ids under the name of the references' column that holds them, and that name."""
    own = [content_of(row[OWN_ID]) for row in found.predictions.rows]
    ids = {*own, *(case.rpartition("#")[0] for case in own if found.format == "inspect-ai")}
    name = next((one for one in asserted.names if not ids.isdisjoint(map(content_of, asserted.values(one)))), None)
    if name is None:
        what = f"no column holds the ids of {log}, such as {own[0]!r}"
        hint = "add one; [cases] id may also be the dotted path of what a record of the log holds beside its own id"
        raise LoadError([Mistake(str(references), what, hint)])
    rows = [{name if key == OWN_ID else key: token for key, token in row.items()} for row in found.predictions.rows]
    return replace(found, predictions=replace(found.predictions, rows=rows)), name


def _arm(records: Records, log: Log) -> tuple[str, ...]:
    """Give what tells several answers to a case apart, where a log has them."""
    names = ARMS_OF.get(log.format, ())
    if not names:
        return ()
    cases = CasesSpec(predictions=("",), references=("",), arm=names)
    arms = {tuple(reply.asked.get(name) for name in names) for reply, _ in read_replies(records, cases)}
    return names if len(arms) > 1 else ()


def _without_epoch(log: Log, case: str) -> str:
    return case.rpartition("#")[0] if log.format == "inspect-ai" else case


def _prediction(reply: Reply, case: str, seen: _Seen) -> Row:
    """Give a reply's payload, as the first reader has it that takes one, and count who does."""
    seen.replies += 1
    if model := reply.asked.get("model"):
        seen.models.add(model)
    row = {OWN_ID: string_token(case)}
    text = reply_text(reply.text)
    is_answer = reply.error is None and reply.refusal is None
    seen.without_finish += is_answer and reply.finish is None
    if text is None or not is_answer or outcome_of(reply.finish, "stop") != "judged":
        return row
    seen.judged += 1
    readers = {"strict": text, "fenced": fenced_text(text), "braces": braced_text(text)}
    objects = {name: found for name, given in readers.items() if (found := flat_object(given)) is not None}
    seen.readers.update(objects.keys())
    return row | next(iter(objects.values()), {})


def _reference(reply: Reply, case: str) -> Row:
    """Give what stands beside a reply; the members of a reference before the whole of which they are part."""
    row: Row = {OWN_ID: string_token(case)}
    for name, source in sorted(reply.references.items(), key=lambda item: item[0] in NAMED):
        inner = flat_object(source)
        row |= {name: source} if inner is None else {f"{name}.{key}": value for key, value in inner.items()}
    return row


def _lines(log: Log, arm: Sequence[str], seen: _Seen) -> Iterable[str]:
    """Give what [cases] says of a log, with the reason beside it."""
    yield f"# The predictions are a log of {log.format}; `auditor import` shows what it holds."
    if arm:
        value = quoted(arm[0]) if len(arm) == 1 else f"[{', '.join(map(quoted, arm))}]"
        yield f"arm = {value}  # several answer each case, and each has columns of its own"
    if seen.without_finish:
        count = f"{seen.without_finish:,} of {plural(seen.replies, 'reply', 'replies')}"
        yield f'assume_finish = "stop"  # {count} state no finish reason: without this they are `unknown`'
    strict, fenced = seen.readers["strict"], seen.readers["fenced"]
    if strict < seen.judged:
        ended, braces = plural(seen.judged, "reply", "replies"), seen.readers["braces"]
        yield f"# Of {ended} that ended cleanly {strict:,} are a JSON object and no more, {fenced:,} are one with or"
        yield f"# without a code fence, and {braces:,} hold one between the outermost braces. Name the reader that"
        yield "# production uses: strict, fenced or module:function of your own."
        yield 'payload = "fenced"' if fenced > strict else 'payload = "strict"'
