"""A Pydantic model reads as it does in its own application."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pydantic import ValidationError

from auditor.errors import ConsumerError
from auditor.model.decoding import Decodings
from tests.sessions import open_consumer, shown

MODELS = """
import enum
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, List, Literal, Optional

from pydantic import (
    AfterValidator, AliasChoices, AliasPath, BaseModel, BeforeValidator, ConfigDict, Field, WrapValidator,
    field_validator, model_validator,
)


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Line(BaseModel):
    sku: str
    count: int


def without_commas(value):
    return value.replace(",", "") if isinstance(value, str) else value


def doubled(value, handler):
    return handler(value) * 2


class Contract(BaseModel):
    model_config = ConfigDict(strict=True, str_strip_whitespace=True)
    count: int
    lax: Annotated[int, Field(strict=False)]
    day: date
    moment: Optional[datetime] = None
    amount: Decimal
    commas: Annotated[Decimal, BeforeValidator(without_commas), Field(strict=False)]
    wrapped: Annotated[int, WrapValidator(doubled)] = 1
    positive: Annotated[int, Field(gt=0)] = 1
    choice: Literal["x", "y"] = "x"
    colour: Colour = Colour.RED
    flag: bool
    code: str = Field(alias="poNumber", min_length=3)
    either: str = Field("none", validation_alias=AliasChoices("first", AliasPath("nested", "second")))
    upper: Annotated[str, AfterValidator(str.upper)] = ""
    looked: str = ""
    plain: str = ""
    lines: List[Line] = []

    @field_validator("looked", mode="before")
    @classmethod
    def look(cls, value, info):
        return f"{cls.__name__}.{info.field_name}.{value}"

    @field_validator("upper", "plain")
    @classmethod
    def not_secret(cls, value):
        if value == "secret":
            raise ValueError("not for everyone")
        return value


class Checked(BaseModel):
    start: date
    end: date
    note: str = "none"

    @model_validator(mode="after")
    def in_order(self):
        if self.end < self.start:
            raise ValueError("ends before it starts")
        self.note = self.note.upper()
        return self


class Tree(BaseModel):
    size: int
    inner: Optional["Tree"] = None

    @model_validator(mode="before")
    @classmethod
    def look(cls, data):
        return data

    @model_validator(mode="wrap")
    @classmethod
    def wrap(cls, data, handler):
        return handler(data)


class Open(BaseModel):
    later: "NotThere"


class NoModel:
    pass
"""

GOOD: dict[str, str] = {
    "count": "3",
    "lax": "3",
    "day": '"2024-03-01"',
    "amount": '"1.50"',
    "commas": '"1,234.50"',
    "flag": "true",
    "poNumber": '"00123"',
}

VALUES = [
    "3",
    '"3"',
    "3.0",
    '"3.0"',
    "-3",
    "true",
    '"true"',
    '"yes"',
    "1",
    "null",
    '"2024-03-01"',
    '"2024-03-01T00:00:00Z"',
    '"March 1, 2024"',
    "1709251200",
    '"1,234.50"',
    "1.10",
    '"  abc  "',
    '"x"',
    '"red"',
    '"secret"',
    '"ünï"',
    "[]",
    '{"second": "abc"}',
    '""',
]

KEYS = {"code": "poNumber", "either": "first"}

FIELDS = (
    *("count", "lax", "day", "moment", "amount", "commas", "wrapped", "positive", "choice", "colour", "flag", "code"),
    *("either", "upper", "looked", "plain"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("models")
    (place / "contract_models.py").write_text(MODELS)
    return place


@pytest.fixture(scope="module")
def models(folder: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("contract_models", folder / "contract_models.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["contract_models"] = module
    spec.loader.exec_module(module)
    return module


def payload(values: dict[str, str]) -> str:
    return "{" + ", ".join(f"{json.dumps(key)}: {value}" for key, value in values.items()) + "}"


def session_of(folder: Path, model: str = "Contract", types: dict[str, str] | None = None, **more: Any) -> Any:
    types = types or dict.fromkeys(FIELDS, "identifier")
    settings = {"adapter": "pydantic", "receives": "json", "model": f"contract_models:{model}"} | more
    return open_consumer(folder, types=types, **settings)


def tagged(value: Any) -> str | None:
    """Write what the application gets, independently of the worker's own tables."""
    if value is None:
        return None
    kind = type(value).__name__
    if kind == "Colour":
        return f"text:{value.value}"
    names = {"str": "text", "bool": "bool", "int": "int", "date": "date", "datetime": "datetime", "Decimal": "decimal"}
    text = value.isoformat() if kind in ("date", "datetime") else str(value)
    return f"{names[kind]}:{text.lower() if kind == 'bool' else text}"


def in_the_application(models: ModuleType, field: str, value: str, receives: str) -> str | None:
    """Give the field's value in an otherwise good payload, None where the application takes none."""
    model = models.Contract
    try:
        if receives == "json":
            instance = model.model_validate_json(payload(GOOD | {KEYS.get(field, field): value}))
        else:
            # No JSON value is a strict date, so no payload is good: the field is assigned instead.
            instance = model.model_construct()
            model.__pydantic_validator__.validate_assignment(instance, field, json.loads(value))
    except ValidationError:
        return None
    return tagged(getattr(instance, field))


@pytest.mark.parametrize("receives", ["json", "python"])
@pytest.mark.parametrize("scope", ["field", "payload"])
def test_a_field_alone_reads_as_in_an_otherwise_good_payload(folder, models, receives, scope):
    with session_of(folder, receives=receives, scope=scope) as session:
        for field in FIELDS:
            expected = [in_the_application(models, field, value, receives) for value in VALUES]
            assert session.decode(field, VALUES).texts == expected, field


def test_a_field_in_its_payload_reads_as_the_application_does(folder, models):
    payloads = [payload(GOOD | {KEYS.get(field, field): value}) for field in FIELDS for value in VALUES]
    with session_of(folder) as session:
        assert session.readiness.scope == "payload"
        for field in FIELDS:
            expected = []
            for text in payloads:
                try:
                    expected.append(tagged(getattr(models.Contract.model_validate_json(text), field)))
                except ValidationError:
                    expected.append(None)
            assert session.decode(field, payloads, payloads=payloads).texts == expected


def faults(decodings: Decodings) -> list[str]:
    return [fault.error for _, fault in sorted(decodings.faults.items())]


def test_an_error_elsewhere_rejects_the_field_and_says_where(folder):
    texts = [payload(GOOD | {"count": '"3"'}), payload({**GOOD, "extra": "1"}), payload(GOOD | {"poNumber": '"1"'})]
    with session_of(folder) as session:
        count = session.decode("count", texts, payloads=texts)
        assert count.texts == [None, "int:3", None]
        assert faults(count)[0] == "ValidationError: Input should be a valid integer [int_type]"
        assert faults(count)[1].startswith("ValidationError: payload rejected: poNumber: String should have at least 3")
        assert shown(session.decode("day", texts[:1], payloads=texts[:1])) == [
            "rejected: ValidationError: payload rejected: count: Input should be a valid integer [int_type]"
        ]


def test_model_validators_take_part_in_a_payload_only(folder):
    types = {"start": "date", "end": "date", "note": "category"}
    texts = ['{"start": "2024-03-02", "end": "2024-03-01"}', '{"start": "2024-03-01", "end": "2024-03-02"}']
    with session_of(folder, "Checked", types) as session:
        assert shown(session.decode("end", texts, payloads=texts)) == [
            "rejected: ValidationError: payload rejected: the model: Value error, ends before it starts [value_error]",
            "date:2024-03-02",
        ]
        assert shown(session.decode("note", texts[1:], payloads=texts[1:])) == ["text:NONE"]
        assert shown(session.decode("end", ['"2024-03-01"'])) == ["date:2024-03-01"]
        assert shown(session.decode("note", ['"a"'])) == ["text:a"]


def test_what_the_predictions_cannot_carry_sends_each_field_alone(folder):
    with session_of(folder, carried=frozenset({"count", "lax"})) as session:
        assert session.readiness.scope == "field"
        assert "'amount'" in session.readiness.scope_note
    everything = frozenset({"count", "lax", "day", "amount", "commas", "flag", "poNumber"})
    with session_of(folder, carried=everything) as session:
        assert (session.readiness.scope, session.readiness.scope_note) == ("payload", "")


def test_fields_are_found_by_name_alias_path_or_as_told(folder):
    with session_of(folder, types={"poNumber": "identifier", "count": "integer", "unknown": "category"}) as session:
        assert session.readiness.reads == {"poNumber": "Contract.code", "count": "Contract.count"}
    with session_of(folder, types={"po": "identifier"}, paths={"po": "poNumber"}) as session:
        assert session.readiness.reads == {"po": "Contract.code"}
        assert shown(session.decode("po", ['"0012"'])) == ["text:0012"]
    with session_of(folder, types={"po": "identifier"}, reads={"po": "code"}) as session:
        assert session.readiness.reads == {"po": "Contract.code"}
    with session_of(folder, "Tree", {"deep": "integer"}, reads={"deep": "inner.size"}) as session:
        text = '{"size": 1, "inner": {"size": 2}}'
        assert shown(session.decode("deep", [text], payloads=[text])) == ["int:2"]
        assert shown(session.decode("deep", ["2"]))[0].startswith("rejected: ValidationError: a nested field")
    with session_of(folder, "Tree", {"size": "integer"}) as session:
        assert shown(session.decode("size", ["2", '"x"']))[0] == "int:2"


def test_a_model_receives_text_where_the_consumer_does(folder):
    with session_of(folder, "Tree", {"size": "integer"}, receives="text") as session:
        assert shown(session.decode("size", ["2", '"3"']))[:2] == ["int:2", "int:3"]
        assert shown(session.decode("size", ["2"], payloads=['{"size": 2, "inner": null}'])) == ["int:2"]


@pytest.mark.parametrize(
    ("model", "more", "seen", "hint"),
    [
        ("Contrct", {}, "has no 'Contrct'", "'Contract'"),
        ("BaseModl", {}, "has no 'BaseModl'", "there are: "),
        ("NoModel", {}, "no Pydantic model", "BaseModel"),
        ("Open", {}, "NotThere", "complete"),
        ("Contract", {"types": {"x": "date"}}, "none of the spec's fields", "count"),
        ("Contract", {"types": {"x": "date"}, "reads": {"x": "dya"}}, "no field 'dya'", "'day'"),
    ],
)
def test_a_model_that_cannot_be_used_is_an_error(folder, model, more, seen, hint):
    with pytest.raises(ConsumerError) as caught:
        session_of(folder, model, **more)
    assert seen in caught.value.seen
    assert hint in caught.value.hint
    assert "'BaseModel'" not in caught.value.hint, "it is imported, and no model of the consumer"
