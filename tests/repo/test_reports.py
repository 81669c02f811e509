"""The committed reports of the reference pipeline are what the README's command makes, to the byte.

A run records what its consumers imported, so a newer dateutil or DuckDB makes other bytes: where the installed
versions are not those of the committed run, everything else must still be equal. Where a consumer is left out, for want
of what it needs, the verdicts of the others must be.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.reference_run import reference_run

COMMITTED = Path(__file__).parents[2] / "reports"
SUFFIXES = (".json", ".html", ".md", ".csv")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of the reports, made elsewhere."""
    return reference_run(tmp_path_factory) / "reports"


def versions(document: dict[str, Any]) -> list[Any]:
    """Give what depends on the machine's versions."""
    return [[one["version"], one["settings"]] for one in document["consumers"]]


def without_versions(document: dict[str, Any]) -> dict[str, Any]:
    """Leave out what depends on the machine's versions."""
    consumers = [{**one, "version": "", "settings": {}} for one in document["consumers"]]
    return {**document, "consumers": consumers, "run_id": ""}


def counts(document: dict[str, Any]) -> dict[tuple[str, str], list[int]]:
    """Give the verdicts of each column."""
    names = ("ok", "wrong", "rejected", "null", "dropped", "absent")
    return {(one["field"], one["consumer"]): [one[name] for name in names] for one in document["columns"]}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_committed_report_is_fresh(made: Path, suffix: str) -> None:
    """Run the README's command again when this fails."""
    committed = json.loads((COMMITTED / "contracts.json").read_text())
    again = json.loads((made / "contracts.json").read_text())
    if again["left_out"]:  # what is read without them is read alike
        assert counts(again) == {key: count for key, count in counts(committed).items() if key in counts(again)}
    elif versions(committed) == versions(again):
        assert (made / f"contracts{suffix}").read_bytes() == (COMMITTED / f"contracts{suffix}").read_bytes()
    else:
        assert without_versions(again) == without_versions(committed)


def test_every_format_is_committed() -> None:
    """The folder holds the reports and nothing else."""
    assert sorted(path.name for path in COMMITTED.iterdir()) == sorted(f"contracts{suffix}" for suffix in SUFFIXES)
