"""A log as a part: its replies are predictions, and what it holds beside them may be references."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from auditor.load.arm_names import arm_texts, traits_of
from auditor.load.completions import completions_part
from auditor.load.contract import Contract
from auditor.load.files import SourceFile, mistake
from auditor.load.layout import TOOL, Layout, Role, reference_paths
from auditor.load.logs.anthropic_batch import anthropic_replies
from auditor.load.logs.inspect_ai import inspect_replies
from auditor.load.logs.langfuse import langfuse_replies
from auditor.load.logs.lm_eval import filter_of, lm_eval_replies
from auditor.load.logs.openai_batch import openai_replies
from auditor.load.logs.promptfoo import arm_of, promptfoo_replies
from auditor.load.logs.recognise import Log, Records
from auditor.load.logs.reply import Reply, at_dotted
from auditor.load.parts import Part
from auditor.load.rows import Rows
from auditor.load.tokens import content_of, string_token
from auditor.load.unfold import columns_part
from auditor.model.payload_path import PayloadPath
from auditor.spec.models import AuditSpec, CasesSpec

_REPLIES: Final[Mapping[str, Callable[[Iterator[str], str | None], Iterator[Reply]]]] = {
    "openai-batch": openai_replies,
    "anthropic-batch": anthropic_replies,
    "inspect-ai": inspect_replies,
    "promptfoo": promptfoo_replies,
    "lm-eval": lm_eval_replies,
    "langfuse": langfuse_replies,
}

#: Logs with several answers to a case, which are never mixed: by what, and by which name of a record.
_ANSWERED_SEVERAL_TIMES: Final[Mapping[str, tuple[str, Callable[[str], str]]]] = {
    "lm-eval": ("filter", filter_of),
    "promptfoo": ("provider and prompt", arm_of),
}
#: By which names of a log each of its answers to a case is an arm.
ARMS_OF: Final[Mapping[str, tuple[str, ...]]] = {"lm-eval": ("filter",), "promptfoo": ("provider", "prompt")}
_BATCH: Final = 1000
_FINISH, _ERROR, _REFUSAL, _REPLY = "finish", "error", "refusal", "completion"

#: Names under which a log's own values stand beside the members of a reference: no part of a payload.
NAMED: Final = frozenset(
    ("target", "metadata", "vars", "doc", "expected", "expectedOutput", "experimentItemMetadata", "input")
)


def log_layout(spec: AuditSpec, role: Role, contract: Contract) -> Layout:
    """Give the names by which a log is read."""
    cases = spec.cases
    paths: dict[str, tuple[PayloadPath, ...]] = {name: (field.prediction_path,) for name, field in spec.fields.items()}
    return Layout(
        role=role,
        form="completions" if role == "prediction" else "columns",
        id=cases.id,
        fields=paths if role == "prediction" else reference_paths(spec.fields),
        locale=("\0locale",),
        jurisdiction=("\0jurisdiction",),
        finish=(_FINISH,) if role == "prediction" else (),
        error=(_ERROR,) if role == "prediction" else (),
        refusal=(_REFUSAL,) if role == "prediction" else (),
        completion=_REPLY if role == "prediction" else "",
        assume_finish=cases.assume_finish,
        contract=contract,
        traits=tuple((name, f"\0{name}") for name, _ in traits_of(cases.arm)),
    )


def open_log(file: SourceFile, log: Log, layout: Layout, cases: CasesSpec, payloads: bool) -> Part:
    """Give a log as a part; LoadError where a record cannot be read, or the log holds no references."""
    file = replace(file, format=log.format)
    records = Records(file, log)
    replies = read_replies(records, cases)
    if layout.role == "prediction":
        epochs = [1]
        part = completions_part(file, layout, _reply_rows(replies, layout, cases.arm, epochs), payloads)
        part = replace(part, epochs_of_log=max(records.epochs, *epochs) if log.format == "inspect-ai" else 0)
    else:
        used = {head for paths in layout.fields.values() for path in paths for head in path.heads}
        part = columns_part(file, layout, _reference_rows(replies, layout, cases.arm), NAMED - used, set())
    kept = {name: value for name, value in part.columns.items() if name not in ("locale", "jurisdiction")}
    return replace(part, columns=kept)


def read_replies(records: Records, cases: CasesSpec) -> Iterator[tuple[Reply, str]]:
    """Give each reply with the id of its case: what stands at the spec's `id`, or else the log's own id.

    What stands at the columns of the spec's arm is in `asked`, but for the names that a log has for it itself.
    """
    chosen = _chosen_of(records, cases) if records.log.format in _ANSWERED_SEVERAL_TIMES else cases.tool
    if records.log.format == "promptfoo":
        replies = promptfoo_replies(iter(records), chosen, cases.tool)
    else:
        replies = _REPLIES[records.log.format](iter(records), chosen)
    while True:
        try:
            reply = next(replies, None)
            if reply is None:
                return
            given = at_dotted(records.current, cases.id)
        except (ValueError, RecursionError) as error:
            what = "is nested too deeply to be read" if isinstance(error, RecursionError) else str(error)
            raise records.broken(f"cannot be read: {what}") from error
        own, mark, epoch = reply.id.rpartition("#") if records.log.format == "inspect-ai" else (reply.id, "", "")
        name = content_of(given) if given is not None and given[0] not in "{[" else own
        if not name:
            raise records.broken(f"has no id, neither {cases.id!r} nor one of its own")
        yield replace(reply, asked=_asked(records, reply, cases.arm)), f"{name}{mark}{epoch}"


def _asked(records: Records, reply: Reply, columns: Sequence[str]) -> dict[str, str | None]:
    own = {**reply.asked, **({} if records.model is None else {"model": records.model})}
    others = {name: at_dotted(records.current, name) for name in columns if own.get(name) is None}
    return own | {
        name: None if found is None or found[0] in "{[" else content_of(found) for name, found in others.items()
    }


def answerers_of(records: Records) -> tuple[str, ...]:
    """Name whose answers a log holds, where it has those of several to each case; LoadError where it is damaged."""
    if records.log.format not in _ANSWERED_SEVERAL_TIMES:
        return ()
    _, name_of = _ANSWERED_SEVERAL_TIMES[records.log.format]
    try:
        names = tuple(dict.fromkeys(map(name_of, records)))
    except (ValueError, RecursionError) as error:
        raise records.broken(f"cannot be read: {error}") from error
    return names if len(names) > 1 else ()


def _chosen_of(records: Records, cases: CasesSpec) -> str | None:
    """Give whose answers are judged; LoadError where a log has several answers to a case and none is chosen.

    Several arms may each have one.
    """
    what, name_of = _ANSWERED_SEVERAL_TIMES[records.log.format]
    first = Records(records.file, records.log)
    names: dict[str, dict[str | None, None]] = {}
    try:
        if cases.arm:
            for reply in _REPLIES[records.log.format](iter(first), None):
                asked = _asked(first, reply, cases.arm)
                (arm,) = arm_texts([[asked.get(column)] for column in cases.arm])
                names.setdefault(name_of(first.current), {})[arm] = None
        else:
            names = {name_of(record): {None: None} for record in first}
    except (ValueError, RecursionError) as error:
        raise records.broken(f"cannot be read: {error}") from error
    listed = ", ".join(map(repr, names))
    if cases.filter is not None and cases.filter not in names:
        raise mistake(records.file.name, f"has no answer of the {what} {cases.filter!r}", f"there are: {listed}")
    arms = [arm for found in names.values() for arm in found]
    if cases.filter is None and len(set(arms)) < len(arms):
        seen = f"has an answer to each case per {what}, and {len(names)} of them: {listed}"
        own = ", ".join(f'"{name}"' for name in ARMS_OF[records.log.format])
        hint = f"choose one, they are never mixed: [cases] filter = …; or score each by itself: arm = [{own}]"
        raise mistake(records.file.name, seen, hint)
    return cases.filter


def _reply_rows(
    replies: Iterator[tuple[Reply, str]], layout: Layout, arm: Sequence[str], epochs: list[int]
) -> Iterator[Rows]:
    for first, batch in _batches(replies):
        columns: dict[str, list[str | None]] = {
            layout.id: [string_token(case) for _, case in batch],
            _REPLY: [reply.text for reply, _ in batch],
            _FINISH: [_token(reply.finish) for reply, _ in batch],
            _ERROR: [_token(reply.error) for reply, _ in batch],
            _REFUSAL: [_token(reply.refusal) for reply, _ in batch],
            TOOL: ["true" if reply.of_tool else None for reply, _ in batch],
        }
        ends = (case.rpartition("#")[2] for _, case in batch)
        epochs.append(max((int(end) for end in ends if end.isdigit()), default=1))
        yield Rows("record", first, columns | _no_places(layout, len(batch)) | _arms(layout, arm, batch))


def _reference_rows(replies: Iterator[tuple[Reply, str]], layout: Layout, arm: Sequence[str]) -> Iterator[Rows]:
    keys = {head for paths in layout.fields.values() for path in paths for head in path.heads}
    for first, batch in _batches(replies):
        columns: dict[str, list[str | None]] = {key: [reply.references.get(key) for reply, _ in batch] for key in keys}
        columns[layout.id] = [string_token(case) for _, case in batch]
        whole = [list(reply.references.items()) for reply, _ in batch]
        named = _no_places(layout, len(batch)) | _arms(layout, arm, batch)
        yield Rows("record", first, columns | named, whole)


def _no_places(layout: Layout, count: int) -> dict[str, list[str | None]]:
    return {name: [None] * count for name in (*layout.locale, *layout.jurisdiction)}


def _arms(layout: Layout, arm: Sequence[str], batch: list[tuple[Reply, str]]) -> dict[str, list[str | None]]:
    return {
        place: [_token(reply.asked.get(column)) for reply, _ in batch]
        for (_, place), column in zip(layout.traits, arm, strict=True)
    }


def _token(text: str | None) -> str | None:
    return None if text is None else string_token(text)


def _batches(replies: Iterator[tuple[Reply, str]]) -> Iterator[tuple[int, list[tuple[Reply, str]]]]:
    first, batch = 1, []
    for reply in replies:
        batch.append(reply)
        if len(batch) >= _BATCH:
            yield first, batch
            first, batch = first + len(batch), []
    if batch:
        yield first, batch
