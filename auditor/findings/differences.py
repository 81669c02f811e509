"""The strings that two consumers read differently, and how each pair of readings differs.

Writes `f_differences(unit, differences, drifts)`, where `differences` lists ``l-r:word;`` by the numbers of the
consumers, and `drifts` the same of the first version of a consumer and another.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations

from auditor.findings import sql
from auditor.findings.causes_sql import words_of
from auditor.findings.context import Context
from auditor.findings.versions import standing, version_pairs
from auditor.spec.models import FieldType


def write_differences(context: Context) -> bool:
    """Write the table of differences, and tell whether there is any."""
    connection = context.connection
    connection.execute("CREATE OR REPLACE TEMP TABLE f_differences (unit BIGINT, differences VARCHAR, drifts VARCHAR)")
    numbers = sorted(context.index.values())
    if len(numbers) < 2:
        return False
    connection.execute(f"CREATE OR REPLACE TEMP TABLE f_read AS {_pairs(context, numbers)}")
    fields: dict[FieldType, list[str]] = defaultdict(list)
    for (field,) in connection.execute("SELECT DISTINCT field FROM f_read").fetchall():
        fields[context.spec.fields[field].type].append(field)
    if not fields:
        return False
    words = " UNION ALL ".join(
        words_of(field_type, f"SELECT * FROM f_read WHERE field IN {sql.texts(sorted(names))}")
        for field_type, names in sorted(fields.items())
    )
    drift = f"({' OR '.join(f'(l = {left} AND r = {right})' for left, right in version_pairs(context)) or 'false'})"
    listed = "coalesce(array_to_string(list_sort(list(l || '-' || r || ':' || word || ';') FILTER ({})), ''), '')"
    both = ", ".join(listed.format(which) for which in (f"NOT {drift}", drift))
    connection.execute(f"INSERT INTO f_differences SELECT unit, {both} FROM ({words}) GROUP BY unit")
    return True


def _pairs(context: Context, numbers: list[int]) -> str:
    """Select each string once per pair of consumers that read it differently."""
    keys = ", ".join(f"k{number}" for number in numbers)
    values = ", ".join(f"v{number}" for number in numbers)
    differing = (
        f"SELECT unit, field, token, [{keys}] AS keys, [{values}] AS readings FROM own_outcomes"
        f" WHERE least({keys}) <> greatest({keys})"
    )
    places = {number: place for place, number in enumerate(numbers, start=1)}
    compared = [*combinations(standing(context), 2), *version_pairs(context)]
    pairs = ", ".join(f"({left}, {right}, {places[left]}, {places[right]})" for left, right in compared)
    both = (
        "SELECT unit, field, token, l, r, readings[l_place] AS l_value, readings[r_place] AS r_value"
        f" FROM ({differing}), (VALUES {pairs}) pair(l, r, l_place, r_place) WHERE keys[l_place] <> keys[r_place]"
    )
    parts = ", ".join(
        f"substr({side}_value, 1, strpos({side}_value, ':') - 1) AS {side}_tag,"
        f" substr({side}_value, strpos({side}_value, ':') + 1) AS {side}_text"
        for side in "lr"
    )
    return f"SELECT unit, field, token, l, r, {parts} FROM ({both})"
