"""A consumer refuses written forms that another consumer of the field reads, and so can be right only so often."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from auditor.findings import sql
from auditor.findings.census import READ, Census, status_of, verdict_of
from auditor.findings.complete import SHAPES
from auditor.findings.draft import Draft, fingerprint
from auditor.findings.witnesses import WITNESSES, units_of
from auditor.findings.words import listed
from auditor.model.figures import ceiling, plural

CODE = "format-ceiling"

_LABELS = ("accepted", "rejected", "read by nobody")

Shapes = dict[str, dict[str, int]]


def find_format_ceilings(census: Census) -> Iterator[Draft]:
    """Give one draft per column that loses judged predictions to shapes that another consumer reads."""
    patterns: dict[str, list[str]] = defaultdict(list)
    for field, pattern in census.query("SELECT DISTINCT field, pattern FROM f_cells WHERE p_grp IS NOT NULL"):
        patterns[field].append(pattern)
    capped = {
        (field, position)
        for field, seen in patterns.items()
        for position in range(len(census.readers(field)))
        if any(pattern[position] in "rnd" and set(pattern) & set("ow") for pattern in seen)
    }
    shapes = _shapes(census) if capped else {}
    for field, position in sorted(capped):
        yield _draft(census, field, position, shapes[field, position])


def _draft(census: Census, field: str, position: int, shapes: Shapes) -> Draft:
    consumer = census.readers(field)[position]
    column = census.context.columns[field, consumer]
    others = [name for name in census.readers(field) if name != consumer]
    at_most = f"at most {ceiling(column)} % of the time" if column.ceiling is not None else "only part of the time"
    status = status_of(census.context.index[consumer])
    cases = f"{verdict_of(position)} IN ('r', 'n', 'd') AND regexp_matches(pattern, '[ow]')"
    strings, units = _refused(census, field, cases)
    return Draft(
        code=CODE,
        severity="high" if column.recoverable else "medium",
        field=field,
        consumers=(consumer,),
        title=f"{consumer} can be right on {field} {at_most}: it refuses written forms that another consumer reads",
        detail=f"{_loss(column.recoverable)} The column measures the shape of the output as much as its content.",
        cause=f"The parser of {consumer} knows fewer forms than the model writes and {listed(others)} can read.",
        fixes=(
            f"Ask the model for a form that {consumer} reads: {_best(shapes['accepted'])}.",
            f"Teach {consumer} the refused forms.",
            f"Normalise {field} once, before {consumer}.",
        ),
        fingerprint=fingerprint(CODE, field, (consumer,)),
        groups=f"field = {sql.text(field)} AND {status} IN ('r', 'n', 'd') AND {READ}",
        role="prediction",
        cases=cases,
        units=units,
        strings=strings,
        shapes=shapes,
    )


def _refused(census: Census, field: str, cases: str) -> tuple[int, tuple[int, ...]]:
    """Count the texts of the predictions of some cases, and give the shortest of them."""
    predictions = f"SELECT p_unit FROM judged WHERE field = {sql.text(field)} AND {cases}"
    texts = f"SELECT token, min(unit) AS unit FROM outcomes WHERE unit IN ({predictions}) GROUP BY token"
    ((count, shortest),) = census.query(
        f"SELECT count(*), min((length(token), token, unit), {WITNESSES}) FROM ({texts})"
    )
    return int(count), units_of(shortest)


def _loss(recoverable: int) -> str:
    if not recoverable:
        return "None of the predictions that it loses is right for another consumer."
    verb = "is" if recoverable == 1 else "are"
    return f"{plural(recoverable, 'prediction')} that it loses {verb} right for another consumer."


def _best(accepted: dict[str, int]) -> str:
    return next(iter(accepted), "none was seen in these predictions")


def _shapes(census: Census) -> dict[tuple[str, int], Shapes]:
    """Count judged cases by column and shape: accepted, refused here but read elsewhere, refused by all."""
    longest = max(len(readers) for readers in census.context.readers.values())
    read = "regexp_matches(pattern, '[ow]')"
    label = (
        "CASE WHEN letter IN ('o', 'w') THEN 'accepted' WHEN letter NOT IN ('r', 'n', 'd') THEN NULL"
        " WHEN is_read THEN 'rejected' ELSE 'read by nobody' END"
    )
    cells = (
        f"SELECT c.field, shape, pattern, {read} AS is_read, sum(n) AS n"
        " FROM f_cells c JOIN f_groups ON grp = p_grp GROUP BY ALL"
    )
    letters = (
        f"SELECT *, substr(pattern, place::INTEGER + 1, 1) AS letter FROM ({cells}), range({longest}) places(place)"
        " WHERE place < length(pattern)"
    )
    counts = (
        f"SELECT field, place, {label} AS label, shape, sum(n) AS cases FROM ({letters})"
        " WHERE label IS NOT NULL GROUP BY ALL"
    )
    rank = "row_number() OVER (PARTITION BY field, place, label ORDER BY cases DESC, shape)"
    ranked = f"SELECT *, {rank} AS rank FROM ({counts})"
    listed_shape = f"CASE WHEN rank <= {SHAPES} THEN shape ELSE 'other shapes' END"
    found: dict[tuple[str, int], Shapes] = defaultdict(lambda: {label: {} for label in _LABELS})
    for field, place, group, shape, cases in census.query(
        f"SELECT field, place, label, {listed_shape} AS listed, sum(cases) FROM ({ranked})"
        " GROUP BY ALL ORDER BY field, place, label, min(rank)"
    ):
        found[field, place][group][shape] = int(cases)
    return found
