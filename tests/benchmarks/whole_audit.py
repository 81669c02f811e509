"""CPU of a whole audit against its floor, in one run: bare parsers on the distinct strings plus a scan of the source.

    python tests/benchmarks/whole_audit.py [--rows 10000000] [--format parquet] [--mix moments] [--probe off]

Four fields (dates, amounts, moments, booleans) and three consumers (dateutil and Decimal, Pydantic, DuckDB casts). The
distinct strings are mostly moments (times to the minute, which dateutil reads in 20 us) or mostly amounts (which
Decimal reads in 0.3 us: there the floor is so low that our own work on rows and strings is what is measured).
The floor decodes once, in the base environment, and so does the audit unless `--probe` has it decode again elsewhere.
Every figure is CPU time (user + system, children included) of a process of its own; the last lines are the ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PIPELINE = Path(__file__).parent / "pipeline"

ROWS = """
WITH r AS (SELECT i, i // 4 AS c, i % 4 AS f, hash(i % 40000000) AS h, hash(i + 7) AS h2 FROM range({rows}) t(i)),
d AS (SELECT *, date '1990-01-01' + (h % 13000)::INT AS day, ((h % {amounts}) / 100.0)::DECIMAL(18, 2) AS amount,
    timestamp '2020-01-01' + to_minutes((h % {moments})::INT) AS moment FROM r)
SELECT 'case-' || lpad(c::VARCHAR, 9, '0') AS case_id,
    ['effective_date', 'total', 'signed_at', 'auto_renew'][f + 1] AS field,
    CASE f WHEN 0 THEN CASE WHEN h2 % 25 = 0 THEN 'N/A' WHEN h2 % 2 = 0 THEN strftime(day, '%Y-%m-%d')
            ELSE strftime(day, '%B %d, %Y') END
        WHEN 1 THEN amount::VARCHAR || CASE WHEN h2 % 10 = 0 THEN '0' ELSE '' END
        WHEN 2 THEN CASE WHEN h2 % 9 = 0 THEN strftime(moment, '%Y-%m-%d %H:%M')
            ELSE strftime(moment, '%Y-%m-%dT%H:%M:%S') END
        ELSE ['true', 'false', 'yes', 'no'][1 + (h % 4)::INT] END AS prediction,
    CASE f WHEN 0 THEN strftime(day, '%Y-%m-%d')
        WHEN 1 THEN (amount + (h2 % 13 = 1)::INT)::DECIMAL(18, 2)::VARCHAR
        WHEN 2 THEN strftime(moment, '%Y-%m-%dT%H:%M:%S')
        ELSE ['true', 'false', 'true', 'false'][1 + (h % 4)::INT] END AS reference
FROM d
"""

#: Distinct amounts and moments of each mix, for about a million distinct strings in all.
MIXES = {"moments": (330_000, 350_000), "amounts": (760_000, 25_000)}

SCAN = "SELECT max(strlen(field)), max(strlen(prediction)), max(strlen(reference)) FROM {source}"

BARE_PYTHON = """
import json, sys, time
sys.path.insert(0, {pipeline!r})
import billing
from models import Contract
from pydantic import TypeAdapter
import duckdb
con = duckdb.connect()
con.execute("SET enable_progress_bar = false")
strings = dict(con.execute("SELECT field, list(DISTINCT s) FROM (SELECT field, prediction AS s FROM {source} UNION "
    "SELECT field, reference FROM {source}) GROUP BY field").fetchall())
json_strings = {{f: [json.dumps(s) for s in v] for f, v in strings.items()}}
casts = {casts!r}
begin = time.process_time()
for field, function in dict(effective_date=billing.day, total=billing.amount, signed_at=billing.moment,
        auto_renew=billing.flag).items():
    for s in strings[field]:
        try: function(s)
        except Exception: pass
for field, info in Contract.model_fields.items():
    validate = TypeAdapter(info.annotation).validate_json
    for s in json_strings[field]:
        try: validate(s)
        except ValueError: pass
python = time.process_time() - begin
for field, v in strings.items():
    con.execute(f"CREATE TABLE {{field}} AS SELECT unnest(?::VARCHAR[]) AS v", [v])
begin = time.process_time()
for field, cast in casts.items():
    con.execute(f"SELECT count({{cast.format(value='v')}}::VARCHAR) FROM {{field}}").fetchall()
sql = time.process_time() - begin
print(json.dumps(dict(distinct=sum(map(len, strings.values())), python=python, sql=sql)))
"""

CASTS = {
    "effective_date": "try_cast({value} as date)",
    "total": "try_cast({value} as decimal(18, 2))",
    "signed_at": "try_cast({value} as timestamp)",
    "auto_renew": "try_cast({value} as boolean)",
}

AUDIT = """
import resource, sys
import auditor
run = auditor.run({spec!r}, probe={probe!r}).run
peak = [int(l.split()[1]) for l in open('/proc/self/status') if l.startswith('VmHWM')][0] // 1024
own, workers = (resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
print(run.cases.expected, peak, *(f'{{one.ru_utime + one.ru_stime:.2f}}' for one in (own, workers)))
"""


def main() -> None:
    """Print the figures."""
    options = argparse.ArgumentParser()
    options.add_argument("--rows", type=int, default=10_000_000)
    options.add_argument("--format", choices=["parquet", "csv", "jsonl"], default="parquet")
    options.add_argument("--mix", choices=list(MIXES))
    options.add_argument("--probe", choices=["off", "quick", "full"], default="off")
    chosen = options.parse_args()
    for mix in [chosen.mix] if chosen.mix else list(MIXES):
        folder = Path(tempfile.mkdtemp(prefix="auditor-benchmark-"))
        try:
            _measure(folder, chosen.rows, chosen.format, mix, chosen.probe)
        finally:
            shutil.rmtree(folder)


def _measure(folder: Path, rows: int, suffix: str, mix: str, probe: str) -> None:
    data = _workspace(folder, rows, suffix, mix)
    source = f"'{data}'"
    scan, _, _ = _cpu(f"import duckdb; duckdb.sql({SCAN.format(source=source)!r}).fetchall()")
    start, _, _ = _cpu("import duckdb; duckdb.sql('SELECT 1').fetchall()")
    bare_code = BARE_PYTHON.format(pipeline=str(PIPELINE), source=source, casts=CASTS)
    bare = json.loads(_cpu(bare_code)[2].splitlines()[-1])
    audit, wall, printed = _cpu(AUDIT.format(spec=str(folder), probe=probe))
    cases, peak, own, workers = printed.splitlines()[-1].split()
    floor = bare["python"] + bare["sql"] + scan - start
    given = f"{rows:,} rows ({suffix}), {cases} cases, {bare['distinct']:,} distinct strings"
    print(f"mostly {mix}: {given}, 3 consumers, probe {probe}")
    print(f"bare parsers  {bare['python']:6.2f} s python + {bare['sql']:.2f} s sql")
    print(f"scan          {scan - start:6.2f} s")
    print(
        f"whole audit   {audit:6.2f} s CPU ({own} s parent, {workers} s workers), {wall:.2f} s wall, "
        f"parent peak {peak} MiB"
    )
    print(f"ratio         {audit / floor:6.2f} x (bare + scan)")


def _workspace(folder: Path, rows: int, suffix: str, mix: str) -> Path:
    data = folder / f"records.{suffix}"
    options = {"parquet": "(FORMAT parquet)", "csv": "(FORMAT csv, HEADER)", "jsonl": "(FORMAT json)"}[suffix]
    amounts, moments = MIXES[mix]
    query = ROWS.replace("{rows}", str(rows)).replace("{amounts}", str(amounts)).replace("{moments}", str(moments))
    _cpu(f"import duckdb; duckdb.execute({f'''COPY ({query}) TO '{data}' {options}'''!r})")
    for file in PIPELINE.glob("*.py"):
        shutil.copy(file, folder)
    spec = (PIPELINE / "audit.toml").read_text().replace("DATA", data.name)
    (folder / "audit.toml").write_text(spec)
    return data


def _cpu(code: str) -> tuple[float, float, str]:
    """Run code in a process of its own; gives CPU seconds (children included), wall seconds and what it printed."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ}, stdout=subprocess.PIPE, text=True, check=True
    )
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - begin
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, wall, done.stdout.strip()


if __name__ == "__main__":
    main()
