"""Two consumers accept one string and read different values."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.findings import sql
from auditor.findings.causes import cause_named
from auditor.findings.census import Census
from auditor.findings.draft import Draft, fingerprint

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
    cause = cause_named(word)
    return Draft(
        code=CODE,
        severity="high",
        field=field,
        consumers=pair,
        title=f"{pair[0]} and {pair[1]} both accept the same {field} and read different values: {cause.says}",
        detail="Both accept these strings, so neither column counts them as lost.",
        cause=cause.likely,
        fixes=cause.fixes,
        fingerprint=fingerprint(CODE, field, pair, word),
        groups=f"field = {sql.text(field)} AND contains(';' || differences, {sql.text(f';{difference};')})",
        role=census.role_of(field, pair),
        shapes_as="read differently",
    )
