"""Seconds of a small audit, where fixed costs rule: ``python tests/benchmarks/small_run.py [rounds]``.

Three audits by the command line, without probes, runs stored: 240 rows of one date field with three consumers
(dateutil, Pydantic, a DuckDB cast), the same with five rows, and the reference pipeline of this repository (240
contracts, 11 fields). Against each stands its floor in the same round: one bare process after another that imports a
consumer (of the reference pipeline those in Python, so neither Node nor Java), or
DuckDB, and does nothing else. Wall time is what a person waits for; CPU time (children included) is what other work on
the machine disturbs least. Goal: the 240 rows in under a second.
"""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PIPELINE = Path(__file__).parent / "pipeline"

SPEC = """
name = "small"
[cases]
predictions = "records.csv"
references = "records.csv"
[fields.effective_date]
type = "date"
reference = "billing"
[consumers.billing]
adapter = "python"
reads = { effective_date = "billing:day" }
[consumers.api]
adapter = "pydantic"
model = "models:Contract"
scope = "field"
reads = { effective_date = "effective_date" }
[consumers.warehouse]
adapter = "sql"
engine = "duckdb"
reads = { effective_date = "try_cast({value} as date)" }
"""

#: What each consumer imports, and the engine that the auditor works with.
BARE = {
    PIPELINE: ("import billing", "import models", "import duckdb", "import duckdb"),
    ROOT / "consumers": (
        "import sys; sys.path.insert(0, 'billing'); import parsers",
        "import sys; sys.path.insert(0, 'api'); import models",
        "import sys; sys.path.insert(0, 'ledger'); import parsers",
        "import duckdb",
        "import duckdb",
    ),
}


def workspace(folder: Path, rows: int) -> Path:
    """Write a spec and so many rows, in three shapes of dates."""
    lines = ["case_id,field,prediction,reference"]
    for number in range(rows):
        day = f"{1 + number % 28:02d}"
        shape = (f"2024-03-{day}", f'"March {day}, 2024"', f"{day}.03.2024")[number % 3]
        lines.append(f"C-{number},effective_date,{shape},2024-03-{day}")
    (folder / "records.csv").write_text("\n".join(lines) + "\n")
    for file in PIPELINE.glob("*.py"):
        shutil.copy(file, folder)
    (folder / "audit.toml").write_text(SPEC)
    return folder


def timed(command: list[str], folder: Path) -> tuple[float, float]:
    """Give wall and CPU seconds of a command and its children."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, env={**os.environ, "PYTHONPATH": ""})
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(title: str, folder: Path, spec: Path, bare: Path, rounds: int) -> None:
    """Print the seconds of one audit and its ratio to the floor."""
    audits, floors = [], []
    for number in range(rounds + 1):
        floor = [timed([sys.executable, "-c", code], bare) for code in BARE[bare]]
        command = [sys.executable, "-m", "auditor", "run", "--quiet", "--fail-on", "never", "--probe", "off", str(spec)]
        audit = timed(command, folder)
        if number:  # the first one writes the byte code of what it imports
            floors.append((sum(one for one, _ in floor), sum(one for _, one in floor)))
            audits.append(audit)
    for name, choose in (("median", statistics.median), ("least", min)):
        wall, cpu = (choose(column) for column in zip(*audits, strict=True))
        bare_wall, bare_cpu = (choose(column) for column in zip(*floors, strict=True))
        print(
            f"{title}, {name} of {rounds}: {wall:.2f} s wall ({wall / bare_wall:.2f} x bare), "
            f"{cpu:.2f} s CPU ({cpu / bare_cpu:.2f} x bare {bare_cpu:.2f} s)"
        )


def main() -> None:
    """Measure the three audits."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory(prefix="auditor-benchmark-") as name:
        for rows in (5, 240):
            folder = Path(name) / str(rows)
            folder.mkdir()
            measure(f"{rows} rows", workspace(folder, rows), folder, PIPELINE, rounds)
        copy = Path(name) / "consumers"
        shutil.copytree(ROOT / "consumers", copy)
        measure("reference pipeline", copy, copy, ROOT / "consumers", rounds)


if __name__ == "__main__":
    main()
