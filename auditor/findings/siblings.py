"""Predictions that a consumer loses although it takes them by themselves: another part of their payload is at fault.

No shape of the field is to blame, so none is listed; what caps the column is what the payload was rejected for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from auditor.findings import sql
from auditor.findings.census import Census, status_of, verdict_of
from auditor.findings.draft import Draft, fingerprint
from auditor.findings.format_ceiling import CODE
from auditor.findings.strings import of_predictions
from auditor.findings.words import listed
from auditor.model.decoding import PAYLOAD_REJECTED
from auditor.model.figures import plural

#: What rejected the payload, where the consumer does not say it.
_UNNAMED = "another part of the payload"

_LOST = "('r', 'n', 'd', 'c', 't')"


@dataclass
class _Loss:
    """Judged predictions that a column loses with their payload."""

    cases: int = 0
    recoverable: int = 0


def find_sibling_losses(census: Census) -> Iterator[Draft]:
    """Give one draft per column that loses judged predictions for the sake of another part of their payload."""
    if not census.has_repeats:
        return
    losses: dict[tuple[str, int], _Loss] = defaultdict(_Loss)
    for field, pattern, statuses, sound, count in census.query(
        "SELECT c.field, pattern, statuses, sound, sum(n) FROM f_cells c JOIN f_groups ON grp = p_grp GROUP BY ALL"
    ):
        soundly = census.sound_pattern(field, pattern, sound)
        for position, consumer in enumerate(census.readers(field)):
            if pattern[position] in "rndct" and statuses[census.context.index[consumer]] not in "rndct":
                losses[field, position].cases += int(count)
                losses[field, position].recoverable += int(count) if "o" in soundly else 0
    for (field, position), loss in sorted(losses.items(), key=lambda item: item[0]):
        yield _draft(census, field, position, loss)


def _draft(census: Census, field: str, position: int, loss: _Loss) -> Draft:
    consumer = census.readers(field)[position]
    number = census.context.index[consumer]
    cases = f"{verdict_of(position)} IN {_LOST}"
    own = f"(s{number} IS NULL OR s{number} = 'v')"
    places = _places(census, field, number, f"{cases} AND {own}")
    strings, units = of_predictions(census, field, cases, own)
    named = [place for place in places if place != _UNNAMED]
    return Draft(
        code=CODE,
        severity="high" if loss.recoverable else "medium",
        field=field,
        consumers=(consumer,),
        title=f"{consumer} loses {plural(loss.cases, 'prediction')} of {field}, rejected because of a sibling:"
        f" {listed(list(places)[:5])}",
        detail=f"{consumer} takes a payload whole or not at all. It takes these strings of {field} by themselves: no"
        f" shape of them is refused. {plural(loss.recoverable, 'case')} of them"
        f" {'is' if loss.recoverable == 1 else 'are'} right for another consumer.",
        cause=f"What rejects the payload is not {field}: {listed(list(places)[:5])}.",
        fixes=(
            f"Mend what rejects the payload first: see the findings of {listed(named[:5]) or 'the other fields'}.",
            f"Let {consumer} store the fields that are sound, and send back only the others.",
            'Where production does take each field alone, say so: scope = "field".',
        ),
        fingerprint=fingerprint(CODE, field, (consumer,), "sibling"),
        groups=f"field = {sql.text(field)} AND {status_of(number)} NOT IN {_LOST}",
        role="prediction",
        cases=cases,
        units=units,
        strings=strings,
        shapes={"rejected because of a sibling": places},
    )


def _places(census: Census, field: str, number: int, lost: str) -> dict[str, int]:
    """Count cases by the part of the payload that the consumer names as at fault, most first."""
    place = f"nullif(regexp_extract(error, {sql.text(PAYLOAD_REJECTED)}, 2), '')"
    rows = census.query(
        f"SELECT coalesce({place}, {sql.text(_UNNAMED)}) AS sibling, sum(n) FROM judged j"
        f" JOIN own_outcomes o ON o.unit = p_unit LEFT JOIN faults f ON f.unit = p_unit AND f.consumer = {number}"
        f" WHERE j.field = {sql.text(field)} AND {lost} GROUP BY sibling ORDER BY sum(n) DESC, sibling"
    )
    return {name: int(count) for name, count in rows}
