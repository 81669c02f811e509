"""What a look at the frozen clock costs: ``python tests/benchmarks/frozen_clock.py``.

No system call: a parser that reads the clock on each string keeps its speed. Goal: the ratios stay below 3.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from auditor.decode.clock import at_clock

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
    for name, run in (("real", command), ("frozen", at_clock(command, "2024-03-08T09:05:07+00:00"))):
        ratio = float(subprocess.run(run, capture_output=True, text=True, check=True).stdout)
        print(f"{name} clock: time.time() costs {ratio:.2f} x time.monotonic()")


if __name__ == "__main__":
    main()
