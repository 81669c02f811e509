"""run.json: the public names, the exact way back, and the same bytes for the same run."""

from __future__ import annotations

import json
from dataclasses import is_dataclass, replace
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from auditor.errors import StoreError
from auditor.model import run as nouns
from auditor.model.document import from_document, to_document, to_json_text
from auditor.model.verdicts import FIELD_VERDICTS
from tests.rooms.report_samples import BROKEN, CLEAN, EMPTY, HOSTILE, SAMPLE, hostile

TOP = [
    "schema",
    "run_id",
    "name",
    "manifest_sha256",
    "created_at",
    "auditor_version",
    "environment",
    "cases",
    "finish_reasons",
    "consumers",
    "fields",
    "columns",
    "findings",
]
COLUMN = [
    "field",
    "consumer",
    "label",
    "split",
    "support",
    "judged",
    "blocked",
    "blocked_by",
    "ok",
    "wrong",
    "rejected",
    "null",
    "dropped",
    "crashed",
    "timed_out",
    "absent",
    "abstained",
    "unreferenced",
    "unexpected",
    "broken_references",
    "coverage",
    "content_rate",
    "usable_rate",
    "interval",
    "ceiling",
    "recoverable",
    "untrusted",
    "by_environment",
]
FINDING = [
    "code",
    "fingerprint",
    "severity",
    "field",
    "consumers",
    "owners",
    "title",
    "detail",
    "cause",
    "fixes",
    "affected",
    "share",
    "witnesses",
    "location",
]

TEXT = st.text(st.characters(codec="utf-8"), max_size=6) | st.sampled_from(["\ud800", "a\x00", "\u202e"])
FLOAT = st.floats(0, 1, allow_nan=False)
COUNT = st.integers(0, 10**12)


def test_the_names_are_the_ones_of_the_design() -> None:
    document = to_document(SAMPLE)
    assert set(TOP) <= set(document)
    assert set(COLUMN) <= set(document["columns"][0])
    assert set(FINDING) <= set(document["findings"][0])
    assert set(document["environment"]) >= {"clock", "zone", "locale", "hash_seed", "not_fixed"}
    assert set(document["consumers"][0]) >= {"name", "owner", "adapter", "label", "version", "settings", "not_varied"}
    assert set(document["fields"][0]) >= {"field", "type", "usable_everywhere", "string_equality", "shapes"}
    decoding = document["findings"][0]["witnesses"][0]["decodings"]["billing"]
    assert decoding == {"status": "value", "value": "date:2024-03-01", "error": None, "environment": "base"}
    assert document["schema"] == 1 and next(iter(document)) == "schema"


def test_a_column_is_flat_and_its_interval_a_pair() -> None:
    warehouse = to_document(SAMPLE)["columns"][1]
    assert (warehouse["ok"], warehouse["wrong"], warehouse["null"], warehouse["rejected"]) == (149, 6, 78, 0)
    assert (warehouse["lost_to_shape"], warehouse["lost_to_value"], warehouse["recoverable"]) == (78, 6, 63)
    assert "verdicts" not in warehouse
    low, high = warehouse["interval"]
    assert low < 149 / 233 < high
    assert to_document(BROKEN)["columns"][1]["interval"] is None


@pytest.mark.parametrize("run", [SAMPLE, BROKEN, CLEAN, EMPTY, *(hostile(text) for text in HOSTILE.values())])
def test_the_way_back_is_exact_through_bytes(run: nouns.Run) -> None:
    data = to_json_text(run).encode()
    assert from_document(json.loads(data)) == run
    assert from_document(to_document(run)) == run
    assert data.endswith(b"}\n") and not data.endswith(b"\n\n")


def _strategy(hint: Any) -> st.SearchStrategy[Any]:
    """Build values from the annotations alone, so that a field added to a noun is tested by itself."""
    arguments = get_args(hint)
    if hint is Any:
        return TEXT | COUNT | FLOAT | st.none() | st.booleans()
    if get_origin(hint) is Literal:
        return st.sampled_from(arguments)
    if get_origin(hint) is UnionType:
        return st.one_of([_strategy(part) for part in arguments])
    if get_origin(hint) is tuple:
        return st.lists(_strategy(arguments[0]), max_size=2).map(tuple)
    if get_origin(hint) is dict:
        return st.dictionaries(TEXT, _strategy(arguments[1]), max_size=2)
    if is_dataclass(hint):
        return _noun(hint)
    return {str: TEXT, int: COUNT, float: FLOAT, bool: st.booleans(), NoneType: st.none()}[hint]


@cache
def _noun(noun: type) -> st.SearchStrategy[Any]:
    parts = {name: _strategy(hint) for name, hint in get_type_hints(noun).items()}
    if noun is nouns.Column:
        parts["verdicts"] = st.fixed_dictionaries(dict.fromkeys(FIELD_VERDICTS, COUNT))
    if noun is nouns.Run:
        parts["schema"] = st.just(1)
    return st.builds(noun, **parts)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(_noun(nouns.Run))
def test_any_run_comes_back(run: nouns.Run) -> None:
    assert from_document(json.loads(to_json_text(run).encode())) == run


def test_nan_never_reaches_the_file() -> None:
    odd = replace(SAMPLE.columns[0], content_rate=float("nan"), interval=nouns.Interval(float("inf"), 1.0))
    text = to_json_text(replace(SAMPLE, columns=(odd,)))
    column = json.loads(text)["columns"][0]
    assert column["content_rate"] is None and column["interval"] is None
    assert "NaN" not in text and "Infinity" not in text


def test_later_keys_are_ignored_and_missing_ones_named() -> None:
    document = to_document(SAMPLE)
    document["columns"][0]["added_in_2031"] = 1
    assert from_document(document) == SAMPLE
    del document["columns"][2]["support"]
    with pytest.raises(StoreError, match=r"columns\[2\].*'support'"):
        from_document(document)


@pytest.mark.parametrize(
    ("document", "said"),
    [([], "not a run"), ({}, "schema is None"), ({"schema": 2}, "schema is 2"), ({"schema": 1}, "'run_id' is missing")],
)
def test_what_is_no_run_is_said(document: object, said: str) -> None:
    with pytest.raises(StoreError, match=said):
        from_document(document)


def test_a_wrong_type_is_named_with_its_path() -> None:
    document = to_document(SAMPLE)
    document["columns"][1]["ok"] = "149"
    with pytest.raises(StoreError, match=r"columns\[1\]\.ok: expected int, found str"):
        from_document(document)
