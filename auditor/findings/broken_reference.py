"""A reference that its decoder does not turn into a value: the fixture is broken, and no score of the case exists."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.findings import sql
from auditor.findings.census import Census, verdict_of
from auditor.findings.draft import Draft, fingerprint
from auditor.findings.witnesses import WITNESSES, units_of
from auditor.findings.words import listed

CODE = "broken-reference"


def find_broken_references(census: Census) -> Iterator[Draft]:
    """Give one draft per field and decoder that could not read a reference."""
    for (field,) in census.query("SELECT DISTINCT field FROM f_cells WHERE contains(pattern, '!') ORDER BY field"):
        decoder = census.context.spec.fields[field].reference
        if decoder != "each":
            yield from _drafts(census, field, decoder, "contains(pattern, '!')")
            continue
        for position, consumer in enumerate(census.readers(field)):
            yield from _drafts(census, field, consumer, f"{verdict_of(position)} = '!'")


def _drafts(census: Census, field: str, decoder: str, broken: str) -> Iterator[Draft]:
    cases = f"FROM judged WHERE field = {sql.text(field)} AND {broken}"
    ((affected,),) = census.query(f"SELECT coalesce(sum(n), 0) {cases}")
    if not affected:
        return
    texts = f"SELECT token, min(unit) AS unit FROM outcomes WHERE unit IN (SELECT r_unit {cases}) GROUP BY token"
    ((strings, witnesses),) = census.query(
        f"SELECT count(*), min((length(token), token, unit), {WITNESSES}) FROM ({texts})"
    )
    consumers = (decoder,) if decoder in census.readers(field) else ()
    reader = decoder if consumers else "the typed reader"
    yield Draft(
        code=CODE,
        severity="high",
        field=field,
        consumers=consumers,
        title=f"{reader} cannot read references of {field}: these cases have no score",
        detail=f"A person asserted values of {field} that {reader} does not turn into a value.",
        cause=_cause(reader, bool(consumers)),
        fixes=(
            "Correct the references that are wrong or are not a value at all; leave those empty that do not exist.",
            "Name a decoder that reads the form the references are written in"
            f" (fields.{field}.reference: {listed(['a consumer', 'typed'])}).",
            "Count them and go on: --broken-references report.",
        ),
        fingerprint=fingerprint(CODE, field, (decoder,)),
        units=units_of(witnesses),
        affected=int(affected),
        affected_outside=int(affected),
        strings=int(strings),
        role="reference",
        cases=broken,
    )


def _cause(reader: str, is_consumer: bool) -> str:
    if is_consumer:
        return f"The references are written in a form that {reader} does not know, or are not values at all."
    return "The references are not written in the canonical form of the field's type, or are not values at all."
