"""How long the service takes: from its start to the first page, and for the overview, with 500 runs of ten columns.

    python -m tests.benchmarks.service [RUNS]

A run is that of the sample workspace with ten consumers' columns; with `real`, the committed report of 52 columns.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.services.serving import served

REPORT = Path(__file__).parents[2] / "reports" / "contracts.json"


def ten_columns(document: dict[str, Any]) -> dict[str, Any]:
    """Keep ten columns of a run, and the findings and evidence of their fields."""
    columns = document["columns"][:10]
    fields = {column["field"] for column in columns}
    return document | {
        "columns": columns,
        "fields": [field for field in document["fields"] if field["field"] in fields],
        "findings": [finding for finding in document["findings"] if finding["field"] in fields],
    }


def make_runs(folder: Path, count: int, *, is_real: bool) -> None:
    """Write runs a minute apart."""
    document = json.loads(REPORT.read_text())
    document = document if is_real else ten_columns(document)
    for number in range(count):
        created = f"2024-03-{1 + number // 480:02d}T{number // 60 % 8:02d}:{number % 60:02d}:00+00:00"
        run_id = f"{created[:19].replace('-', '').replace(':', '')}Z-{number:08x}"
        path = folder / ".auditor" / "runs" / run_id / "run.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(document | {"run_id": run_id, "created_at": created}, ensure_ascii=False, indent=2))


def main() -> None:
    """Print the times in milliseconds."""
    is_real = "real" in sys.argv
    count = next((int(one) for one in sys.argv[1:] if one.isdigit()), 500)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_runs(folder, count, is_real=is_real)
        start = time.perf_counter()
        with served(folder) as service:
            first = service.get("/")
            wall, cpu = _ms(start), 1000 * _cpu(service.process.pid)
            print(f"{count} runs, {len(first.body):,} bytes: start to first page {wall:.0f} ms, {cpu:.0f} ms of CPU")
            for path in ("/", "/api/v1/runs", "/api/v1/findings", "/metrics", "/runs"):
                times = []
                for _ in range(15):
                    start = time.perf_counter()
                    assert service.get(path).status == 200
                    times.append(_ms(start))
                print(f"{path}: median {statistics.median(times):.0f} ms, most {max(times):.0f} ms")


def _cpu(pid: int) -> float:
    """Give the seconds of CPU of a process: on a machine that has other work they say more than a clock."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _ms(start: float) -> float:
    return 1000 * (time.perf_counter() - start)


if __name__ == "__main__":
    main()
