"""A consumer's version moves with what it is made of, says which part moved, and with nothing else."""

from __future__ import annotations

import shutil
import sys
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from auditor.model.decoding import Readiness
from tests.sessions import open_consumer
from tests.versions import python_of

PARSERS = "import dateutil.parser\nimport helper\ndef read(text):\n    return dateutil.parser.parse(text)\n"

MODEL = """
import json, pathlib
from typing import Literal
from pydantic import BaseModel

class Contract(BaseModel):
    kind: Literal[tuple(json.loads((pathlib.Path(__file__).parent / "kinds.json").read_text()))]
"""

PROGRAM = """
import json, sys
lines = iter(sys.stdin.buffer.readline, b"")
next(lines)
print(json.dumps({"ready": 1, "version": open("release.txt").read(), "reads": ["f"]}), flush=True)
for line in lines:
    asked = json.loads(line)
    print(json.dumps({"id": asked["id"], "values": [None for _ in asked["values"]]}), flush=True)
"""


def readiness(folder: Path, **consumer: Any) -> Readiness:
    with open_consumer(folder, consumer.pop("reads", {"f": "m:read"}), **consumer) as session:
        return session.readiness


def moved(before: Readiness, now: Readiness) -> set[str]:
    """Give the names of the parts that differ; a version differs exactly where one does."""
    names = {name for name in before.parts.keys() | now.parts.keys() if before.parts.get(name) != now.parts.get(name)}
    assert (before.version != now.version) is bool(names)
    return names


@pytest.fixture
def python(tmp_path: Path) -> Path:
    (tmp_path / "m.py").write_text(PARSERS)
    (tmp_path / "helper.py").write_text("x = 1\n")
    return tmp_path


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (lambda folder: (folder / "m.py").write_text(PARSERS + "# x"), {"source m.py"}),
        (lambda folder: (folder / "helper.py").write_text("x = 2\n"), {"source helper.py"}),
        (lambda folder: (folder / "unused.py").write_text("x = 2\n"), set()),
        (lambda folder: (folder / "notes.txt").write_text("x"), set()),
    ],
)
def test_a_python_consumer_is_the_sources_that_it_imports(
    python: Path, change: Callable[[Path], object], parts: set[str]
) -> None:
    before = readiness(python)
    change(python)
    assert moved(before, readiness(python)) == parts


def test_a_python_consumer_is_the_distributions_that_it_imports(python: Path) -> None:
    older, newer = readiness(python, interpreter=python_of("python-dateutil", "2.9.0")), readiness(python)
    name = "distribution python_dateutil"
    assert name in moved(older, newer)
    assert older.parts[name] == "2.9.0"
    assert newer.parts[name] == "4.0.0"
    assert moved(newer, readiness(python, timeout=9.0, memory=2 * 1024**3, owner="us")) == set()


@pytest.fixture
def installed(python: Path) -> Path:
    """Give the site-packages of an environment of the consumer's own."""
    venv.create(python / "venv", with_pip=False, symlinks=True)
    (site,) = (python / "venv" / "lib").glob("python*/site-packages")
    (python / "m.py").write_text("import shop.prices\ndef read(text):\n    return shop.prices.read(text)\n")
    (site / "shop").mkdir()
    (site / "shop" / "prices.py").write_text("def read(text):\n    return text\n")
    return site


def ready_in(python: Path) -> Readiness:
    return readiness(python, interpreter=str(python / "venv" / "bin" / "python"))


def distribution(site: Path, name: str, version: str, *files: str) -> None:
    """Write what pip writes down of a wheel that it installed."""
    for old in site.glob(f"{name}-*.dist-info"):
        shutil.rmtree(old)
    folder = site / f"{name}-{version}.dist-info"
    folder.mkdir()
    (folder / "RECORD").write_text("".join(f"{one},,\n" for one in (*files, f"{folder.name}/RECORD")))


def test_what_no_distribution_brought_is_a_source_wherever_it_lies(python: Path, installed: Path) -> None:
    before = ready_in(python)
    assert {"source module shop.prices"} <= set(before.parts)
    (installed / "shop" / "prices.py").write_text("def read(text):\n    return text.strip()\n")
    assert moved(before, ready_in(python)) == {"source module shop.prices"}


def test_what_a_distribution_brings_along_is_its_own_whatever_it_is_called(python: Path, installed: Path) -> None:
    # As setuptools does with the libraries in its folder _vendor.
    (installed / "shop" / "_vendor").mkdir()
    (installed / "shop" / "_vendor" / "odd.py").write_text("x = 1\n")
    (installed / "shop" / "prices.py").write_text(
        "import os, sys\nsys.path.append(os.path.join(os.path.dirname(__file__), '_vendor'))\nimport odd\n"
        "def read(text):\n    return text\n"
    )
    distribution(installed, "shop_prices", "1.0", "shop/prices.py", "shop/_vendor/odd.py")
    found = ready_in(python)
    assert found.settings["distributions"] == "shop_prices 1.0"
    assert [name for name in found.parts if name.startswith("source")] == ["source m.py"]


def test_of_a_name_that_several_distributions_share_it_is_the_one_that_brought_the_module(
    python: Path, installed: Path
) -> None:
    # shop is a namespace, as google and azure are: the first distribution of that name brought nothing of this.
    distribution(installed, "a_shop_carts", "1.0", "shop/carts.py")
    distribution(installed, "shop_prices", "1.0", "shop/prices.py")
    before = ready_in(python)
    assert before.settings["distributions"] == "shop_prices 1.0"
    distribution(installed, "a_shop_carts", "2.0", "shop/carts.py")
    assert moved(before, ready_in(python)) == set()
    distribution(installed, "shop_prices", "1.1", "shop/prices.py")
    assert moved(before, ready_in(python)) == {"distribution shop_prices"}
    distribution(installed, "shop_prices", "1.2", "shop/lists.py")
    assert "source module shop.prices" in ready_in(python).parts, "brought by none of those that share the name"


def test_a_python_consumer_is_its_own_variables_and_what_it_receives(python: Path) -> None:
    before = readiness(python)
    assert moved(before, readiness(python, env={"REGION": "GB"})) == {"setting env.REGION"}
    assert moved(before, readiness(python, receives="json")) == {"receives"}


def test_an_sql_consumer_is_expression_engine_and_settings(tmp_path: Path) -> None:
    sql = {"adapter": "sql", "engine": "duckdb", "reads": {"f": "try_cast({value} as date)"}}
    before = readiness(tmp_path, **sql)
    assert moved(before, readiness(tmp_path, **sql, timeout=9.0, owner="us")) == set()
    other = sql | {"reads": {"f": "cast({value} as date)"}}
    assert moved(before, readiness(tmp_path, **other)) == {"reads.f"}
    assert "setting old_implicit_casting" in moved(
        before, readiness(tmp_path, **sql, settings={"old_implicit_casting": "true"})
    )
    date = {"adapter": "sql", "reads": {"f": "date({value})"}}
    assert "engine" in moved(
        readiness(tmp_path, **date, engine="sqlite"),
        readiness(tmp_path, **date | {"reads": {"f": "cast({value} as date)"}}, engine="duckdb"),
    )


def test_a_pydantic_consumer_is_its_schema_and_its_version(tmp_path: Path) -> None:
    (tmp_path / "models.py").write_text(MODEL)
    (tmp_path / "kinds.json").write_text('["a", "b"]')
    model = {"adapter": "pydantic", "model": "models:Contract", "reads": {"f": "kind"}, "receives": "json"}
    before = readiness(tmp_path, **model)
    (tmp_path / "notes.txt").write_text("x")
    assert moved(before, readiness(tmp_path, **model)) == set()
    (tmp_path / "kinds.json").write_text('["a", "b", "c"]')
    assert moved(before, readiness(tmp_path, **model)) == {"setting schema"}, "the model's source is the same"
    (tmp_path / "kinds.json").write_text('["a", "b"]')
    older = readiness(tmp_path, **model, interpreter=python_of("pydantic", "2.1.1"))
    assert {"distribution pydantic", "setting pydantic"} <= moved(before, older)
    (tmp_path / "models.py").write_text(MODEL + "# x")
    assert moved(before, readiness(tmp_path, **model)) == {"source models.py"}


def test_a_program_is_its_declared_version_and_the_files_that_its_command_names(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "release.txt").write_text("1.0")
    program = {"adapter": "process", "command": (sys.executable, "program.py"), "reads": {"f": "f"}}
    before = readiness(tmp_path, **program)
    (tmp_path / "notes.txt").write_text("x")
    assert moved(before, readiness(tmp_path, **program)) == set()
    (tmp_path / "release.txt").write_text("1.1")
    assert moved(before, readiness(tmp_path, **program)) == {"program"}
    (tmp_path / "release.txt").write_text("1.0")
    (tmp_path / "program.py").write_text(PROGRAM + "# x")
    assert moved(before, readiness(tmp_path, **program)) == {"source program.py"}
