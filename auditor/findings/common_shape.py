"""Is there one written form that every consumer of a field reads, and reads alike?"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

from auditor.findings import sql
from auditor.findings.advice import is_unmistakable, moving_shapes
from auditor.findings.census import NOT_ALL_KNOWN, READ, READ_OTHERWISE, READ_OTHERWISE_BY_ANY, Census
from auditor.findings.draft import Draft, fingerprint
from auditor.findings.versions import standing
from auditor.findings.words import listed, shape_name
from auditor.model.figures import every, plural

NONE_CODE = "no-common-shape"
BEST_CODE = "common-shape"

#: Shapes that are named as read alike in the base environment only.
MOVING = 2

#: What nobody reads (N/A, a 30th of February) splits nobody, and leaves the shape of the others as good as it was.
_SPLIT = f"({READ_OTHERWISE} AND form <> 'null')"

_SPLIT_BY_ANY = f"({READ_OTHERWISE_BY_ANY} AND form <> 'null')"

#: The two JSON booleans are one form of a field.
_SHAPE = "CASE WHEN form = 'boolean' THEN 'true or false' ELSE shape END"


#: A number that may have thousands or decimals behind its mark: no example to follow.
_DOUBTFUL = "regexp_matches(token, '[.,][0-9]{3}([^0-9]|$)')"


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
    if not split:
        return
    shapes, moving = _shapes(census, split), moving_shapes(census)
    best = {field: shape for field in split if (shape := _best(census, shapes[field], field, moving)) is not None}
    examples = _examples(census, best) if best else {}
    for field in split:
        here_only = [one for one in shapes[field] if one.is_alike and (field, one.shape) in moving]
        everywhere = [one for one in shapes[field] if one.is_common and (field, one.shape) not in moving]
        if field in best:
            yield _common(census, field, best[field], examples[field])
        elif (
            any(one.is_split for one in shapes[field]) and not everywhere and not any(s.is_open for s in shapes[field])
        ):
            yield _none(census, field, [(one.shape, moving[field, one.shape]) for one in here_only])


@dataclass(frozen=True)
class _Shape:
    """A shape of predictions: do all consumers read it alike, or do some of them disagree on it?"""

    shape: str
    cases: int
    is_alike: bool  # to all versions of all consumers
    is_common: bool  # to the consumers, of whose versions the first counts
    is_split: bool
    is_open: bool  # some consumer has no record of some of its strings, and nobody disagrees on what is known


def _best(census: Census, shapes: list[_Shape], field: str, moving: Container[tuple[str, str]]) -> _Shape | None:
    """Give the shape of most predictions that is read alike by all, and that may be asked for."""
    field_type = census.context.spec.fields[field].type
    alike = (one for one in shapes if one.is_alike and (field, one.shape) not in moving)
    return next((one for one in alike if is_unmistakable(field_type, one.shape)), None)


def _shapes(census: Census, fields: list[str]) -> dict[str, list[_Shape]]:
    """Give the shapes of the predictions of each field, that of most cases first."""
    shapes = (
        f"SELECT c.field, {_SHAPE} AS shape, sum(n) AS cases, bool_or({READ}) AS is_read,"
        f" bool_or({_SPLIT}) AS is_split, bool_or({_SPLIT_BY_ANY}) AS is_split_by_any,"
        f" bool_or({NOT_ALL_KNOWN}) AS is_open"
        " FROM f_cells c JOIN f_groups ON grp = p_grp"
        f" WHERE c.field IN {sql.texts(fields)} AND form <> 'null' GROUP BY ALL"
    )
    found: dict[str, list[_Shape]] = {field: [] for field in fields}
    ordered = f"FROM ({shapes}) ORDER BY field, cases DESC, shape"
    for field, shape, cases, is_read, is_split, by_any, is_open in census.query(ordered):
        is_common = bool(is_read and not is_split and not is_open)
        open_only = bool(is_open and not is_split)
        found[field].append(_Shape(shape, int(cases), is_common and not by_any, is_common, bool(is_split), open_only))
    return found


def _groups(field: str, shape: str) -> str:
    return f"field = {sql.text(field)} AND {_SHAPE} = {sql.text(shape)} AND {READ}"


def _examples(census: Census, best: Mapping[str, _Shape]) -> dict[str, str]:
    """Give the prediction of most cases among those of each field's best shape: what the model writes anyway."""
    groups = " OR ".join(f"({_groups(field, one.shape)})" for field, one in best.items())
    strings = (
        "SELECT o.field, token, sum(n) AS cases FROM judged JOIN own_outcomes o ON unit = p_unit JOIN f_strings"
        f" USING (unit) WHERE grp IN (SELECT grp FROM f_groups WHERE {groups}) GROUP BY ALL"
    )
    rank = f"(-cases, {_DOUBTFUL}, length(token), token)"
    rows = census.query(f"SELECT field, min_by(token, {rank}) FROM ({strings}) GROUP BY field")
    return {field: token[:80] for field, token in rows}


def _common(census: Census, field: str, best: _Shape, example: str) -> Draft:
    readers, shape = census.readers(field), best.shape
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
        f" ({plural(best.cases, 'prediction')}).",
        cause="The consumers disagree on other shapes of this field; on this one they do not.",
        fixes=(
            f"Ask the model for {shape_name(shape)}, for example {example}, in the prompt or in the output's schema.",
        ),
        fingerprint=fingerprint(BEST_CODE, field, ()),
        groups=_groups(field, shape),
        role="prediction",
        shapes_as="read alike by all",
    )


def _none(census: Census, field: str, moving: Sequence[tuple[str, str]]) -> Draft:
    """Draft that there is none; `moving` are shapes that are read alike in the base only, each with a code."""
    together = census.numbered(standing(census.context))
    readers = tuple(name for name in census.readers(field) if name in together)
    here_only = "".join(
        f" {shape_name(shape)} is read alike in the base environment, but not in every other ({code})."
        for shape, code in moving[:MOVING]
    )
    return Draft(
        code=NONE_CODE,
        severity="medium",
        field=field,
        consumers=readers,
        title=f"no shape of {field} seen is read alike by {every(len(readers), 'consumer')}: {listed(readers)}",
        detail="Whatever shape the model is asked for, of those seen, some consumer refuses it or reads another value."
        f"{here_only}",
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
