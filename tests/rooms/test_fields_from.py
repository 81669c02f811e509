"""Fields from a Pydantic model: each of the type that its annotation stands for, read in a process of its own."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import TypeAdapter, ValidationError

import auditor
from auditor.errors import SpecError, UnsupportedField
from auditor.spec.models import AuditSpec
from auditor.spec.read import read_spec, spec_from
from tests.versions import python_of

MODELS = """
import enum
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, List, Literal, NewType, Optional, Union

import annotated_types
from pydantic import AliasChoices, AliasPath, AwareDatetime, BaseModel, Field, PastDate, PositiveInt, StrictBool, conint
from pydantic import constr
from typing_extensions import TypeAliasType

Stars = NewType("Stars", int)
Score = TypeAliasType("Score", Annotated[int, Field(ge=0, le=10)])


class Severity(enum.Enum):
    LOW = "low"
    HIGH = "high"


class Level(enum.IntEnum):
    ONE = 1
    TWO = 2


class Line(BaseModel):
    sku: str


class Verdict(BaseModel):
    correct: bool
    strict: StrictBool
    maybe: Optional[bool] = None
    label: Literal["yes", "no"]
    empty_label: Literal["yes", None] = None
    severity: Severity
    level: Optional[Level] = None
    mixed: Literal[1, "one"]
    literal: Literal[1, 2, None]
    nested_literal: Literal[Literal[1, 2], 3]
    plain: int
    positive: PositiveInt
    stars: Annotated[Stars, Field(ge=1, le=5)]
    score: Score
    exclusive: int = Field(gt=0, lt=6)
    decimal: Annotated[int, Field(gt=0.0, lt=6.0)]
    inside: Optional[Annotated[int, Field(ge=1, le=5)]] = None
    outside: Annotated[Optional[int], Field(ge=1, le=5)] = None
    both_levels: Annotated[Optional[Annotated[int, Field(ge=1)]], Field(lt=6)] = None
    interval: Annotated[int, annotated_types.Interval(gt=0, le=5)]
    repeated: Annotated[int, annotated_types.Ge(3), Field(ge=1), Field(le=7), annotated_types.Le(9)]
    both_kinds: Annotated[int, Field(ge=0, gt=2, le=7, lt=9)]
    overridden: Annotated[Optional[Annotated[int, Field(ge=3)]], Field(ge=1, le=9)] = None
    constrained: conint(gt=0, le=5)
    piped: Annotated[int, Field(ge=1)] | None = Field(None, le=5)
    open_above: int = Field(ge=1)
    ratio: float
    bounded_ratio: float = Field(ge=0, le=1)
    price: Optional[Decimal] = None
    day: date
    past: PastDate
    moment: datetime
    aware: AwareDatetime
    number: str
    note: constr(max_length=10)
    aliased: int = Field(alias="theCount")
    chosen: int = Field(validation_alias=AliasChoices(AliasPath("outer", "inner"), "flat"))
    by_place: int = Field(validation_alias=AliasChoices(AliasPath("list", 0), "first"))


class Wrong(BaseModel):
    tags: list[str]
    line: Line
    either: Union[int, str]
    both: Optional[Union[int, str]] = None
    table: dict[str, int] = {}
    fine: int = 1
    old: List[int] = []


class Numbers(BaseModel):
    count: int
"""

FIVE = {"type": "ordinal", "minimum": 1, "maximum": 5}
#: What the issue says of each annotation.
EXPECTED: dict[str, dict[str, object]] = {
    **{name: {"type": "boolean"} for name in ("correct", "strict", "maybe")},
    **{name: {"type": "category"} for name in ("label", "empty_label", "severity")},
    "mixed": {"type": "category", "members": "mixed"},
    **{name: {"type": "category", "members": "integer"} for name in ("level", "literal", "nested_literal")},
    **{name: {"type": "integer"} for name in ("plain", "positive", "open_above")},
    **dict.fromkeys(("stars", "exclusive", "decimal", "inside", "outside", "both_levels"), FIVE),
    **dict.fromkeys(("interval", "constrained", "piped"), FIVE),
    "score": {"type": "ordinal", "minimum": 0, "maximum": 10},
    "repeated": {"type": "ordinal", "minimum": 1, "maximum": 9},
    "both_kinds": {"type": "ordinal", "minimum": 3, "maximum": 7},
    "overridden": {"type": "ordinal", "minimum": 1, "maximum": 9},
    **{name: {"type": "decimal"} for name in ("ratio", "bounded_ratio", "price")},
    **{name: {"type": "date"} for name in ("day", "past")},
    **{name: {"type": "datetime"} for name in ("moment", "aware")},
    "aliased": {"type": "integer", "path": "theCount"},
    "chosen": {"type": "integer", "path": (("outer", "inner"), ("flat",))},
    "by_place": {"type": "integer", "path": (("list", 0), ("first",))},
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "judge").mkdir()
    (tmp_path / "judge" / "models.py").write_text(MODELS, encoding="utf-8")
    return tmp_path


def spec(folder: Path, model: str = "models:Verdict", fields: dict | None = None, **given: object) -> AuditSpec:
    mapping = {
        "name": "judge",
        "cases": {"predictions": "p.jsonl", "references": "r.jsonl"},
        "fields_from": {"model": model, "root": "judge", **given},
        "consumers": {"api": {"adapter": "pydantic", "root": "judge", "model": model, "receives": "json"}},
        **({} if fields is None else {"fields": fields}),
    }
    return spec_from(mapping, folder / "audit.toml")


def test_every_annotation_is_the_type_that_it_stands_for(folder):
    read = spec(folder)
    found = {
        name: field.model_dump(include={"type", "members", "minimum", "maximum", "path"}, exclude_none=True)
        for name, field in read.fields.items()
    }
    assert found == EXPECTED
    assert read.not_judged == {"number": "number", "note": "note"}
    assert "models" not in sys.modules


def test_the_bounds_are_those_at_which_the_model_itself_begins_to_refuse(folder):
    found = importlib.util.spec_from_file_location("models_of_a_test", folder / "judge" / "models.py")
    models = importlib.util.module_from_spec(found)
    found.loader.exec_module(models)
    fields = {name: field for name, field in spec(folder).fields.items() if field.type == "ordinal"}
    assert len(fields) == 13
    for name, field in fields.items():
        info = models.Verdict.model_fields[name]
        own = TypeAdapter(Annotated[(info.annotation, *info.metadata)] if info.metadata else info.annotation)
        for accepted in (field.minimum, field.maximum):
            assert own.validate_python(accepted) == accepted
        for refused in (field.minimum - 1, field.maximum + 1):
            with pytest.raises(ValidationError):
                own.validate_python(refused)


def test_what_is_written_stands_over_what_the_model_says_or_beside_it(folder):
    written = {
        "number": {"type": "identifier"},
        "stars": {"maximum": 4},
        "score": {"bounds": [1, 3]},
        "price": {"grain": "0.01"},
        "plain": {"type": "decimal"},
        "day": {"reference": "api"},
        "extra": {"type": "boolean"},
    }
    fields = spec(folder, fields=written).fields
    assert (fields["number"].type, fields["plain"].type, fields["extra"].type) == ("identifier", "decimal", "boolean")
    assert (fields["stars"].minimum, fields["stars"].maximum) == (1, 4)
    assert (fields["score"].minimum, fields["score"].maximum) == (1, 3)
    assert (fields["price"].type, fields["price"].grain) == ("decimal", "0.01")
    assert (fields["day"].type, fields["day"].reference) == ("date", "api")
    assert spec(folder, leave_out=["day"]).fields.keys() == EXPECTED.keys() - {"day"}


def test_what_is_no_field_is_refused_at_once_with_every_other_mistake(folder):
    with pytest.raises(UnsupportedField) as caught:
        spec(folder, "models:Wrong", {"fine": {"tipe": "integer"}}, leave_out=["table", "absent"])
    said = [(mistake.where.partition(": ")[2], mistake.what) for mistake in caught.value.mistakes]
    assert [*said[1:6], said[0], said[6]] == [
        ("fields_from", "UnsupportedField: tags of models:Wrong is list[str], which is no field's type"),
        ("fields_from", "UnsupportedField: line of models:Wrong is Line, which is no field's type"),
        ("fields_from", "UnsupportedField: either of models:Wrong is Union[int, str], which is no field's type"),
        ("fields_from", "UnsupportedField: both of models:Wrong is Union[int, str, None], which is no field's type"),
        ("fields_from", "UnsupportedField: old of models:Wrong is List[int], which is no field's type"),
        ("fields_from.leave_out", 'models:Wrong has no field "absent"'),
        ("fields.fine.tipe", "there is no such key"),
    ]
    assert issubclass(UnsupportedField, SpecError) and auditor.UnsupportedField is UnsupportedField
    given = {"tags": {"type": "category"}, "line": {"type": "category"}}
    left = {"leave_out": ["either", "both", "old", "table"]}
    assert list(spec(folder, "models:Wrong", given, **left).fields) == ["tags", "line", "fine"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"model": "models"}, 'must be module:Model, not "models"'),
        ({"model": "models:Verdikt"}, "did you mean 'Verdict'"),
        ({"model": "modls:Verdict"}, "No module named 'modls'"),
        ({"root": "nowhere"}, "there is no folder"),
        ({"interpreter": "no/python"}, "cannot be started"),
        ({"model": "models:Severity"}, "is no Pydantic model"),
    ],
)
def test_a_model_that_cannot_be_read_is_a_mistake_of_the_spec(folder, given, said):
    with pytest.raises(SpecError) as caught:
        spec(folder, **given)
    assert said in str(caught.value)
    assert type(caught.value) is SpecError


def test_a_model_that_ends_or_prints_while_it_is_imported_harms_nobody(folder):
    (folder / "judge" / "loud.py").write_text("print('x' * 10_000_000)\nfrom models import Numbers\n", encoding="utf-8")
    assert list(spec(folder, "loud:Numbers").fields) == ["count"]
    (folder / "judge" / "ends.py").write_text("import os\nos._exit(3)\n", encoding="utf-8")
    with pytest.raises(SpecError, match="ended, or was ended"):
        spec(folder, "ends:Numbers")


def test_the_model_is_imported_by_the_interpreter_that_has_it(folder):
    python = python_of("pydantic", "2.7.4")
    read = spec(folder, interpreter=python, leave_out=["aware"])
    assert {name: field.type for name, field in read.fields.items()} == {
        name: one["type"] for name, one in EXPECTED.items() if name != "aware"
    }
    with pytest.raises(SpecError, match="it is a model of Pydantic 1"):
        (folder / "judge" / "old.py").write_text(
            "import pydantic\nclass Old(pydantic.BaseModel):\n    count: int\n", encoding="utf-8"
        )
        spec(folder, "old:Old", interpreter=python_of("pydantic", "1.10.26"))


def test_a_spec_of_toml_names_the_model_in_one_line(folder):
    (folder / "models.py").write_text(MODELS, encoding="utf-8")
    text = """
name = "judge"
fields_from = "models:Numbers"
[cases]
predictions = "p.jsonl"
references = "p.jsonl"
[consumers.api]
adapter = "pydantic"
model = "models:Numbers"
"""
    (folder / "audit.toml").write_text(text, encoding="utf-8")
    assert read_spec(folder).fields["count"].type == "integer"
    (folder / "audit.toml").write_text(text.replace(":Numbers", ":Wrong", 1), encoding="utf-8")
    with pytest.raises(UnsupportedField, match=r"audit.toml:3: fields_from: UnsupportedField: tags"):
        read_spec(folder)


def test_texts_that_nothing_compares_are_named_and_are_no_keys_of_no_field(folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "judge" / "verdicts.py").write_text(
        "import pydantic\nclass Verdict(pydantic.BaseModel):\n"
        "    correct: bool\n    why: str\n    stars: int | None = pydantic.Field(None, ge=1, le=5)\n",
        encoding="utf-8",
    )
    replies = [{"correct": True, "why": "so", "stars": 3}, {"correct": False, "why": "", "stars": None}]
    lines = [
        json.dumps({"case_id": str(number), "completion": json.dumps(reply), "finish_reason": "stop"})
        for number, reply in enumerate(replies)
    ]
    (folder / "p.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (folder / "r.jsonl").write_text(
        '{"case_id": "0", "correct": true, "stars": 3}\n{"case_id": "1", "correct": true, "stars": null}\n',
        encoding="utf-8",
    )
    read = spec(folder, "verdicts:Verdict")
    read = read.model_copy(update={"cases": read.cases.model_copy(update={"extra": "forbid"})})
    run = auditor.run(read, probe="off")
    note = 'not judged: why of verdicts:Verdict is a text, which nothing compares; type = "identifier"'
    assert next(one for one in run.run.notes if one.startswith("not judged")).startswith(note)
    assert [(one.field, one.support, one.verdicts["ok"]) for one in run.columns] == [("correct", 2, 1), ("stars", 1, 1)]
    assert run.verdicts().aggregate("count(*)").fetchall() == [(4,)]


RATED = """
import enum
from typing import Literal
from pydantic import BaseModel

class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2

class Plain(enum.Enum):
    LOW = 1
    HIGH = 2

class Verdict(BaseModel):
    rating: Literal[1, 2, 3]
    level: Level
    plain: Plain
"""


@pytest.mark.parametrize("references", ["csv", "jsonl"])
def test_a_reference_of_whole_numbers_is_the_member_of_that_number(tmp_path, references):
    """A text 2 in a CSV file and a number 2 in a JSON file both name the member 2, which is a number to the model."""
    (tmp_path / "models.py").write_text(RATED)
    given = [(1, 2, 1, 2), (2, 3, 2, 1), (3, 3, 1, 1)]
    predictions = [
        {"case_id": str(case), "rating": rating, "level": level, "plain": plain} for case, rating, level, plain in given
    ]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in predictions))
    rows = [row | {"rating": 3} for row in predictions]
    if references == "csv":
        lines = [",".join(map(str, row.values())) for row in rows]
        (tmp_path / "r.csv").write_text("\n".join([",".join(rows[0]), *lines]) + "\n")
    else:
        (tmp_path / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    mapping = {
        "name": "ratings",
        "cases": {"predictions": str(tmp_path / "p.jsonl"), "references": str(tmp_path / f"r.{references}")},
        "fields_from": {"model": "models:Verdict", "root": str(tmp_path)},
        "consumers": {
            "api": {"adapter": "pydantic", "root": str(tmp_path), "model": "models:Verdict", "receives": "json"}
        },
    }
    run = auditor.run(spec_from(mapping, tmp_path / "audit.toml"), store=False, probe="off").run
    assert run.broken_references == ()
    assert [run.column(field, "api").verdicts["ok"] for field in ("rating", "level", "plain")] == [2, 3, 3]


MIXED = """
import enum
from typing import Literal
from pydantic import BaseModel

class Answer(enum.Enum):
    NO = False
    YES = True
    OTHER = "other"

class Verdict(BaseModel):
    rating: Literal["none", 1, 2]
    answer: Answer
"""


@pytest.mark.parametrize("references", ["csv", "jsonl"])
def test_members_of_several_kinds_are_right_where_they_are_the_same_member(tmp_path, references):
    (tmp_path / "models.py").write_text(MIXED)
    given = [("none", True), (1, "other"), (2, False), (1, True)]
    right = [("none", True), (1, "other"), (1, False), ("none", "other")]
    lines = [{"case_id": str(case), "rating": one, "answer": other} for case, (one, other) in enumerate(given)]
    rows = [{"case_id": str(case), "rating": one, "answer": other} for case, (one, other) in enumerate(right)]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in lines))
    if references == "csv":
        written = [",".join(str(cell).lower() for cell in row.values()) for row in rows]
        (tmp_path / "r.csv").write_text("\n".join(["case_id,rating,answer", *written]))
    else:
        (tmp_path / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    mapping = {
        "name": "mixed",
        "cases": {"predictions": "p.jsonl", "references": f"r.{references}"},
        "fields_from": "models:Verdict",
        "consumers": {"api": {"adapter": "pydantic", "model": "models:Verdict", "receives": "json"}},
    }
    run = auditor.run(spec_from(mapping, tmp_path / "audit.toml"), store=False, probe="off").run
    assert run.broken_references == ()
    found = {name: run.column(name, "api").verdicts for name in ("rating", "answer")}
    assert [(one["ok"], one["wrong"]) for one in found.values()] == [(2, 2), (3, 1)]
    assert not [one for one in run.findings if one.code == "lax-coercion"]


@pytest.mark.parametrize("members", ['Literal["1", 1]', 'Literal["true", 2, "x"]', "Level"])
def test_members_that_no_reference_can_name_are_refused_at_once(tmp_path, members):
    (tmp_path / "models.py").write_text(
        "import enum\nfrom typing import Literal\nfrom pydantic import BaseModel\n"
        "class Level(enum.Enum):\n    LOW = 0.5\n    HIGH = (1, 2)\n"
        f"class Verdict(BaseModel):\n    rating: {members}\n    fine: bool\n"
    )
    with pytest.raises(UnsupportedField, match="UnsupportedField: rating of models:Verdict is "):
        spec_from(
            {
                "name": "mixed",
                "cases": {"predictions": "p.jsonl", "references": "r.jsonl"},
                "fields_from": "models:Verdict",
                "consumers": {"api": {"adapter": "pydantic", "model": "models:Verdict"}},
            },
            tmp_path / "audit.toml",
        )


@pytest.mark.parametrize(
    ("kind", "parser", "said"),
    [
        (
            "category",
            "int(text)",
            'return text, as its references are, or write members = "integer"',
        ),
        ("category", "text == 'a'", 'return text, as its references are, or write members = "mixed"'),
        ("identifier", "int(text)", "return text, as its references are: a number has lost its leading zeros"),
    ],
)
def test_a_value_that_could_never_be_right_is_rejected_and_says_why(tmp_path, kind, parser, said):
    """References in canonical form are texts: a number beside them is no wrong answer of the model's."""
    (tmp_path / "m.py").write_text(f"def read(text):\n    return {parser}\n")
    (tmp_path / "r.csv").write_text("case_id,field,prediction,reference\n1,f,3,3\n")
    mapping = {
        "name": "kinds",
        "cases": {"predictions": str(tmp_path / "r.csv"), "references": str(tmp_path / "r.csv")},
        "fields": {"f": {"type": kind}},
        "consumers": {"c": {"adapter": "python", "root": str(tmp_path), "reads": {"f": "m:read"}}},
    }
    done = auditor.run(spec_from(mapping, tmp_path / "audit.toml"), store=False, probe="off")
    assert done.run.column("f", "c").verdicts["rejected"] == 1
    [reading] = auditor.read("f", "3", spec=spec_from(mapping, tmp_path / "audit.toml"), probe="off")
    assert said in str(reading)


def test_a_module_that_writes_where_we_listen_is_named(tmp_path):
    (tmp_path / "m.py").write_text(
        "import contextlib, os\n"
        "for number in range(3, 4096):\n"
        "    with contextlib.suppress(OSError):\n"
        "        os.write(number, b'\\0\\0\\0\\2\\0\\0\\0\\0{}')\n"
        "from pydantic import BaseModel\n"
        "class V(BaseModel):\n    n: int\n"
    )
    mapping = {
        "name": "rude",
        "cases": {"predictions": "p.jsonl", "references": "r.jsonl"},
        "fields_from": {"model": "m:V", "root": str(tmp_path)},
        "consumers": {"api": {"adapter": "pydantic", "root": str(tmp_path), "model": "m:V", "receives": "json"}},
    }
    with pytest.raises(SpecError, match="the model m:V cannot be read: the model's module wrote on the descriptors"):
        spec_from(mapping, tmp_path / "audit.toml")
