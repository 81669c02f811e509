"""What a program costs beyond its bare loop: ``python tests/benchmarks/process_adapter.py [STRINGS]``.

CPU microseconds per string, of this process, its worker and the program together, from a warm start to the last
answer; `bare` is the same function in a loop of its own in the same runtime. The goal is 1.5 beyond it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from auditor.decode.session import Session
from auditor.worker.program_state import family
from tests.sessions import open_consumer, quoted

PROGRAMS = Path(__file__).resolve().parent / "programs"
KIT = PROGRAMS.parents[2] / "consumers" / "protocol" / "Consumer.java"
TYPES = {"same": "identifier", "day": "date"}
TICK = os.sysconf("SC_CLK_TCK")
ROUNDS = 3


def cpu_of(pid: int) -> float:
    """Give the CPU seconds of a process and what it started."""
    ticks = 0
    for member in family(pid):
        fields = Path(f"/proc/{member}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / TICK


def spent(session: Session) -> float:
    return time.process_time() + cpu_of(session._supervisor.exchange.process._popen.pid)


def measure(folder: Path, command: tuple[str, ...], tokens: list[str]) -> dict[str, float]:
    """Give microseconds per string of each field, the best of some rounds."""
    found = {}
    with open_consumer(
        folder, dict(zip(TYPES, TYPES, strict=True)), types=TYPES, adapter="process", command=command
    ) as session:
        for field in TYPES:
            session.decode(field, tokens)
            times = []
            for _ in range(ROUNDS):
                before = spent(session)
                session.decode(field, tokens)
                times.append(spent(session) - before)
            found[field] = 1e6 * min(times) / len(tokens)
    return found


def show(name: str, bare: list[float], whole: dict[str, float]) -> None:
    for alone, (field, each) in zip(bare, whole.items(), strict=True):
        print(f"{name:5} {field:5} bare {alone:6.3f}  whole {each:6.3f}  beyond {each - alone:+6.3f} us/string")


def main(count: int) -> None:
    iso = [f"{1900 + number % 150}-{number % 12 + 1:02d}-{number % 28 + 1:02d}" for number in range(count)]
    texts = [text if number % 10 else f"March {number}, 2024" for number, text in enumerate(iso)]
    tokens = quoted(texts)
    with tempfile.TemporaryDirectory() as folder:
        strings, lines = Path(folder) / "strings.json", Path(folder) / "strings.txt"
        strings.write_text(json.dumps(texts))
        lines.write_text("\n".join(texts))
        bare = subprocess.run(
            ["node", str(PROGRAMS / "bench.mjs"), "bare", str(strings)], capture_output=True, text=True, check=True
        )
        show(
            "node",
            [float(line) / 1000 for line in bare.stdout.split()],
            measure(PROGRAMS, ("node", "bench.mjs"), tokens),
        )
        subprocess.run(["javac", "-d", folder, str(KIT), str(PROGRAMS / "Bench.java")], check=True)
        bare = subprocess.run(["java", "-cp", folder, "Bench", str(lines)], capture_output=True, text=True, check=True)
        show(
            "java",
            [float(line) / 1000 for line in bare.stdout.split()],
            measure(PROGRAMS, ("java", "-cp", folder, "Bench"), tokens),
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200_000)
