"""What the engine adapters cost beyond their engines: ``python tests/benchmarks/sql_engines.py [STRINGS [ENGINE...]]``.

Wall time, best of three rounds. `engine` is the cast of all strings in one statement over a table that holds them,
counted and not fetched: by the engine's try form where it has one, else over strings that all can be cast. `adapter`
reads strings of which a half is rejected, 8,192 at a time, and gives the engine's message of each reject; `sound` reads
strings that all can be cast.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from tests.engines.adapters import adapter_of, missing

FRAME = 8192
ROUNDS = 3

#: Seconds after which a part is not measured again.
LONG = 20

CASTS = {
    "sqlite": ("date({value})", "SELECT count(date(value)) FROM mock"),
    "postgres": ("cast({value} as date)", "SELECT count(v::date) FROM big"),
    "mariadb": ("cast({value} as date)", "SELECT COUNT(CAST(`value` AS DATE)) FROM auditor_mock_1"),
    "datafusion": ("cast({value} as date)", 'SELECT count(TRY_CAST("value" AS DATE)) AS x FROM mock'),
    "clickhouse": ("toDate({value})", "SELECT count(toDate(value)) FROM mock"),
    "googlesql": ("CAST({value} AS DATE)", ""),
}


def engine_of(name: str, adapter: Any, values: list[str], sql: str) -> Callable[[], object] | None:
    """Give what runs the cast in one statement, where the engine has one."""
    engine, reader = adapter.engine, adapter.readers["f"]
    if name == "sqlite":
        reader.read(values)
        return lambda: engine.connection.execute(sql).fetchall()
    if name == "postgres":
        engine.run("CREATE TEMPORARY TABLE big AS SELECT v FROM unnest(%s::text[]) AS t(v)", [values])
        return lambda: engine.one(sql)
    if name == "mariadb":
        reader.fill(values)
        return lambda: engine.rows(sql)
    if name == "datafusion":
        engine.fill(range(len(values)), values)
        return lambda: engine.columns(sql)
    if name == "clickhouse":
        engine.fill(values)
        return lambda: engine.columns(sql)
    return None


def best_of(part: Callable[[], object]) -> float:
    times: list[float] = []
    while len(times) < ROUNDS and sum(times) < LONG:
        start = time.perf_counter()
        part()
        times.append(time.perf_counter() - start)
    return min(times)


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
        times = {part: best_of(work) for part, work in parts.items() if work is not None}
        print(f"{adapter.engine.name}: {count} distinct strings")
        for part, seconds in times.items():
            ratio = f"{seconds / times['engine']:6.1f} x the engine" if "engine" in times else ""
            print(f"  {part:8} {1e6 * seconds / count:8.3f} us/string  {ratio}")
        adapter.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000, sys.argv[2:] or list(CASTS))
