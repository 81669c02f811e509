"""The JSON Schema of audit.toml: what the reader accepts is valid, what it refuses for its form is not."""

import datetime
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from auditor.spec.keys import TABLES
from auditor.spec.read import read_spec
from auditor.spec.schema import json_schema
from tests.rooms.test_spec import SOUND, write

REPOSITORY = Path(__file__).parents[2]

#: The spec of DESIGN section 5.
DESIGN = """
name = "contracts"

[cases]
predictions = "records/completions.jsonl"
references  = "records/references.csv"
id = "case_id"
completion = "completion"
finish = "finish"
error = "error"

[fields.effective_date]
type = "date"
grain = "day"
reference = "billing"

[fields.net_weight]
type = "quantity"
unit = "g"
grain = "1 g"

[consumers.billing]
owner = "billing"
adapter = "python"
root = "billing"
interpreter = "billing/.venv/bin/python"
timeout = "2 s"
memory = "1 GiB"
env = { TZ = "Europe/London" }
reads.effective_date = "ingest:parse_effective_date"

[consumers.warehouse]
owner = "data-platform"
adapter = "sql"
engine = "duckdb"
reads.effective_date = "try_cast({value} as date)"

[consumers.marts]
adapter = "sql"
engine = "duckdb"
model = "models/contracts.sql"
planned = true

[consumers.api]
owner = "platform"
adapter = "pydantic"
receives = "json"
model = "models:Contract"

[consumers.portal]
owner = "web"
adapter = "process"
command = ["node", "portal/read.mjs"]
reads = ["effective_date", "net_weight"]
"""


def problems(text: str) -> list[str]:
    """Validate a spec as an editor would: TOML instants are texts there."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items()}
        return value.isoformat() if isinstance(value, datetime.date) else value

    validator = jsonschema.Draft202012Validator(json_schema())
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(plain(tomllib.loads(text)))]


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(json_schema())


def test_the_spec_of_the_design_is_valid() -> None:
    assert problems(DESIGN) == []


def test_specs_that_are_read_are_valid(tmp_path: Path) -> None:
    read_spec(write(tmp_path, SOUND))
    assert problems(SOUND) == []
    read_spec(REPOSITORY / "consumers")
    assert problems((REPOSITORY / "consumers" / "audit.toml").read_text()) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('adapter = "python"', 'adaptr = "python"'),
        ('type = "date"', 'type = "dat"'),
        ('timeout = "500 ms"', 'timeout = "soon"'),
        ('memory = "512 MB"', "memory = 512"),
        ("bounds = [1, 5]", ""),
        ('engine = "duckdb"', ""),
        ('model = "models:Contract"', ""),
        ("{value}", "value"),
        ('"ingest:parse_total"', '"ingest.parse_total"'),
        ('timeout = "500 ms"', 'engine = "duckdb"'),
        ('grain = "day"', 'grain = "day"\nunit = "g"'),
        ('command = ["node", "portal/read.mjs"]', ""),
        ('["node", "portal/read.mjs"]', '"node portal/read.mjs"'),
        ('adapter = "process"', 'adapter = "process"\nreceives = "python"'),
        ('name = "contracts"', ""),
    ],
)
def test_mistakes_of_form_are_seen_by_editors_too(old: str, new: str) -> None:
    assert old in SOUND
    assert problems(SOUND.replace(old, new))


def test_every_key_of_the_models_is_read_and_described() -> None:
    for name, (kinds, model) in TABLES.items():
        assert set(model.model_fields) - {"name", "version_of"} == set(kinds) - {"bounds", "versions"}, name
    for table in ("cases", "environment"):
        described(json_schema()["properties"][table])
    for table in ("fields", "consumers"):
        described(json_schema()["properties"][table]["additionalProperties"])


def described(table: dict[str, Any]) -> None:
    """Check that every key says what it is for."""
    assert [key for key, schema in table["properties"].items() if not schema.get("description")] == []
