"""What a look at the frozen clock costs: ``python tests/benchmarks/frozen_clock.py``.

No system call: a parser that reads the clock on each string keeps its speed. Goal: the ratios stay below 3. A clock
that is watched is for the strings that moved; what dateutil, which reads it once a string, then takes is shown beside.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from auditor.decode.clock import PRELOAD, VDSO, at_clock, nanoseconds_of
from auditor.decode.preload import preloaded
from auditor.model.dependence import Watch
from tests.sessions import open_consumer, quoted

INSTANT = "2024-03-08T09:05:07+00:00"
STRINGS = 5000

CODE = """
import time
def best(read):
    times = []
    for _ in range(20):
        start = time.perf_counter()
        for _ in range(20000):
            read()
        times.append(time.perf_counter() - start)
    return min(times)
print(best(time.time) / best(time.monotonic))
"""


def main() -> None:
    """Compare with the monotonic clock, which the kernel's own code answers, here and under the launcher."""
    command = [sys.executable, "-c", CODE]
    frozen = preloaded(os.environ, nanoseconds_of(INSTANT))
    for name, run, variables in (
        ("real", command, None),
        (VDSO, at_clock(command, INSTANT), None),
        (PRELOAD, command, frozen),
    ):
        ratio = float(subprocess.run(run, capture_output=True, text=True, check=True, env=variables).stdout)
        print(f"{name} clock: time.time() costs {ratio:.2f} x time.monotonic()")
    plain = seconds_for_dateutil((VDSO,), None)
    for name, clocks, watch in (
        ("preloaded", (PRELOAD,), None),
        ("watched", (PRELOAD,), Watch()),
        ("calls", (VDSO,), Watch()),
    ):
        print(f"dateutil, {name}: {seconds_for_dateutil(clocks, watch) / plain:.2f} x {VDSO}")


def seconds_for_dateutil(clocks: tuple[str, ...], watch: Watch | None) -> float:
    """Give the least time that dateutil took for the strings."""
    texts = quoted(f"March {number % 28 + 1} {1990 + number % 40}" for number in range(STRINGS))
    reads = {"f": "dateutil.parser:parse"}
    with (
        tempfile.TemporaryDirectory() as folder,
        open_consumer(Path(folder), reads, clocks=clocks, watch=watch) as session,
    ):
        taken = []
        for _ in range(5):
            start = time.perf_counter()
            session.decode("f", texts)
            taken.append(time.perf_counter() - start)
    return min(taken)


if __name__ == "__main__":
    main()
