"""Is there one written form that every consumer of a field reads, and reads alike?"""

from __future__ import annotations

from collections.abc import Iterator

from auditor.findings import sql
from auditor.findings.census import READ, READ_ALIKE, Census
from auditor.findings.draft import Draft, fingerprint
from auditor.findings.words import listed, shape_name
from auditor.model.figures import every, plural

NONE_CODE = "no-common-shape"
BEST_CODE = "common-shape"

#: What nobody reads (N/A, a 30th of February) splits nobody, and leaves the shape of the others as good as it was.
_SPLIT = f"({READ} AND NOT {READ_ALIKE} AND form <> 'null')"

#: The two JSON booleans are one form of a field.
_SHAPE = "CASE WHEN form = 'boolean' THEN 'true or false' ELSE shape END"


def find_common_shape(census: Census) -> Iterator[Draft]:
    """Give, per field on whose strings consumers disagree, the best common shape, or the news that there is none."""
    fields = census.query(
        f"SELECT field, bool_or({_SPLIT}), bool_or({_SPLIT} AND predicted > 0) FROM f_groups"
        " GROUP BY field ORDER BY field"
    )
    split = [
        field
        for field, anywhere, predicted in fields
        if (predicted if census.role_of(field, census.readers(field)) == "prediction" else anywhere)
    ]
    best = _best_shapes(census, split) if split else {}
    examples = _examples(census, best) if any(shape is not None for shape, _ in best.values()) else {}
    for field, (shape, cases) in best.items():
        yield _none(census, field) if shape is None else _common(census, field, shape, cases, examples[field])


def _best_shapes(census: Census, fields: list[str]) -> dict[str, tuple[str | None, int]]:
    """Give the shape of most predictions that is read alike by all; None where predictions are split and none is."""
    shapes = (
        f"SELECT c.field, {_SHAPE} AS shape, sum(n) AS cases, bool_or({READ}) AS is_read, bool_or({_SPLIT}) AS is_split"
        " FROM f_cells c JOIN f_groups ON grp = p_grp"
        f" WHERE c.field IN {sql.texts(fields)} AND form <> 'null' GROUP BY ALL"
    )
    good = "is_read AND NOT is_split"
    rows = census.query(
        f"SELECT field, min_by((shape, cases), (-cases, shape)) FILTER ({good}), bool_or(is_split) FROM ({shapes})"
        " GROUP BY field ORDER BY field"
    )
    best: dict[str, tuple[str | None, int]] = {}
    for field, found, is_split in rows:
        if found is not None:
            shape, cases = tuple(found.values()) if isinstance(found, dict) else found
            best[field] = shape, int(cases)
        elif is_split:
            best[field] = None, 0
    return best


def _groups(field: str, shape: str) -> str:
    return f"field = {sql.text(field)} AND {_SHAPE} = {sql.text(shape)} AND {READ}"


def _examples(census: Census, best: dict[str, tuple[str | None, int]]) -> dict[str, str]:
    """Give the prediction of most cases among those of each field's best shape: what the model writes anyway."""
    groups = " OR ".join(f"({_groups(field, shape)})" for field, (shape, _) in best.items() if shape is not None)
    strings = (
        "SELECT o.field, token, sum(n) AS cases FROM judged JOIN own_outcomes o ON unit = p_unit JOIN f_strings"
        f" USING (unit) WHERE grp IN (SELECT grp FROM f_groups WHERE {groups}) GROUP BY ALL"
    )
    rows = census.query(f"SELECT field, min_by(token, (-cases, length(token), token)) FROM ({strings}) GROUP BY field")
    return {field: token[:80] for field, token in rows}


def _common(census: Census, field: str, shape: str, cases: int, example: str) -> Draft:
    readers = census.readers(field)
    all_read = f"{every(len(readers), 'consumer')} read"
    title = f"ask the model to write {field} like {example}: {all_read} {shape_name(shape)} alike"
    if census.context.spec.fields[field].type in ("boolean", "category"):
        title = f"ask the model for words of {field} that {all_read} alike, such as {example}"
    return Draft(
        code=BEST_CODE,
        severity="info",
        field=field,
        consumers=readers,
        title=title,
        detail=f"Of the shapes seen, {shape_name(shape)} is the most frequent one on which nobody disagrees"
        f" ({plural(cases, 'prediction')}).",
        cause="The consumers disagree on other shapes of this field; on this one they do not.",
        fixes=(
            f"Ask the model for {shape_name(shape)}, for example {example}, in the prompt or in the output's schema.",
        ),
        fingerprint=fingerprint(BEST_CODE, field, ()),
        groups=_groups(field, shape),
        role="prediction",
        shapes_as="read alike by all",
    )


def _none(census: Census, field: str) -> Draft:
    readers = census.readers(field)
    return Draft(
        code=NONE_CODE,
        severity="medium",
        field=field,
        consumers=readers,
        title=f"no shape of {field} seen is read alike by {every(len(readers), 'consumer')}: {listed(readers)}",
        detail="Whatever shape the model is asked for, of those seen, some consumer refuses it or reads another value.",
        cause="The parsers of the consumers have no written form in common, of those in these predictions.",
        fixes=(
            f"Choose one form for {field}, teach it to every consumer, and ask the model for it.",
            f"Normalise {field} once, before the consumers, and hand each the text that it reads.",
        ),
        fingerprint=fingerprint(NONE_CODE, field, ()),
        groups=f"field = {sql.text(field)} AND {_SPLIT}",
        role="prediction",
        shapes_as="not read alike",
    )
