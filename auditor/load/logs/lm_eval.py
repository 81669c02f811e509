"""lm-eval's samples: a line per document and filter. No finish reason exists in them, so a reply has none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from auditor.load.json_lines import items
from auditor.load.logs.reply import Reply, at, reference_members, text_at


def is_lm_eval_sample(keys: set[str]) -> bool:
    """Say whether a line with these keys is a sample."""
    return {"doc_id", "doc", "resps"} <= keys


def filter_of(sample: str) -> str:
    """Name the filter that a line is of."""
    return text_at(sample, "filter") or ""


def lm_eval_replies(samples: Iterator[str], chosen: str | None) -> Iterator[Reply]:
    """Give the reply of each line of the chosen filter, or of the only one there is."""
    for sample in samples:
        if chosen is not None and filter_of(sample) != chosen:
            continue
        target = at(sample, "target")
        named = {"target": target, "doc": at(sample, "doc")}
        references = {name: value for name, value in named.items() if value is not None} | reference_members(target)
        reply = Reply(text_at(sample, "doc_id") or "", references=references, asked={"filter": filter_of(sample)})
        yield replace(reply, text=_answer(sample))


def _answer(sample: str) -> str | None:
    filtered = at(sample, "filtered_resps") or at(sample, "resps")
    while filtered is not None and filtered[:1] == "[":
        given = items(filtered)
        if len(given) != 1:
            return None  # several answers of one document: none of them is the one that is judged
        filtered = given[0]
    return filtered
