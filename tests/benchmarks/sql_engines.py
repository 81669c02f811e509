"""What the engine adapters cost beyond their engines: ``python tests/benchmarks/sql_engines.py [STRINGS [ENGINE...]]``.

CPU time of this process and of the server's, best of three interleaved rounds, beyond the start. `engine` is what the
engine needs at least: the strings are loaded into a table as one piece, cast in one statement, and their texts fetched.
`sound` is the adapter on the same strings, 8,192 at a time, and the ratio is that of these two. `adapter` reads strings
of which a half is rejected, and gives the engine's message of each.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.engines.adapters import adapter_of, missing

FRAME = 8192
ROUNDS = 3

#: Seconds after which a part is not measured again.
LONG = 20

#: The consumer's expression, and the engine's own statement.
CASTS = {
    "sqlite": ("date({value})", "SELECT date(value) FROM mock"),
    "postgres": ("cast({value} as date)", "COPY (SELECT v::date::text FROM big) TO STDOUT"),
    "mariadb": ("cast({value} as date)", "SELECT CAST(CAST(`value` AS DATE) AS CHAR) FROM auditor_mock_1"),
    "datafusion": ("cast({value} as date)", 'SELECT CAST(TRY_CAST("value" AS DATE) AS VARCHAR) AS x FROM mock'),
    "clickhouse": ("toDate({value})", "SELECT toString(toDate(value)) AS x FROM mock"),
    "googlesql": ("CAST({value} AS DATE)", ""),
}


def engine_of(name: str, adapter: Any, values: list[str], sql: str) -> Callable[[], object] | None:
    """Give what loads all strings, casts them in one statement and fetches their texts."""
    engine, reader = adapter.engine, adapter.readers["f"]

    def sqlite() -> None:
        engine.connection.execute("DELETE FROM mock")
        engine.connection.execute("BEGIN")
        engine.connection.executemany("INSERT INTO mock VALUES (?)", [(value,) for value in values])
        engine.connection.execute("COMMIT")
        engine.connection.execute(sql).fetchall()

    def postgres() -> None:
        engine.run("DROP TABLE IF EXISTS big")
        engine.run("CREATE TEMPORARY TABLE big (v text)")
        with engine.connection.cursor().copy("COPY big FROM STDIN") as copy:
            copy.write("\n".join(values) + "\n")
        with engine.connection.cursor().copy(sql) as copy:
            b"".join(bytes(part) for part in copy).decode().split("\n")

    def mariadb() -> None:
        reader.fill(values)
        engine.rows(sql)

    def datafusion() -> None:
        engine.fill(range(len(values)), values)
        engine.columns(sql)

    def clickhouse() -> None:
        engine.fill(values)
        engine.columns(sql)

    own = {"sqlite": sqlite, "postgres": postgres, "mariadb": mariadb, "datafusion": datafusion}
    return {**own, "clickhouse": clickhouse}.get(name)


def cpu_of(name: str, adapter: Any) -> Callable[[], float]:
    """Give what tells the seconds of CPU of this process and of the server's."""
    if name == "postgres":
        pid = adapter.engine.one("SELECT pg_backend_pid()")
    elif name == "mariadb":
        pid = int(Path(adapter.engine.one("SELECT @@pid_file")).read_text())
    else:
        return time.process_time

    def seconds() -> float:
        ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return time.process_time() + sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")

    return seconds


def best_of(parts: dict[str, Callable[[], object]], cpu: Callable[[], float]) -> dict[str, float]:
    """Take turns, so that whatever else runs on the machine falls on all of them."""
    times: dict[str, list[float]] = {part: [] for part in parts}
    for _ in range(ROUNDS):
        for part, work in parts.items():
            if sum(times[part]) < LONG:
                start = cpu()
                work()
                times[part].append(cpu() - start)
    return {part: min(found) for part, found in times.items()}


def in_frames(adapter: Any, values: list[str]) -> Callable[[], object]:
    return lambda: [adapter.decode_batch("f", values[at : at + FRAME]) for at in range(0, len(values), FRAME)]


def main(count: int, engines: list[str]) -> None:
    sound = [f"{number // 336 + 1000:04d}-{number // 28 % 12 + 1:02d}-{number % 28 + 1:02d}" for number in range(count)]
    mixed = [text if number % 2 else f"March {number}, 2024" for number, text in enumerate(sound)]
    for name in engines:
        if lacks := missing(name):
            print(f"{name}: {lacks}")
            continue
        target, sql = CASTS[name]
        adapter = adapter_of(name, {"f": target}, "date")
        run = engine_of(name, adapter, sound, sql)
        parts = {"engine": run} if run else {}
        parts |= {"sound": in_frames(adapter, sound), "adapter": in_frames(adapter, mixed)}
        times = best_of(parts, cpu_of(name, adapter))
        print(f"{adapter.engine.name}: {count} distinct strings")
        for part, seconds in times.items():
            ratio = f"{seconds / times['engine']:6.2f} x the engine" if "engine" in times else ""
            print(f"  {part:8} {1e6 * seconds / count:8.3f} us/string  {ratio}")
        adapter.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000, sys.argv[2:] or list(CASTS))
