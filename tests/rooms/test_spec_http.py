"""The keys of an http consumer: what they may hold, and that no message repeats a secret."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest

from auditor.errors import SpecError
from auditor.spec.models import ConsumerSpec
from auditor.spec.read import read_spec
from auditor.spec.schema import json_schema

SECRET = "tok-9f8e7d6c"

SPEC = """
name = "shop"
cases = {{ predictions = "p.csv", references = "r.csv" }}
[fields.total]
type = "decimal"
reference = "typed"
[consumers.gate]
adapter = "http"
{keys}
"""

KEYS = {
    "url": '"https://gate.example/validate/{field}"',
    "value": '"value"',
    "reads": '["total"]',
}


def text_of(**changed: str | None) -> str:
    keys = KEYS | changed
    return SPEC.format(keys="\n".join(f"{key} = {text}" for key, text in keys.items() if text is not None))


def gate(folder: Path, **changed: str | None) -> ConsumerSpec:
    (folder / "audit.toml").write_text(text_of(**changed))
    return read_spec(folder).consumers["gate"]


def test_defaults(tmp_path: Path) -> None:
    one = gate(tmp_path)
    assert (one.method, one.request, one.rejected) == ("POST", '{"value": "{value}"}', (400, 422))
    assert (one.concurrency, one.retries, one.redirects, one.timeout) == (8, 2, False, 2.0)


def test_both_ways_to_name_a_secret_are_one(tmp_path: Path) -> None:
    one = gate(tmp_path, headers='{ Authorization = "env:API_TOKEN", Cookie = "id={env:ID}", X-Team = "blue" }')
    assert one.headers == {"Authorization": "{env:API_TOKEN}", "Cookie": "id={env:ID}", "X-Team": "blue"}


def test_a_body_keeps_its_json(tmp_path: Path) -> None:
    one = gate(tmp_path, request='{ field = "{field}", raw = { "{field}" = ["{value}"] }, strict = true, n = 1.5 }')
    assert json.loads(one.request or "") == {
        "field": "{field}",
        "raw": {"{field}": ["{value}"]},
        "strict": True,
        "n": 1.5,
    }


@pytest.mark.parametrize(
    ("key", "text", "says"),
    [
        ("url", None, "is missing: an http consumer is a service"),
        ("value", None, "is missing: where the value stands"),
        ("reads", None, "is missing: an http consumer names the fields"),
        ("url", '"gate.example/validate"', "must start with http:// or https://"),
        ("url", '"ftp://gate.example/"', "must start with http:// or https://"),
        ("url", '"https://{field}.example/"', "must name its host in full"),
        ("url", '"https://gate.example:99999/"', "is no url"),
        ("url", '"https://gate.example/ä"', "must be written in ASCII"),
        ("url", '"https://gate.example/{feld}"', "has a brace that is none of"),
        ("url", f'"https://me:{SECRET}@gate.example/"', "holds a user or a password"),
        ("url", f'"https://gate.example/?api_key={SECRET}"', "its parameter api_key is a secret"),
        ("headers", f'{{ Authorization = "Bearer {SECRET}" }}', "is a secret and must not stand in the spec"),
        ("headers", f'{{ X-Api-Key = "{SECRET}" }}', "is a secret and must not stand in the spec"),
        ("headers", f'{{ X-Auth = "{{env:A B}}{SECRET}" }}', "names a variable that cannot be one"),
        ("headers", f'{{ X-Auth = "{SECRET}\\n" }}', "must be text in ASCII"),
        ("headers", '{ Host = "other.example" }', "is set by the audit itself"),
        ("request", f'{{ token = "{SECRET}", value = "{{value}}" }}', "holds a secret"),
        ("request", '{ text = "x" }', "the value is not sent"),
        ("request", '{ at = 2024-03-01, value = "{value}" }', "which JSON does not have"),
        ("method", '"DELETE"', "there is no"),
        ("receives", '"python"', "makes no sense for an http consumer"),
        ("rejected", "[401]", "401 says nothing about a value"),
        ("rejected", "[200, 422]", "200 rejects a value only where the answer says so"),
        ("rejected", "[500]", "must list statuses from 200 to 499"),
        ("message", '"detail..msg"', "must be a dotted path"),
        ("concurrency", "0", "must be a whole number from 1 to 64"),
        ("retries", "99", "must be a whole number from 0 to 10"),
        ("version", '"https://other.example/version"', "must be a url of the same host"),
        ("env", f'{{ API_TOKEN = "{SECRET}" }}', "makes no sense for an http consumer"),
        ("interpreter", '"python3"', "makes no sense for an http consumer"),
    ],
)
def test_a_mistake_is_named_and_no_secret_is_shown(tmp_path: Path, key: str, text: str | None, says: str) -> None:
    with pytest.raises(SpecError) as caught:
        gate(tmp_path, **{key: text})
    assert says in str(caught.value)
    assert f"consumers.gate.{key}" in str(caught.value)
    assert SECRET not in str(caught.value)


def test_what_does_not_go_together_is_said(tmp_path: Path) -> None:
    for changed, says in (
        ({"method": '"GET"'}, "consumers.gate.url: the value is not sent: there is no {value}"),
        ({"method": '"GET"', "request": '{ v = "{value}" }'}, "consumers.gate.request: makes no sense for GET"),
        ({"url": '"https://gate.example/{value}"', "request": '{ v = "{value}" }'}, "the value is sent twice"),
        ({"url": '"https://gate.example/{value}"', "receives": '"json"'}, "a JSON value cannot stand in a url"),
        ({"request": '{ v = "x {value}" }', "receives": '"json"'}, "a JSON value cannot stand in a longer text"),
    ):
        with pytest.raises(SpecError) as caught:
            gate(tmp_path, **changed)
        assert says in str(caught.value)


def test_the_schema_of_editors_knows_the_keys() -> None:
    schema = json_schema()
    sound = tomllib.loads(text_of(request='{ v = "{value}" }', rejected="[422]", concurrency="4"))
    jsonschema.validate(sound, schema)
    for broken in (
        text_of(value=None),
        text_of(concurrency="0"),
        text_of(method='"DELETE"'),
        text_of(env="{ A = 'b' }"),
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(tomllib.loads(broken), schema)
