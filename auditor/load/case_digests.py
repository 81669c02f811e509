"""Digests by which a case that differs from a frozen one can be named, few of them for many cases.

A value's digest is taken with its case's id, so that equal references of two cases do not show as equal. A bucket's
line holds, for the cases whose ids fall into it: how many there are, the exclusive or of their ids, and for each
column two sums modulo a prime: of the digests, and of the digests times a weight that the id decides. Where one case
of a bucket differs in a column, the quotient of the two differences is its weight; where one id is gone or has come,
the exclusive or is that id.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from auditor.load.loaded import Loaded
from auditor.load.pairs import wide_sql
from auditor.load.traits import bound_traits, traits_sql
from auditor.model.lock import CaseDigests
from auditor.spec.models import AuditSpec

if TYPE_CHECKING:
    import duckdb

#: Cases up to which each has a line of its own, and those that are listed of more.
LISTED: Final = 2_000
SAMPLED: Final = 1_000

BUCKETS: Final = 1_024

PROMPT: Final = "prompt"
#: Columns of what a case has beside its references; no key of a spec is spelled like the later ones.
COLUMN_OF: Final = {
    "input": PROMPT,
    "split": "[cases] split",
    "locale": "[cases] locale",
    "jurisdiction": "[cases] jurisdiction",
}
NO_VALUE: Final = "-"

_PRIME: Final = 2_147_483_647
_CHUNK: Final = 14  # hexadecimal digits of an id that one whole number holds
_CHUNKS: Final = 8  # so that 56 bytes of an id are known

_TABLE: Final = "case_digests"


@dataclass(frozen=True)
class Difference:
    """A case that is not as it was: `what` is added, removed, or the column in which it changed."""

    case: str
    what: str


def digest_cases(spec: AuditSpec, loaded: Loaded, connection: duckdb.DuckDBPyConnection) -> CaseDigests:
    """Give the digests of the loaded cases."""
    columns = _create_digests(spec, loaded, connection)
    try:
        count = loaded.cases.expected
        if count <= LISTED:
            return CaseDigests(columns, count, _listed(connection, ""))
        sample = f"WHERE id IN (SELECT id FROM {_TABLE} ORDER BY md5(id), id LIMIT {SAMPLED})"
        return CaseDigests(columns, count, _listed(connection, sample), tuple(_lines(connection, len(columns))))
    finally:
        _drop(connection)


def differences(
    spec: AuditSpec, loaded: Loaded, connection: duckdb.DuckDBPyConnection, frozen: CaseDigests
) -> list[Difference]:
    """Name cases that differ from the frozen ones, in shortlex order of their ids; all where all are listed."""
    columns = _create_digests(spec, loaded, connection)
    try:
        found = set(_of_listed(connection, frozen, columns))
        if frozen.buckets:
            found.update(_of_buckets(connection, frozen, columns))
        else:
            ids = {one[0] for one in connection.execute(f"SELECT id FROM {_TABLE}").fetchall()}
            found.update(Difference(one, "added") for one in ids - set(frozen.listed))
    finally:
        _drop(connection)
    return sorted(found, key=lambda one: (len(one.case.encode()), one.case.encode(), one.what))


def _create_digests(spec: AuditSpec, loaded: Loaded, connection: duckdb.DuckDBPyConnection) -> tuple[str, ...]:
    """Make the table of digests: id, and c0 c1 … per column, NULL where there is no value."""
    references = loaded.references
    long = references.layout.form == "long"
    fields = sorted(spec.fields)
    numbers = {name: number for number, name in enumerate(spec.fields)}
    tokens = [
        references.value("value" if long else f"v{numbers[name]}", f"r.v{numbers[name]}").as_token() for name in fields
    ]
    source = f"{wide_sql(references, connection, spec.fields, False)} AS r"
    traits = bound_traits(spec, loaded.predictions, references)
    if traits:
        tokens += [f"to_json(t.{name})::VARCHAR" for name in traits]
        source += f" JOIN {traits_sql(loaded.predictions, references, connection, traits)} AS t USING (id)"
    texts = ", ".join(f"md5(id || '=' || {token})[1:8] AS c{number}" for number, token in enumerate(tokens))
    try:
        connection.execute(f"CREATE OR REPLACE TEMP TABLE {_TABLE} AS SELECT id, {texts} FROM {source}")
    finally:
        loaded.predictions.release()
        references.release()
    return (*fields, *(COLUMN_OF[name] for name in traits))


def _drop(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute(f"DROP TABLE IF EXISTS {_TABLE}")


def _listed(connection: duckdb.DuckDBPyConnection, which: str) -> dict[str, tuple[str, ...]]:
    rows = connection.execute(f"SELECT * FROM {_TABLE} {which} ORDER BY strlen(id), id").fetchall()
    return {case: tuple(one or NO_VALUE for one in digests) for case, *digests in rows}


def _bucket_sql() -> str:
    return f"(md5_number_upper(id) % {BUCKETS})::INTEGER"


def _weight_sql() -> str:
    return f"(md5_number_lower(id) % {_PRIME - 1} + 1)"


def _lines(connection: duckdb.DuckDBPyConnection, columns: int) -> Iterator[str]:
    """Give the line of each bucket, in order."""
    rows = dict(_sums(connection, columns))
    for bucket in range(BUCKETS):
        yield _written(rows.get(bucket, [0] * (1 + _CHUNKS + 2 * columns)))


def _sums(connection: duckdb.DuckDBPyConnection, columns: int) -> Iterator[tuple[int, list[int]]]:
    """Give the numbers of each bucket that has cases: their count, the chunks of ids, two sums per column."""
    longest = connection.execute(f"SELECT coalesce(max(strlen(id)), 0) FROM {_TABLE}").fetchall()[0][0]
    used = min(_CHUNKS, -(-2 * longest // _CHUNK))  # the chunks that some id reaches
    chunks = [f"bit_xor(('0x' || h[{1 + at * _CHUNK}:{(at + 1) * _CHUNK}])::UBIGINT)" for at in range(used)]
    sums = []
    for number in range(columns):
        sums += [f"sum(v{number}) % {_PRIME}", f"sum(v{number} * weight % {_PRIME}) % {_PRIME}"]
    values = [f"coalesce(('0x' || c{number})::UBIGINT % {_PRIME - 1} + 1, 0) AS v{number}" for number in range(columns)]
    rows = f"SELECT {_bucket_sql()} AS bucket, {_weight_sql()} AS weight, {', '.join(values)},"
    rows += f" rpad(hex(id), {_CHUNK * used}, '0') AS h FROM {_TABLE}"
    query = f"SELECT bucket, count(*), {', '.join([*chunks, *sums])} FROM ({rows}) GROUP BY bucket"
    for bucket, count, *numbers in connection.execute(query).fetchall():
        yield bucket, [count, *numbers[:used], *[0] * (_CHUNKS - used), *map(int, numbers[used:])]


def _written(numbers: Sequence[int]) -> str:
    count, chunks, sums = numbers[0], numbers[1 : 1 + _CHUNKS], numbers[1 + _CHUNKS :]
    ids = "".join(f"{one:0{_CHUNK}x}" for one in chunks).rstrip("0") or "0"
    pairs = (f"{sums[at]:08x}:{sums[at + 1]:08x}" for at in range(0, len(sums), 2))
    return " ".join([str(count), ids, *pairs])


def _read(line: str) -> list[int]:
    count, ids, *pairs = line.split(" ")
    padded = ids.ljust(_CHUNK * _CHUNKS, "0")
    chunks = [int(padded[at * _CHUNK : (at + 1) * _CHUNK], 16) for at in range(_CHUNKS)]
    return [int(count), *chunks, *(int(half, 16) for pair in pairs for half in pair.split(":"))]


def _of_listed(
    connection: duckdb.DuckDBPyConnection, frozen: CaseDigests, columns: Sequence[str]
) -> Iterator[Difference]:
    """Give what differs among the cases that were listed."""
    now = {
        case: dict(zip(columns, digests, strict=True))
        for case, digests in _at(connection, "id", list(frozen.listed)).items()
    }
    for case, digests in frozen.listed.items():
        if case not in now:
            yield Difference(case, "removed")
            continue
        was = dict(zip(frozen.columns, digests, strict=True))
        yield from (Difference(case, name) for name in columns if name in was and was[name] != now[case][name])


def _at(connection: duckdb.DuckDBPyConnection, place: str, wanted: list[str] | list[int]) -> dict[str, tuple[str, ...]]:
    kind = "VARCHAR" if place == "id" else "INTEGER"
    rows = connection.execute(
        f"SELECT * FROM {_TABLE} WHERE {place} IN (SELECT unnest($1::{kind}[]))", [wanted]
    ).fetchall()
    return {case: tuple(one or NO_VALUE for one in digests) for case, *digests in rows}


def _of_buckets(
    connection: duckdb.DuckDBPyConnection, frozen: CaseDigests, columns: Sequence[str]
) -> Iterator[Difference]:
    """Give the single cases that explain why a bucket differs."""
    now = [_read(line) for line in _lines(connection, len(columns))]
    before = [_read(line) for line in frozen.buckets]
    places = {name: 1 + _CHUNKS + 2 * at for at, name in enumerate(frozen.columns)}
    common = [(name, places[name], 1 + _CHUNKS + 2 * at) for at, name in enumerate(columns) if name in places]
    weights: dict[tuple[int, int], list[str]] = {}
    moved: dict[str, tuple[int, int]] = {}
    for bucket, (was, given) in enumerate(zip(before, now, strict=True)):
        if was[: 1 + _CHUNKS] != given[: 1 + _CHUNKS]:
            moved[_moved_id(was, given)] = bucket, given[0] - was[0]
            continue
        for name, left, right in common:
            weight = _quotient(given[right] - was[left], given[right + 1] - was[left + 1])
            if weight is not None:
                weights.setdefault((bucket, weight), []).append(name)
    yield from _of_weights(connection, weights)
    yield from _of_moved(connection, moved)


def _quotient(values: int, weighted: int) -> int | None:
    """Give the weight of the only case that differs; None where none does."""
    values %= _PRIME
    return weighted * pow(values, -1, _PRIME) % _PRIME if values else None


def _of_weights(
    connection: duckdb.DuckDBPyConnection, weights: Mapping[tuple[int, int], Sequence[str]]
) -> Iterator[Difference]:
    """Give the cases that have such a weight, in such a bucket: where several differ, there is hardly ever one."""
    query = f"SELECT {_bucket_sql()} AS bucket, {_weight_sql()}::BIGINT AS weight, id FROM {_TABLE}"
    query = f"FROM ({query}) SEMI JOIN (SELECT unnest($1::INTEGER[]) AS bucket, unnest($2::BIGINT[]) AS weight)"
    wanted = [[bucket for bucket, _ in weights], [weight for _, weight in weights]]
    for bucket, weight, case in connection.execute(f"{query} USING (bucket, weight)", wanted).fetchall():
        yield from (Difference(case, name) for name in weights[bucket, weight])


def _moved_id(was: Sequence[int], given: Sequence[int]) -> str:
    """Give the one id that has come or gone, if it is one; else anything."""
    pairs = zip(was[1 : 1 + _CHUNKS], given[1 : 1 + _CHUNKS], strict=True)
    digits = "".join(f"{left ^ right:0{_CHUNK}x}" for left, right in pairs)
    return bytes.fromhex(digits).rstrip(b"\0").decode("utf-8", "replace")


def _of_moved(connection: duckdb.DuckDBPyConnection, moved: Mapping[str, tuple[int, int]]) -> Iterator[Difference]:
    """Give those that are ids: they belong into their bucket, and are there if it has one more."""
    query = f"SELECT id, {_bucket_sql()}, known FROM (SELECT unnest($1::VARCHAR[]) AS id) LEFT JOIN"
    query += f" (SELECT id, true AS known FROM {_TABLE}) USING (id)"
    for case, falls_into, known in connection.execute(query, [list(moved)]).fetchall():
        bucket, more = moved[case]
        if falls_into == bucket and more == (1 if known else -1):
            yield Difference(case, "added" if known else "removed")
