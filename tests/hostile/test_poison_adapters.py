"""Poison for models and for SQL costs the one string too, alone and in its payload."""

from __future__ import annotations

import json

import pytest

from auditor.decode import session as session_module
from tests.sessions import PARSERS, open_consumer, quoted, shown

LIMIT = 0.7

KINDS = {
    "segfault": "crashed: signal 11 SIGSEGV",
    "busy_hang": f"timed_out: no answer within {LIMIT:g} s",
    "leave": "crashed: exit code 3",
    "exit_politely": "crashed: SystemExit: good bye",
    "eat_memory": "crashed: MemoryError",
    "close_everything": "crashed: closed the descriptors of its process",
}


@pytest.fixture(autouse=True)
def little_grace(monkeypatch):
    monkeypatch.setattr(session_module, "FIRST_STRING", 0.5)


def mixed(count: int, poisons: list[str]) -> tuple[list[str], list[int]]:
    """Give sound strings with poisons among them, and the places of the poisons."""
    texts = [f"order {number}" for number in range(count)]
    places = [100 + number * (count // len(poisons)) for number in range(len(poisons))]
    for place, poison in zip(places, poisons, strict=True):
        texts[place] = poison
    return texts, places


@pytest.mark.parametrize("payloads", [False, True], ids=["field", "payload"])
def test_a_validator_that_misbehaves_on_one_value(payloads):
    texts, places = mixed(6_000, list(KINDS))
    tokens = [json.dumps({"number": text, "note": "x"}) for text in texts] if payloads else quoted(texts)
    model = {"adapter": "pydantic", "model": "poison_models:Order", "receives": "json"}
    limits = {"timeout": LIMIT, "memory": 512 * 1024**2}
    with open_consumer(PARSERS, types={"number": "identifier"}, **model, **limits) as session:
        decodings = session.decode("number", tokens, payloads=tokens if payloads else None)
    found = shown(decodings)
    assert [found[place] for place in places] == list(KINDS.values())
    assert [found[index] for index in range(len(texts)) if index not in places] == [
        f"text:{text}" for index, text in enumerate(texts) if index not in places
    ]
    assert decodings.warnings == {}


#: What an expression makes of three strings; no argument is a constant, which the engine would work out at once.
EXPRESSION = """
    case {value}
        when 'hang' then levenshtein(repeat({value}, 50000), repeat({value} || 'x', 50000))::varchar
        when 'memory' then length(repeat({value}, 400000000))::varchar
        when 'list' then len(range(length({value}) * 250000000))::varchar
        else upper({value})
    end
"""


def test_an_expression_that_misbehaves_on_one_value():
    texts, places = mixed(6_000, ["hang", "memory", "list"])
    limits = {"timeout": LIMIT, "memory": 1024**3}
    with open_consumer(PARSERS, {"f": EXPRESSION}, adapter="sql", engine="duckdb", **limits) as session:
        decodings = session.decode("f", quoted(texts))
        found = shown(decodings)
        assert [found[place].split(":")[0] for place in places] == ["timed_out", "crashed", "crashed"]
        others = [index for index in range(len(texts)) if index not in places]
        assert [found[index] for index in others] == [f"text:{texts[index].upper()}" for index in others]
        assert decodings.warnings == {}
        assert shown(session.decode("f", quoted(["order 1"]))) == ["text:ORDER 1"]
