"""`auditor freeze` and `auditor run --locked`: whatever moved is refused before anything is decoded, and named."""

from __future__ import annotations

import hashlib
import json
import shutil
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from auditor.store.lock_file import read_lock, write_lock
from tests.runs.test_commands import auditor, replace_in
from tests.versions import python_of

PARSERS = """
def day(text):
    import dateutil.parser
    return dateutil.parser.parse(text).date()
def total(text):
    return int(text)
"""
SPEC = """
name = "shop"
[cases]
predictions = "predictions.csv"
references = "references.csv"
input = "text"
[fields.day]
type = "date"
[fields.total]
type = "integer"
[consumers.billing]
owner = "billing"
adapter = "python"
root = "billing"
reads.day = "parsers:day"
reads.total = "parsers:total"
[consumers.warehouse]
adapter = "sql"
engine = "duckdb"
reads.day = "try_cast({value} as date)"
"""
OPTIONS = ("run", "--locked", "--probe", "off", "--fail-on", "never")


@pytest.fixture(scope="module")
def frozen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the workspace and freeze it, once: no test changes it here."""
    folder = tmp_path_factory.mktemp("frozen")
    (folder / "billing").mkdir()
    (folder / "billing" / "parsers.py").write_text(PARSERS)
    (folder / "audit.toml").write_text(SPEC)
    rows = [f"C-{n},2024-03-0{n},{n}" for n in range(1, 5)]
    (folder / "predictions.csv").write_text("\n".join(["case_id,day,total", *rows]))
    texts = [f"{row},contract {n}" for n, row in enumerate(rows)]
    (folder / "references.csv").write_text("\n".join(["case_id,day,total,text", *texts]))
    done = auditor(folder, "freeze")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def shop(frozen: Path, tmp_path: Path) -> Path:
    """Give a frozen workspace of a test's own."""
    return Path(shutil.copytree(frozen, tmp_path, dirs_exist_ok=True))


def refused(folder: Path) -> str:
    """Run with the lock: it is refused before the first phase of decoding, and no run is stored. Give what it says."""
    done = auditor(folder, *OPTIONS)
    assert done.returncode == 4, done.stderr
    assert "billing: " not in done.stderr, "a consumer that has decoded has a line"
    assert not (folder / ".auditor" / "runs").exists()
    return done.stderr


def test_a_run_of_what_was_frozen_says_so(shop: Path) -> None:
    done = auditor(shop, *OPTIONS, "-o", "r.json")
    assert done.returncode == 0, done.stderr
    document = json.loads((shop / "r.json").read_text())
    digest = hashlib.sha256((shop / "audit.lock").read_bytes()).hexdigest()
    assert document["locked"] == {"sha256": digest, "not_frozen": []}
    lock = tomllib.loads((shop / "audit.lock").read_text())
    assert lock["manifest_sha256"] == document["manifest_sha256"]
    assert {one["name"]: one["version"] for one in document["consumers"]}["warehouse"] == (
        lock["consumers"]["warehouse"]["version"]
    )
    assert "2024-03-01" not in (shop / "audit.lock").read_text(), "references stand in it as digests"
    unlocked = auditor(shop, "run", "--probe", "off", "--fail-on", "never", "-o", "r.json", "-q")
    assert unlocked.returncode == 0
    assert json.loads((shop / "r.json").read_text())["locked"] is None


def test_what_has_no_meaning_moves_nothing(shop: Path) -> None:
    before = (shop / "audit.lock").read_bytes()
    (shop / "audit.toml").write_text(
        "# a comment\n"
        + SPEC.replace('"shop"', '"store"').replace('owner = "billing"', 'owner = "us"\ntimeout = "2 s"')
    )
    rows = (shop / "references.csv").read_text().splitlines()
    (shop / "references.csv").write_text("\n".join([rows[0], *reversed(rows[1:])]))
    replace_in(shop / "predictions.csv", "2024-03-01", "2024-03-02")
    assert auditor(shop, *OPTIONS, "-q").returncode == 0
    assert auditor(shop, "freeze").returncode == 0
    assert (shop / "audit.lock").read_bytes() == before


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("C-2,2024-03-02,2,", "C-2,2024-03-03,2,", "C-2: its reference of day is another one"),
        ("C-2,2024-03-02,2,", "C-2,2024-03-02,,", "C-2: its reference of total is another one"),
        ("contract 1", "contract 9", "C-2: its prompt is another one"),
        ("C-2,2024-03-02,2,contract 1\n", "", "C-2: it is gone"),
        ("C-1,", "C-0,2024-03-01,1,x\nC-1,", "C-0: it is new"),
    ],
)
def test_the_first_case_that_differs_is_named(shop: Path, old: str, new: str, says: str) -> None:
    replace_in(shop / "references.csv", old, new)
    said = refused(shop)
    assert f"the first case that differs is {says}" in said
    assert "1 case" in said
    assert "consumer" not in said
    assert "the spec was" not in said


@pytest.mark.parametrize("column", ["split", "locale", "jurisdiction"])
def test_what_a_case_is_judged_by_beside_its_reference_is_frozen_too(shop: Path, column: str) -> None:
    """A split decides which column a case counts in, a locale how its reference is read: neither moves unseen."""
    replace_in(shop / "audit.toml", 'input = "text"', f'input = "text"\n{column} = "{column}"')
    rows = (shop / "references.csv").read_text().splitlines()
    plain = [f"{rows[0]},{column}", *(f"{row},{place}" for row, place in zip(rows[1:], "abba", strict=True))]
    (shop / "references.csv").write_text("\n".join(plain))
    assert auditor(shop, "freeze").returncode == 0
    assert auditor(shop, *OPTIONS, "-q").returncode == 0
    shutil.rmtree(shop / ".auditor")
    replace_in(shop / "references.csv", "contract 2,b", "contract 2,a")
    said = refused(shop)
    assert f"the first case that differs is C-3: its {column} is another one" in said
    assert "1 case changed" in said
    (shop / "references.csv").write_text("\n".join(plain).replace(",a", ",").replace(",b", ","))
    assert f"the cases had {column}s, and have none" in refused(shop)


def test_a_split_that_moved_is_no_comparison_and_drift_says_so(shop: Path) -> None:
    replace_in(shop / "audit.toml", 'input = "text"', 'split = "part"')
    rows = (shop / "references.csv").read_text().splitlines()
    runs = []
    for parts in ("aabb", "aaab"):
        marked = [f"{rows[0]},part,locale", *(f"{row},{one},en-GB" for row, one in zip(rows[1:], parts, strict=True))]
        (shop / "references.csv").write_text("\n".join(marked))
        done = auditor(shop, "run", "--probe", "off", "--fail-on", "never", "-o", "r.json", "-q")
        assert done.returncode == 0, done.stderr
        runs.append(json.loads((shop / "r.json").read_text()))
    assert runs[0]["manifest_sha256"] != runs[1]["manifest_sha256"]
    names = [run["run_id"] for run in runs]
    done = auditor(shop, "drift", *names)
    assert done.returncode == 4
    assert "1 shared case is in another split" in done.stderr
    assert "C-3" in done.stderr


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ('type = "date"', 'type = "date"\ngrain = "day"'),
        ('type = "date"', 'type = "date"\npath = "day"'),
        ('type = "integer"', 'type = "integer"\ngrain = 1\nrounding = "half_up"'),
        ('type = "integer"', 'type = "integer"\nrounding = "down"'),
        ('type = "integer"', 'type = "integer"\nreference = "typed"'),
    ],
)
def test_what_is_in_force_anyway_may_be_written_out(shop: Path, short: str, long: str) -> None:
    before = (shop / "audit.lock").read_bytes()
    replace_in(shop / "audit.toml", short, long)
    assert auditor(shop, *OPTIONS, "-q").returncode == 0
    assert auditor(shop, "freeze").returncode == 0
    assert (shop / "audit.lock").read_bytes() == before


def test_all_that_moved_is_said_at_once(shop: Path) -> None:
    replace_in(shop / "references.csv", "C-2,2024-03-02,2,", "C-2,2024-03-03,2,")
    replace_in(shop / "billing" / "parsers.py", "int(text)", "int(text) + 0")
    replace_in(shop / "audit.toml", 'type = "date"', 'type = "date"\ngrain = "month"')
    replace_in(shop / "audit.toml", "try_cast", "cast")
    said = refused(shop)
    assert "C-2: its reference of day" in said
    assert "source parsers.py was " in said
    assert "reads.day was try_cast({value} as date), and is cast({value} as date)" in said
    assert "fields.day.grain is new: month" in said


def test_a_distribution_that_comes_with_a_string_only_is_seen_before_any_is_read(shop: Path) -> None:
    lock = tomllib.loads((shop / "audit.lock").read_text())
    assert lock["consumers"]["billing"]["late"]["distribution python_dateutil"] == "4.0.0"
    replace_in(shop / "audit.toml", 'root = "billing"', f'root = "billing"\ninterpreter = "{older()}"')
    assert auditor(shop, "freeze").returncode == 0
    lock_of = read_lock(shop / "audit.lock").lock
    billing = replace(lock_of.consumers["billing"], late={"distribution python_dateutil": "2.8.2"})
    write_lock(replace(lock_of, consumers={**lock_of.consumers, "billing": billing}), shop / "audit.lock")
    assert "distribution python_dateutil was 2.8.2, and is 2.9.0" in auditor(shop, *OPTIONS).stderr


def older() -> str:
    return python_of("python-dateutil", "2.9.0")


def test_what_the_lock_could_not_know_is_a_note(shop: Path) -> None:
    replace_in(
        shop / "billing" / "parsers.py", "import dateutil", "if text[:2] == '19': import colorsys\n    import dateutil"
    )
    (shop / "billing" / "colorsys.py").write_text("x = 1\n")
    assert auditor(shop, "freeze").returncode == 0
    replace_in(shop / "predictions.csv", "2024-03-01", "1999-03-01")
    done = auditor(shop, *OPTIONS, "-o", "r.json")
    assert done.returncode == 0, done.stderr
    (part,) = json.loads((shop / "r.json").read_text())["locked"]["not_frozen"]
    assert part.startswith("billing: source colorsys.py ")
    assert "does not name what was imported" in done.stdout


def test_consumers_that_have_come_or_gone_are_named(shop: Path) -> None:
    replace_in(shop / "audit.toml", "[consumers.warehouse]", "[consumers.lake]")
    said = refused(shop)
    assert "consumer warehouse is gone" in said
    assert "consumer lake is new" in said


def test_the_reader_of_replies_is_bound_too(shop: Path) -> None:
    (shop / "read.py").write_text("import json\ndef take(text):\n    return json.loads(text)\n")
    lines = [json.dumps({"id": f"C-{n}", "reply": '{"day": "2024-03-01"}', "finish": "stop"}) for n in range(1, 5)]
    (shop / "predictions.jsonl").write_text("\n".join(lines))
    (shop / "audit.toml").write_text(
        SPEC.replace('"predictions.csv"', '"predictions.jsonl"')
        .replace('input = "text"', 'id = "id"\ncompletion = "reply"\nfinish = "finish"\npayload = "read:take"')
        .replace("reads.total", "# reads.total")
        .replace('[fields.total]\ntype = "integer"\n', "")
    )
    replace_in(shop / "references.csv", "case_id", "id")
    frozen = auditor(shop, "freeze")
    assert frozen.returncode == 0, frozen.stderr
    assert auditor(shop, *OPTIONS, "-q").returncode == 0
    replace_in(shop / "read.py", "json.loads(text)", "json.loads(text) or None")
    done = auditor(shop, *OPTIONS)
    assert done.returncode == 4
    assert "consumer [cases] payload was version" in done.stderr
    assert "source read.py was" in done.stderr


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("schema = 1", "schema = 2", "schema is 2, this auditor reads 1"),
        ("schema = 1", "<<<<<<< HEAD\nschema = 1", "a merge left its marks"),
        ('manifest_sha256 = "', 'manifest = "', "the key 'manifest_sha256' is missing"),
        ("count = ", "count = 1", "is not as it was written"),
        ('manifest_sha256 = "', 'manifest_sha256 = "0', "is not as it was written"),
        ("# sha256 of the lines above: ", "# sha256: ", "edited by hand, or merged from two locks"),
        ('"consumers.warehouse.engine" = "duckdb"', '"consumers.warehouse.engine" = "sqlite"', "it was edited"),
        ('C-1 = "', 'C-1 = "deadbeef ', "case C-1 has 4 digests"),
    ],
)
def test_a_lock_that_cannot_be_relied_on_is_an_error(shop: Path, old: str, new: str, says: str) -> None:
    replace_in(shop / "audit.lock", old, new)
    done = auditor(shop, *OPTIONS)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert "auditor freeze" in done.stderr


def test_without_a_lock_nothing_is_held_against_it(shop: Path) -> None:
    (shop / "audit.lock").unlink()
    done = auditor(shop, *OPTIONS)
    assert done.returncode == 2
    assert "there is no lock" in done.stderr
    elsewhere = auditor(shop, "freeze", "-o", "other.lock")
    assert (shop / "other.lock").is_file()
    assert "reads audit.lock, and not this one" in elsewhere.stderr
    over = auditor(shop, "freeze", "-o", "references.csv")
    assert over.returncode == 2
    assert "is an input" in over.stderr
