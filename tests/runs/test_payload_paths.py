"""Where a value stands in a payload: the audit looks where the model looks, and says where it cannot."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from pydantic import ValidationError

import auditor
from auditor.errors import ConsumerError, SpecError
from auditor.spec.models import AuditSpec
from auditor.spec.read import spec_from
from tests.versions import python_of

MODELS = """
from typing import Optional
from pydantic import AliasChoices, AliasGenerator, AliasPath, BaseModel, ConfigDict, Field, model_validator

PLACES = AliasChoices("flat", AliasPath("list", 0, "x"), AliasPath("list", -1), AliasPath("outer", "inner"), "a.b")

class Choices(BaseModel):
    value: Optional[int] = Field(validation_alias=PLACES)

class ByNameToo(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    value: Optional[int] = Field(validation_alias=PLACES)

class ByNameAlone(BaseModel):
    model_config = ConfigDict(validate_by_name=True, validate_by_alias=False)
    value: Optional[int] = Field(validation_alias=PLACES)

class Generated(BaseModel):
    model_config = ConfigDict(
        alias_generator=AliasGenerator(validation_alias=lambda name: AliasChoices(name.upper(), "flat")),
    )
    value: Optional[int]

class OneOfTwo(BaseModel):
    value: Optional[int] = Field(alias="outer", validation_alias=AliasPath("outer", "inner"))
"""
PAYLOADS = [
    '{"flat": 1}',
    '{"flat": null, "list": [{"x": 2}]}',
    '{"list": [{"x": 3}, 9]}',
    '{"list": [{"y": 3}, 4]}',
    '{"list": []}',
    '{"list": {"0": {"x": 5}, "-1": 6}}',
    '{"outer": {"inner": 7}}',
    '{"outer": {"inner": null}, "a.b": 8}',
    '{"outer": 9, "a.b": 10}',
    '{"a": {"b": 11}}',
    '{"outer.inner": 12}',
    '{"value": 13}',
    '{"value": 14, "flat": 15}',
    '{"VALUE": 16, "flat": 17}',
    '{"flat": 18, "VALUE": null}',
    '{"other": 19}',
]


@pytest.mark.parametrize("name", ["Choices", "ByNameToo", "ByNameAlone", "Generated", "OneOfTwo"])
@pytest.mark.parametrize("scope", ["payload", "field"])
def test_a_case_is_absent_exactly_where_the_model_finds_nothing(tmp_path: Path, name: str, scope: str) -> None:
    (tmp_path / "models.py").write_text(MODELS)
    model = getattr(_imported(tmp_path / "models.py"), name)
    expected = [_read_by(model, payload) for payload in PAYLOADS]
    assert len(set(expected)) > 2
    run = auditor.run(_spec(tmp_path, PAYLOADS, model=f"models:{name}", scope=scope), probe="off")
    rows = run.verdicts().select("case_id, prediction, verdict").fetchall()
    found = {case: (prediction, verdict) for case, prediction, verdict in rows}
    for number, (payload, seen) in enumerate(zip(PAYLOADS, expected, strict=True)):
        prediction, verdict = found[f"c{number:02}"]
        assert (prediction is None, verdict == "absent") == (seen == "missing", seen == "missing"), payload
        if seen != "missing":
            assert json.loads(prediction) == seen, payload


def _read_by(model: Any, payload: str) -> Any:
    """Give what the library itself reads: a number, None for null, or `missing`."""
    try:
        return model.model_validate_json(payload).value
    except ValidationError as error:
        assert [one["type"] for one in error.errors()] in (["missing"], ["int_type"])
        return "missing"


def _imported(file: Path) -> Any:
    found = importlib.util.spec_from_file_location("models_of_paths", file)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def _spec(folder: Path, payloads: list[str], fields: Any = None, **consumer: Any) -> AuditSpec:
    """Audit payloads with a model; without `fields` it defines them."""
    lines = [
        json.dumps({"case_id": f"c{number:02}", "completion": payload, "finish_reason": "stop"})
        for number, payload in enumerate(payloads)
    ]
    (folder / "p.jsonl").write_text("\n".join(lines) + "\n")
    rows = [json.dumps({"case_id": f"c{number:02}", "value": 1}) for number in range(len(payloads))]
    (folder / "r.jsonl").write_text("\n".join(rows) + "\n")
    given = {"fields_from": consumer["model"]} if fields is None else {"fields": fields}
    return spec_from(
        {
            "name": "paths",
            "cases": {"predictions": "p.jsonl", "references": "r.jsonl"},
            **given,
            "consumers": {"api": {"adapter": "pydantic", "receives": "json", **consumer}},
        },
        folder / "audit.toml",
    )


WRITTEN = """
from pydantic import AliasChoices, AliasPath, BaseModel, Field, model_validator

class Verdict(BaseModel):
    value: int = Field(validation_alias=AliasChoices("value", AliasPath("scores", 0)))

class Moves(BaseModel):
    value: int = 0

    @model_validator(mode="before")
    @classmethod
    def unwrap(cls, data):
        return data.get("result", data)
"""


def test_what_a_model_reads_elsewhere_than_the_spec_looks_is_an_error_that_says_where(tmp_path: Path) -> None:
    (tmp_path / "models.py").write_text(WRITTEN)
    payloads = ['{"value": 1}', '{"scores": [1, 2]}']
    integer = {"value": {"type": "integer"}}
    with pytest.raises(ConsumerError) as caught:
        auditor.run(_spec(tmp_path, payloads, integer, model="models:Verdict"), probe="off")
    assert "in case c01 the payload has no value at value, where [fields.value] looks" in str(caught.value)
    assert "one at scores[0], where the model looks" in str(caught.value)
    assert 'write path = ["value", ["scores", 0]] in [fields.value]' in str(caught.value)
    integer["value"]["path"] = ["value", ["scores", 0]]
    run = auditor.run(_spec(tmp_path, payloads, integer, model="models:Verdict"), probe="full")
    assert [(one.judged, one.verdicts["ok"]) for one in run.columns] == [(2, 2)]
    # Nothing is there that the model reads: then nothing is wrong with looking in one place.
    run = auditor.run(_spec(tmp_path, ['{"value": 1}', '{"scores": []}'], integer, model="models:Verdict"), probe="off")
    assert run.columns[0].verdicts["absent"] == 1


def test_where_it_cannot_be_told_what_a_model_reads_the_run_says_so(tmp_path: Path) -> None:
    (tmp_path / "models.py").write_text(WRITTEN)
    payloads = ['{"value": 1}', '{"result": {"value": 1}}']
    run = auditor.run(_spec(tmp_path, payloads, {"value": {"type": "integer"}}, model="models:Moves"), probe="off")
    (said,) = (note for note in run.run.notes if note.startswith("api, value: "))
    assert said.startswith("api, value: 1 case has no value at value; unwrap of the model gets the payload before")
    fields = {"value": {"type": "integer"}}
    run = auditor.run(_spec(tmp_path, payloads, fields, model="models:Verdict", scope="field"), probe="off")
    (said,) = (note for note in run.run.notes if note.startswith("api, value: "))
    assert "the model also looks at scores[0], which was not kept here" in said


def test_a_model_of_pydantic_1_is_followed_as_its_own_library_reads(tmp_path: Path) -> None:
    (tmp_path / "models.py").write_text(
        "from pydantic import BaseModel, Field\n"
        "class Verdict(BaseModel):\n    value: int = Field(None, alias='theValue')\n"
        "    class Config:\n        allow_population_by_field_name = True\n"
    )
    integer = {"value": {"type": "integer"}}
    given = {"model": "models:Verdict", "interpreter": python_of("pydantic", "1.10.26")}
    with pytest.raises(ConsumerError, match=r'write path = \["theValue", "value"\] in \[fields.value\]'):
        auditor.run(_spec(tmp_path, ['{"value": 1}', '{"theValue": 1}'], integer, **given), probe="off")


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_a_list_of_places_is_read_row_by_row_in_every_form(tmp_path: Path, form: str) -> None:
    rows = [("c1", "4", None, None), ("c2", None, "5", None), ("c3", None, None, [{"x": "6"}]), ("c4", "7", "8", None)]
    expected = {"c1": "4", "c2": "5", "c3": "6", "c4": "7"}
    names = ("case_id", "first", "second", "list")
    if form == "jsonl":
        text = "\n".join(
            json.dumps({name: value for name, value in zip(names, row, strict=True) if value is not None})
            for row in rows
        )
        (tmp_path / "p.jsonl").write_text(text)
    elif form == "csv":
        expected.pop("c3")
        lines = [",".join(cell or "" for cell in row[:3]) for row in rows if row[0] != "c3"]
        (tmp_path / "p.csv").write_text("\n".join([",".join(names[:3]), *lines]))
    else:
        nested = pyarrow.list_(pyarrow.struct([("x", pyarrow.string())]))
        kinds = [pyarrow.string()] * 3 + [nested]
        columns = [pyarrow.array(column, kind) for column, kind in zip(zip(*rows, strict=True), kinds, strict=True)]
        pyarrow.parquet.write_table(pyarrow.table(columns, list(names)), tmp_path / "p.parquet")
    references = [json.dumps({"case_id": case, "value": value}) for case, value in expected.items()]
    (tmp_path / "r.jsonl").write_text("\n".join(references))
    (tmp_path / "parsers.py").write_text("def whole(text):\n    return int(text)\n")
    spec = spec_from(
        {
            "name": "paths",
            "cases": {"predictions": f"p.{form}", "references": "r.jsonl"},
            "fields": {"value": {"type": "integer", "path": ["first", "second", ["list", 0, "x"]]}},
            "consumers": {"a": {"adapter": "python", "reads": {"value": "parsers:whole"}}},
        },
        tmp_path / "audit.toml",
    )
    run = auditor.run(spec, probe="off")
    assert (run.columns[0].support, run.columns[0].verdicts["ok"]) == (len(expected), len(expected))


@pytest.mark.parametrize("path", [[], [[]], [[0, "x"]], ["a", 1], [["a", True]], [["a", 1.5]], 3])
def test_what_is_no_path_is_a_mistake_of_the_spec(tmp_path: Path, path: Any) -> None:
    (tmp_path / "models.py").write_text(WRITTEN)
    with pytest.raises(SpecError, match="path"):
        _spec(tmp_path, ["{}"], {"value": {"type": "integer", "path": path}}, model="models:Verdict")


def test_a_stored_run_is_compared_and_decoded_again_with_its_places(tmp_path: Path) -> None:
    (tmp_path / "models.py").write_text(WRITTEN)
    payloads = ['{"value": 1}', '{"scores": [1, 2]}', *['{"value": 1}'] * 8]
    spec = _spec(tmp_path, payloads, model="models:Verdict")
    old = auditor.run(spec, probe="off")
    new = auditor.run(_spec(tmp_path, ['{"value": 2}', *payloads[1:]], model="models:Verdict"), probe="off")
    (column,) = old.drift(new).columns
    assert [(flip.old, flip.new, flip.cases) for flip in column.flips] == [("ok", "wrong", ("c00",))]
    again = old.redecode(spec, probe="off")
    assert (again.regressions, again.columns[0].old.ok, again.columns[0].new.ok) == (0, 10, 10)
