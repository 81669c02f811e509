"""The wheel: it installs `auditor` and nothing else, whole, and works without the repository."""

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
NOT_SOURCES = shutil.ignore_patterns(
    ".git", ".venv", "venv", "build", "dist", "*.egg-info", ".*_cache", "__pycache__", ".auditor", ".hypothesis"
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from a copy, so that no earlier build's files get into it."""
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(REPOSITORY, folder / "source", ignore=NOT_SOURCES)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), "source"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel in a fresh environment; gives its folder of commands."""
    folder = tmp_path_factory.mktemp("fresh")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    run(folder / "bin" / "python", "-m", "pip", "install", "-q", "--no-deps", "--no-index", str(wheel), cwd=folder)
    return folder / "bin"


def run(*command: str | Path, cwd: Path) -> "subprocess.CompletedProcess[str]":
    """Run a command away from the repository."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run([str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True)


def test_the_top_level_is_auditor_alone(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"auditor"}


def test_the_wheel_is_whole(wheel: Path) -> None:
    """Every file of the package is in it: sources, py.typed, templates, the worker that is run by path."""
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "auditor"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
    ).stdout.split("\n")
    wanted = {name for name in tracked if name and (REPOSITORY / name).is_file()}
    assert wanted - set(zipfile.ZipFile(wheel).namelist()) == set()


@pytest.mark.parametrize("name", ["consumers", "reports", "tests"])
def test_generic_names_cannot_be_imported(installed: Path, tmp_path: Path, name: str) -> None:
    done = run(installed / "python", "-c", f"import {name}", cwd=tmp_path)
    assert f"No module named '{name}'" in done.stderr


def test_it_works_without_the_repository(installed: Path, tmp_path: Path) -> None:
    """Dependencies are lent from this environment, by a path file whose own path files are not followed."""
    (site,) = (installed.parent / "lib").glob("python*/site-packages")
    (site / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    where = run(installed / "python", "-c", "import auditor; print(auditor.__file__)", cwd=tmp_path)
    assert where.stdout.startswith(str(site))
    assert "Commands:" in run(installed / "auditor", "--help", cwd=tmp_path).stdout
    made = run(installed / "auditor", "init", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    audited = run(installed / "auditor", "run", "--fail-on", "never", "-o", "report.html", cwd=tmp_path)
    assert audited.returncode == 0, audited.stdout + audited.stderr
    assert "billing" in (tmp_path / "report.html").read_text(encoding="utf-8")
