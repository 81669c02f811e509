"""No two texts become one on their way to the judge, and every way there writes them alike."""

from __future__ import annotations

import json

import duckdb
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from auditor.judge.typed import fast_typed_sql, read_typed
from auditor.load.tokens import string_token
from auditor.spec.models import FieldSpec
from auditor.worker.sql_adapter import open_adapter
from auditor.worker.wire import encode_texts

FIELD = FieldSpec(name="f", type="identifier")

#: Texts that an escape could confuse: its own output, its marks, and what it is for.
PARTS = ["A", "\0", "\\", "\\u0000", "\\\\", "\ud800", "\\ud800", "\u241b", '"', "\n", "\x1e", ":", ",", '","', "é"]
TEXTS = st.lists(st.sampled_from(PARTS), max_size=5).map("".join) | st.text(max_size=5)

SQL = open_adapter(
    {"settings": {}, "memory": 2 * 1024**4, "plan": None, "reads": {"f": "{value}"}, "fields": {"f": "identifier"}}
)


def from_worker(texts: list[str]) -> list[str]:
    """Give what the parent receives when a parser returned these texts."""
    found: list[str] = json.loads(encode_texts([f"text:{text}" for text in texts]))
    return found


def from_sql(texts: list[str]) -> list[str]:
    found, faults = SQL.decode_batch("f", texts)
    assert not faults
    received: list[str] = json.loads(encode_texts([text or "" for text in found]))
    return received


def from_typed(text: str) -> str | None:
    return read_typed(FIELD, string_token(text))[0]


@given(st.lists(TEXTS, max_size=4))
@example(["A\0", "A\\u0000"])
def test_worker_and_typed_reader_write_a_text_alike(texts):
    assert from_worker(texts) == [from_typed(text) for text in texts]
    for text in texts:
        from_worker([text])[0].encode()
        assert "\0" not in from_worker([text])[0]


@given(st.lists(TEXTS.filter(lambda text: text.isascii() or text.encode("utf-8", "ignore").decode() == text)))
def test_sql_writes_a_text_as_a_python_parser_does(texts):
    assert from_sql(texts) == from_worker(texts)


@given(TEXTS, TEXTS)
@example("A\0", "A\\u0000")
@example("\u241bA\\u0000", "A\0")
def test_different_texts_stay_different(one, other):
    first, second = from_worker([one, other])
    assert (first == second) is (one == other)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0")))
def test_an_ordinary_text_stays_as_it_is(text):
    assert from_typed(text) == ("text:" + text if text[:1] != "\u241b" else "text:\u241b" + text.replace("\\", "\\\\"))


@pytest.mark.parametrize("text", ["\u241bA", "A", "A\0", "A\\u0000", "\ud800"])
def test_the_typed_reader_in_sql_leaves_rewritten_texts_to_python(text):
    token = string_token(text)
    [(fast,)] = duckdb.execute(f"SELECT {fast_typed_sql(FIELD, '$token')}", {"token": token}).fetchall()
    assert fast in (None, from_typed(text))
