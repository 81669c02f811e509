"""Two consumers accept one string and read different values."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.findings import sql
from auditor.findings.causes import CAUSES
from auditor.findings.causes_sql import factor_of
from auditor.findings.census import Census
from auditor.findings.draft import Draft, fingerprint
from auditor.model.figures import plural

CODE = "value-disagreement"


def find_value_disagreements(census: Census) -> Iterator[Draft]:
    """Give one draft per field, pair of consumers, and way in which their values differ."""
    found = {
        (field, difference)
        for field, differences in census.query(
            "SELECT DISTINCT field, differences FROM f_groups WHERE differences <> ''"
        )
        for difference in differences.rstrip(";").split(";")
    }
    for field, difference in sorted(found):
        yield _draft(census, field, difference)


def _draft(census: Census, field: str, difference: str) -> Draft:
    numbers, _, word = difference.partition(":")
    pair = census.numbered(int(number) for number in numbers.split("-"))
    cause = CAUSES[word]
    groups = f"field = {sql.text(field)} AND contains(';' || differences, {sql.text(f';{difference};')})"
    factors = _factors(census, numbers, groups) if word in ("separators", "scale") else ""
    return Draft(
        code=CODE,
        severity="high",
        field=field,
        consumers=pair,
        title=f"{pair[0]} and {pair[1]} both accept the same {field} and read different values: {cause.says}",
        detail=f"Both accept these strings, so neither column counts them as lost.{factors}",
        cause=cause.likely,
        fixes=cause.fixes,
        fingerprint=fingerprint(CODE, field, pair, word),
        groups=groups,
        role=census.role_of(field, pair),
        shapes_as="read differently",
    )


def _factors(census: Census, numbers: str, groups: str) -> str:
    """Say how many times larger the larger of two numbers is: it depends on the digits, and not on the cause."""
    left, _, right = numbers.partition("-")
    strings = f"SELECT unit FROM f_strings WHERE grp IN (SELECT grp FROM f_groups WHERE {groups})"
    pairs = f"SELECT * FROM f_read WHERE l = {left} AND r = {right} AND unit IN ({strings})"
    counts = census.query(
        f"SELECT factor, count(DISTINCT token) FROM ({factor_of(pairs)}) GROUP BY factor ORDER BY factor"
    )
    each = "; ".join(f"{factor:,} times in {plural(count, 'string')}" for factor, count in counts)
    return f" One is larger: {each}."
