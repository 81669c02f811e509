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


#: The real engine, but for one text: it then ends for good, as it does after an error in itself.
ENDS = """
import os, sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path = [place for place in sys.path if os.path.abspath(place or ".") != here]
this = sys.modules.pop("duckdb")
import duckdb as real
sys.modules["duckdb"] = this

def __getattr__(name):
    return getattr(real, name)

class Connection:
    def __init__(self, connection):
        self.connection = connection

    def __getattr__(self, name):
        return getattr(self.connection, name)

    def execute(self, statement, parameters=None):
        if "fatal" in str(statement) + str(parameters):
            self.connection.close()
            trace = "\\n\\nStack Trace:\\n\\n/usr/lib/engine.so(+0x1f2e3d)"
            raise real.FatalException("FATAL Error: database has been invalidated" + trace)
        return self.connection.execute(statement, parameters)

def connect(*arguments, **options):
    return Connection(real.connect(*arguments, **options))
"""
MODEL = "select upper(raw) as f from contracts where raw is not null"


@pytest.mark.parametrize("expression", ["upper({value})", "upper({value}) || substr(random()::varchar, 1, 0)", None])
def test_a_string_that_ends_the_engine_costs_itself_alone(tmp_path, expression):
    """By an expression that the engine can TRY, by one that runs value by value, and by a model file."""
    (tmp_path / "duckdb.py").write_text(ENDS)
    (tmp_path / "model.sql").write_text(MODEL)
    texts, places = mixed(6_000, ["fatal", "fatal"])
    described = {"adapter": "sql", "engine": "duckdb", "env": {"PYTHONPATH": str(tmp_path)}}
    reads = {"f": expression or "f"}
    with open_consumer(tmp_path, reads, **described, **({} if expression else {"model": "model.sql"})) as session:
        decodings = session.decode("f", quoted(texts))
        found = shown(decodings)
        message = "crashed: FatalException: FATAL Error: database has been invalidated"
        assert [found[place] for place in places] == [message] * 2
        others = [index for index in range(len(texts)) if index not in places]
        assert [found[index] for index in others] == [f"text:{texts[index].upper()}" for index in others]
        assert decodings.warnings == {}
        assert shown(session.decode("f", quoted(["order 1"]))) == ["text:ORDER 1"]
