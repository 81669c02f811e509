"""Reading audit.toml: what is normalised, and every mistake at once with file, line, key and the nearest right name."""

from pathlib import Path
from typing import Any

import pytest

from auditor.errors import SpecError
from auditor.spec.find import runs_folder
from auditor.spec.read import read_spec, spec_from

SOUND = """
name = "contracts"

[cases]
predictions = "completions.jsonl"
references = ["references.csv"]

[fields.effective_date]
type = "date"
grain = "day"
reference = "billing"

[fields.total]
type = "decimal"
grain = 0.010

[fields.net_weight]
type = "quantity"
unit = "g"
grain = "1 g"

[fields.risk]
type = "ordinal"
bounds = [1, 5]

[consumers.billing]
owner = "billing"
adapter = "python"
timeout = "500 ms"
memory = "512 MB"
env = { TZ = "Europe/London" }
reads.effective_date = "ingest:parse_effective_date"
reads.total = "ingest:parse_total"

[consumers.api]
adapter = "pydantic"
model = "models:Contract"
reads = ["total", "risk", "net_weight"]

[consumers.warehouse]
adapter = "sql"
engine = "duckdb"
timeout = 1.5
memory = "1 GiB"
reads.effective_date = "try_cast({value} as date)"

[consumers.portal]
adapter = "process"
command = ["node", "portal/read.mjs"]
reads = ["effective_date", "total"]

[environment]
clock = 2024-03-08T09:05:07Z
zone = "Europe/London"
"""


def write(folder: Path, text: str) -> Path:
    """Write a spec."""
    path = folder / "audit.toml"
    path.write_text(text, encoding="utf-8")
    return path


def mistakes_in(folder: Path, text: str) -> dict[str, tuple[str, str]]:
    """Read a spec that has mistakes; gives what and hint by key, without the file."""
    with pytest.raises(SpecError) as caught:
        read_spec(write(folder, text))
    return {mistake.where.split(": ")[-1]: (mistake.what, mistake.hint) for mistake in caught.value.mistakes}


def only_mistake(folder: Path, old: str, new: str) -> tuple[str, str, str]:
    """Replace a part of the sound spec; gives key, what and hint of the one mistake that follows."""
    assert old in SOUND
    found = mistakes_in(folder, SOUND.replace(old, new))
    assert len(found) == 1, found
    ((key, (what, hint)),) = found.items()
    return key, what, hint


def test_values_are_normalised(tmp_path: Path) -> None:
    spec = read_spec(write(tmp_path, SOUND))
    billing, api, warehouse, portal = spec.consumers.values()
    assert (spec.folder, spec.file) == (tmp_path, tmp_path / "audit.toml")
    assert spec.cases.predictions == ("completions.jsonl",)
    assert spec.cases.references == ("references.csv",)
    assert (billing.name, billing.timeout, billing.memory) == ("billing", 0.5, 512_000_000)
    assert (warehouse.timeout, warehouse.memory) == (1.5, 2**30)
    assert portal.command == ("node", "portal/read.mjs")
    assert portal.reads == {"effective_date": "effective_date", "total": "total"}
    assert portal.memory == 2 * 2**30, "resident memory: a JVM does not start in 2 GiB of address space"
    assert api.reads == {"total": "total", "risk": "risk", "net_weight": "net_weight"}
    assert api.receives == "json", "a model validates the payload as it came"
    assert spec.fields["total"].grain == "0.010", "the exact decimal text"
    assert (spec.fields["risk"].minimum, spec.fields["risk"].maximum) == (1, 5)
    assert spec.environment.clock == "2024-03-08T09:05:07+00:00"


@pytest.mark.parametrize(
    ("written", "text"), [("0.01", "0.01"), ('"0.01"', "0.01"), ("1", "1"), ("1e-2", "0.01"), ('" 10 "', "10")]
)
def test_a_step_keeps_its_decimal_text(tmp_path: Path, written: str, text: str) -> None:
    spec = read_spec(write(tmp_path, SOUND.replace("grain = 0.010", f"grain = {written}")))
    assert spec.fields["total"].grain == text


def test_a_quantity_takes_its_unit_from_the_grain(tmp_path: Path) -> None:
    assert read_spec(write(tmp_path, SOUND.replace('unit = "g"\n', ""))).fields["net_weight"].unit == "g"


def test_all_mistakes_are_listed_at_once_in_the_order_of_the_lines(tmp_path: Path) -> None:
    text = (
        SOUND.replace('adapter = "python"', 'adaptr = "pythn"')
        .replace('reference = "billing"', 'reference = "biling"')
        .replace('timeout = "500 ms"', 'timeout = "soon"')
        .replace('grain = "day"', 'grain = "dya"')
        .replace("try_cast({value} as date)", "try_cast(value as date)")
        .replace('zone = "Europe/London"', 'zone = "Europe/Londn"')
    )
    with pytest.raises(SpecError) as caught:
        read_spec(write(tmp_path, text))
    lines = text.splitlines()
    seen = [(lines[int(m.where.split(":")[1]) - 1], m.what, m.hint) for m in caught.value.mistakes]
    assert seen == [
        ('grain = "dya"', 'there is no grain "dya" of a date', "did you mean day?"),
        ('reference = "biling"', 'there is no consumer "biling"', "did you mean billing?"),
        ("[consumers.billing]", 'there is no "pythn"', "did you mean python?"),
        ('adaptr = "pythn"', "there is no such key", "did you mean adapter?"),
        ('timeout = "soon"', 'must be a duration above zero, not "soon"', 'write "2 s", "500 ms", "1 min" or seconds'),
        (
            'reads.effective_date = "try_cast(value as date)"',
            'the expression "try_cast(value as date)" has no {value}',
            'such as reads.effective_date = "try_cast({value} as date)"',
        ),
        ('zone = "Europe/Londn"', 'there is no time zone "Europe/Londn"', "did you mean Europe/London?"),
    ]
    assert "7 mistakes in the spec" in str(caught.value)
    assert f"{tmp_path}/audit.toml:10: fields.effective_date.grain" in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "key", "says"),
    [
        ('name = "contracts"', "name = 3", "name", "not the number 3"),
        ('name = "contracts"', "", "name", "is missing"),
        ('type = "date"', 'type = "dat"', "fields.effective_date.type", "did you mean date?"),
        ('type = "date"', "type = 1", "fields.effective_date.type", "must be one of date, datetime"),
        ('grain = "day"', 'grain = "hour"', "fields.effective_date.grain", 'no grain "hour" of a date'),
        ('grain = "day"', 'grain = "day"\nunit = "g"', "fields.effective_date.unit", "a field of type date"),
        ('grain = "day"', 'grain = "day"\nbounds = [1, 2]', "fields.effective_date.bounds", "it is for ordinal"),
        ("grain = 0.010", "grain = 0", "fields.total.grain", "a step above zero"),
        ("grain = 0.010", "grain = -1", "fields.total.grain", "a step above zero"),
        ("grain = 0.010", "grain = nan", "fields.total.grain", "a step above zero"),
        ("grain = 0.010", 'grain = "1 g"', "fields.total.grain", "a step above zero"),
        ("grain = 0.010", "grain = true", "fields.total.grain", "must be a step, not true"),
        ('grain = "1 g"', 'grain = "1 kg"', "fields.net_weight.grain", "the field's unit is g"),
        ('unit = "g"\ngrain = "1 g"', "grain = 1", "fields.net_weight.unit", "is missing"),
        ("bounds = [1, 5]", "", "fields.risk", "an ordinal without minimum and maximum"),
        ("bounds = [1, 5]", "minimum = 1", "fields.risk", "an ordinal without maximum"),
        ("bounds = [1, 5]", "bounds = [5, 1]", "fields.risk.bounds", "5 is above the highest, 1"),
        ("bounds = [1, 5]", "bounds = [1, true]", "fields.risk.bounds", "such as bounds = [1, 5]"),
        ("bounds = [1, 5]", "bounds = [1, 5]\nminimum = 1", "fields.risk.bounds", "says again"),
        (
            'reference = "billing"',
            'reference = "api"',
            "fields.effective_date.reference",
            "api does not read effective",
        ),
        ("[fields.risk]", '[fields.idle]\ntype = "boolean"\n[fields.risk]', "fields.idle", "no consumer reads"),
        ('memory = "512 MB"', "memory = 512", "consumers.billing.memory", "too few to start"),
        ('memory = "512 MB"', 'memory = "512 MX"', "consumers.billing.memory", '"1 GiB", "512 MB" or bytes'),
        ("timeout = 1.5", "timeout = true", "consumers.warehouse.timeout", "not true"),
        ("timeout = 1.5", "timeout = 0", "consumers.warehouse.timeout", "above zero"),
        ('{ TZ = "Europe/London" }', "{ TZ = 1 }", "consumers.billing.env.TZ", "put the value in quotes"),
        ('timeout = "500 ms"', 'engine = "duckdb"', "consumers.billing.engine", "no sense for a python consumer"),
        ('timeout = "500 ms"', 'scope = "field"', "consumers.billing.scope", "it is for pydantic and sql consumers"),
        ('timeout = "500 ms"', 'root = "nowhere"', "consumers.billing.root", "there is no folder"),
        ('timeout = "500 ms"', 'interpreter = "no/bin/python"', "consumers.billing.interpreter", "python -m venv no"),
        ('"ingest:parse_total"', '"ingest.parse_total"', "consumers.billing.reads.total", "must be module:function"),
        ("reads.total", "reads.totl", "consumers.billing.reads.totl", "did you mean total?"),
        ('model = "models:Contract"', "", "consumers.api.model", "a pydantic consumer has a model"),
        ('model = "models:Contract"', 'model = "models.py"', "consumers.api.model", "must be module:Class"),
        ('engine = "duckdb"', "", "consumers.warehouse.engine", 'add engine = "duckdb"'),
        ('engine = "duckdb"', 'engine = "duckbd"', "consumers.warehouse.engine", "did you mean duckdb?"),
        ('engine = "duckdb"', 'engine = "duckdb"\nmodel = "m.sql"', "consumers.warehouse.model", "there is no file"),
        (
            'engine = "duckdb"',
            'engine = "spark"\nmodel = "m.sql"',
            "consumers.warehouse.model",
            "datafusion, not on spark",
        ),
        ('engine = "duckdb"', 'engine = "duckdb"\nstatement = "load"', "consumers.warehouse.statement", 'no "load"'),
        (
            'engine = "duckdb"',
            'engine = "datafusion"\nstatement = "insert"',
            "consumers.warehouse.statement",
            "it has cast",
        ),
        (
            'engine = "duckdb"',
            'engine = "mariadb"\nstatement = "copy"',
            "consumers.warehouse.statement",
            "it has cast, insert",
        ),
        (
            'engine = "duckdb"',
            'engine = "sqlite"\nconnection = "env:URL"',
            "consumers.warehouse.connection",
            "no sense for sqlite",
        ),
        (
            'engine = "duckdb"',
            'engine = "postgres"\nconnection = "postgresql://me:secret@host/db"',
            "consumers.warehouse.connection",
            'connection = "env:WAREHOUSE_URL"',
        ),
        (
            'engine = "duckdb"',
            'engine = "postgres"\nstatement = "copy"',
            "consumers.warehouse.reads.effective_date",
            'such as reads.effective_date = "date"',
        ),
        ('engine = "duckdb"', 'engine = "sqlalchemy"', "consumers.warehouse.connection", "which warehouse"),
        ('engine = "duckdb"', 'engine = "adbc"', "consumers.warehouse.connection", "which warehouse"),
        ('engine = "duckdb"', 'engine = "sqlite"\nserver = "/x"', "consumers.warehouse.server", "no server is started"),
        ('engine = "duckdb"', 'engine = "duckdb"\nreceives = "txt"', "consumers.warehouse.receives", "mean text?"),
        ('command = ["node", "portal/read.mjs"]', "", "consumers.portal.command", "is missing"),
        ('["node", "portal/read.mjs"]', "[]", "consumers.portal.command", "a list of words, not an empty list"),
        ('["node", "portal/read.mjs"]', '["node", 1]', "consumers.portal.command", "a word that is no text"),
        ('["node", "portal/read.mjs"]', '"node read.mjs"', "consumers.portal.command", 'write ["node", "read.mjs"]'),
        ('adapter = "process"', 'adapter = "process"\nreceives = "python"', "consumers.portal.receives", '"json"'),
        ('adapter = "process"', 'adapter = "process"\nengine = "duckdb"', "consumers.portal.engine", "no sense"),
        ('timeout = "500 ms"', 'command = ["x"]', "consumers.billing.command", "it is for process consumers"),
        ("2024-03-08T09:05:07Z", "2024-03-08T09:05:07", "environment.clock", "has no offset"),
        ("2024-03-08T09:05:07Z", "2024-03-08", "environment.clock", "not 2024-03-08"),
        ("2024-03-08T09:05:07Z", '"noon"', "environment.clock", "ISO 8601"),
        ("[environment]", "[environment]\nhash_seed = -1", "environment.hash_seed", "from 0 to"),
    ],
)
def test_each_mistake_names_its_key_and_the_next_step(tmp_path: Path, old: str, new: str, key: str, says: str) -> None:
    found, what, hint = only_mistake(tmp_path, old, new)
    assert found == key
    assert says in f"{what} {hint}"


def test_a_consumer_must_not_be_called_like_a_reader_of_references(tmp_path: Path) -> None:
    found = mistakes_in(tmp_path, SOUND.replace("[consumers.billing]", "[consumers.each]"))
    assert found["consumers.each"][0] == '"each" is a reader of references'


def test_missing_tables_and_keys(tmp_path: Path) -> None:
    found = mistakes_in(tmp_path, "")
    assert list(found) == ["name", "cases", "fields", "consumers"]
    found = mistakes_in(tmp_path, 'name = "x"\n[cases]\n[fields.a]\n[consumers.b]\n')
    assert list(found) == ["cases.predictions", "cases.references", "fields.a.type", "consumers.b.adapter"]


def test_an_unknown_adapter_says_which_there_are(tmp_path: Path) -> None:
    found = mistakes_in(tmp_path, SOUND.replace('adapter = "sql"', 'adapter = "soap"'))
    assert found["consumers.warehouse.adapter"] == (
        'there is no "soap"',
        "there are: python, pydantic, sql, process, http, recorded",
    )


@pytest.mark.parametrize(
    ("text", "place"), [('name = "x"\n[cases\n', ":2:7"), ("a = 1\na = 2\n", ":2:6"), ('a = 1\nname = "x', ":2")]
)
def test_syntax_mistakes_have_line_and_column(tmp_path: Path, text: str, place: str) -> None:
    with pytest.raises(SpecError, match="is not TOML") as caught:
        read_spec(write(tmp_path, text))
    assert caught.value.mistakes[0].where == f"{tmp_path}/audit.toml{place}"


def test_a_wrong_encoding_has_its_line(tmp_path: Path) -> None:
    (tmp_path / "audit.toml").write_bytes('name = "x"\n# caf\xe9'.encode("latin-1"))
    with pytest.raises(SpecError, match=r"audit\.toml:2: is not UTF-8: byte 0xe9"):
        read_spec(tmp_path)


def test_a_key_in_a_multiline_text_is_no_key(tmp_path: Path) -> None:
    text = SOUND.replace('owner = "billing"', 'owner = """\ngrain = "x"\n"""').replace('grain = "day"', 'grain = "x"')
    with pytest.raises(SpecError) as caught:
        read_spec(write(tmp_path, text))
    assert [m.where for m in caught.value.mistakes] == [f"{tmp_path}/audit.toml:10: fields.effective_date.grain"]


def test_a_mapping_makes_the_same_spec(tmp_path: Path) -> None:
    import tomllib

    path = write(tmp_path, SOUND)
    mapping = tomllib.loads(SOUND.replace("0.010", "0.01"))
    assert spec_from(mapping, path) == read_spec(write(tmp_path, SOUND.replace("0.010", "0.01")))


def test_where_a_spec_is_found(tmp_path: Path) -> None:
    write(tmp_path, SOUND)
    inner = tmp_path / "deep" / "inner"
    inner.mkdir(parents=True)
    assert read_spec(tmp_path).file == tmp_path / "audit.toml"
    assert read_spec(start=tmp_path).file == tmp_path / "audit.toml"
    with pytest.raises(SpecError, match="auditor init"):
        read_spec(start=inner)
    (tmp_path / "pyproject.toml").write_text('[tool.auditor]\nspec = "audit.toml"\n')
    assert read_spec(start=inner).file == tmp_path / "audit.toml"
    with pytest.raises(SpecError, match="no such file or folder"):
        read_spec(tmp_path / "audti.toml")
    with pytest.raises(SpecError, match="there is no spec at"):
        read_spec(inner)


def test_runs_are_beside_the_project_or_beside_the_spec(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    spec = read_spec(write(inner, SOUND))
    assert runs_folder(spec) == inner / ".auditor" / "runs"
    (tmp_path / "pyproject.toml").write_text("")
    assert runs_folder(spec) == runs_folder(spec.file) == tmp_path / ".auditor" / "runs"


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("x = " + "[" * 100_000 + "]" * 100_000, "is nested too deeply"),
        ("x = " + "{a=" * 100_000 + "1" + "}" * 100_000, "is nested too deeply"),
        ("x = " + "9" * 5000, "holds a value that cannot be read: Exceeds the limit"),
        (".".join(["a"] * 5000) + " = 1", "audit.toml:1: a: there is no such key"),
        ("k" * 1_000_000 + " = 1", "k…"),
    ],
    ids=["arrays", "tables", "digits", "dots", "a long key"],
)
def test_a_hostile_spec_is_a_mistake_that_names_its_file(tmp_path: Path, content: str, part: str) -> None:
    (tmp_path / "audit.toml").write_text(content)
    with pytest.raises(SpecError) as error:
        read_spec(tmp_path)
    assert part in str(error.value)
    assert str(tmp_path / "audit.toml") in str(error.value)
    assert len(str(error.value)) < 2000


def test_of_thousands_of_mistakes_the_message_lists_the_first(tmp_path: Path) -> None:
    tables = "".join(f'[fields.f{number}]\ntype = "dated"\n' for number in range(3000))
    (tmp_path / "audit.toml").write_text(tables)
    with pytest.raises(SpecError) as error:
        read_spec(tmp_path)
    assert len(error.value.mistakes) > 3000
    assert str(error.value).splitlines()[0] == f"{len(error.value.mistakes)} mistakes in the spec:"
    assert str(error.value).splitlines()[-1] == f"  and {len(error.value.mistakes) - 200} more"


@pytest.mark.parametrize(
    ("mapping", "where"),
    [({1: 2}, "1"), ({"fields": {None: {}}}, "fields.None"), ({"consumers": {"one": {"env": {2: ""}}}}, "env.2")],
)
def test_a_key_of_a_mapping_that_is_no_text_is_a_mistake(mapping: dict[Any, Any], where: str) -> None:
    with pytest.raises(SpecError, match=f"{where}: is a key that is no text"):
        spec_from(mapping, Path("spec"))


@pytest.mark.parametrize(
    ("more", "key", "says"),
    [
        ('connection = "env:URL"', "consumers.warehouse.model", "runs on a private server only"),
        ('statement = "insert"', "consumers.warehouse.statement", "makes no sense for a model file"),
    ],
)
def test_a_model_file_runs_on_tables_of_its_own(tmp_path: Path, more: str, key: str, says: str) -> None:
    """Those that it reads may be real ones on a server that the audit does not start."""
    (tmp_path / "m.sql").write_text("select 1")
    found, what, _ = only_mistake(tmp_path, 'engine = "duckdb"', f'engine = "postgres"\nmodel = "m.sql"\n{more}')
    assert found == key
    assert says in what


def test_what_completions_are_is_checked_key_by_key(tmp_path):
    wrong = {
        "finish_reasons = { mine = 'juged', STOP = 'judged', stop = 'judged' }": [
            "must be one of judged, truncated, refused, transport, unknown, not 'juged'",
            "is the same reason as another key: capital letters do not count",
        ],
        "payload = 'strickt'": ["must be strict, fenced or module:function, not 'strickt'"],
        "max_blocked = 20": ["must be a share from 0 to 1, not the number 20"],
        "min_judged = 3": ["must be a whole number from 4, not the number 3"],
        "abstain = [1]": ["must be a list of texts, not a list"],
    }
    for line, expected in wrong.items():
        text = f"""
            name = "one"
            [cases]
            predictions = "p.csv"
            references = "r.csv"
            {line}
            [fields.day]
            type = "date"
            [consumers.billing]
            adapter = "python"
            reads.day = "ingest:day"
        """
        (tmp_path / "audit.toml").write_text(text, encoding="utf-8")
        with pytest.raises(SpecError) as caught:
            read_spec(tmp_path / "audit.toml")
        found = [mistake.what for mistake in caught.value.mistakes]
        assert [
            what for what in expected if what.replace("'", '"') not in [one.replace("'", '"') for one in found]
        ] == []
