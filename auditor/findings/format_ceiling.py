"""A consumer refuses written forms that another consumer of the field reads, and so can be right only so often."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from auditor.findings import sql
from auditor.findings.advice import FEW, OTHER_SHAPES, best_shape, cases_read_apart, example_of
from auditor.findings.census import READ_SOUNDLY, Census, status_of, verdict_of
from auditor.findings.complete import SHAPES
from auditor.findings.draft import Draft, fingerprint
from auditor.findings.strings import of_predictions
from auditor.findings.versions import others_of, siblings
from auditor.findings.words import listed, shape_name
from auditor.model.figures import percent_of, plural

CODE = "format-ceiling"

_LABELS = ("accepted", "rejected", "read by nobody")

Shapes = dict[str, dict[str, int]]


@dataclass
class _Loss:
    """What a column loses to the shapes of its own strings, in judged cases."""

    is_capped: bool = False
    not_read: int = 0  # whatever the reason: refused, crashed, timed out
    refused: int = 0  # of them, neither crashed nor timed out
    recoverable: int = 0  # of them, right for another consumer


def find_format_ceilings(census: Census) -> Iterator[Draft]:
    """Give one draft per column that loses judged predictions to shapes that another consumer reads."""
    losses: dict[tuple[str, int], _Loss] = defaultdict(_Loss)
    apart = {field: siblings(census.context, field) for field in census.context.readers}
    for field, pattern, statuses, sound, count in census.query(
        "SELECT c.field, pattern, statuses, sound, sum(n) FROM f_cells c JOIN f_groups ON grp = p_grp GROUP BY ALL"
    ):
        soundly = census.sound_pattern(field, pattern, sound)
        for position, consumer in enumerate(census.readers(field)):
            own, others = statuses[census.context.index[consumer]], others_of(soundly, apart[field][position])
            if pattern[position] in "rndct" and own in "rndct":
                loss = losses[field, position]
                loss.not_read += int(count)
                loss.refused += int(count) if own in "rnd" and pattern[position] in "rnd" else 0
                loss.recoverable += int(count) if "o" in others else 0
                loss.is_capped |= own in "rnd" and pattern[position] in "rnd" and bool(set(others) & set("ow"))
    capped = {place: loss for place, loss in losses.items() if loss.is_capped}
    shapes = _shapes(census) if capped else {}
    for (field, position), loss in sorted(losses.items(), key=lambda item: item[0]):
        column = census.context.column(field, census.readers(field)[position])
        if loss.is_capped:
            yield _draft(census, field, position, loss, shapes[field, position])
        elif loss.refused and loss.not_read == column.lost_to_shape and not column.accepted:
            yield _draft_of_nothing(census, field, position)


def _draft(census: Census, field: str, position: int, loss: _Loss, shapes: Shapes) -> Draft:
    consumer = census.readers(field)[position]
    apart = siblings(census.context, field)[position]
    others = [name for place, name in enumerate(census.readers(field)) if place not in (position, *apart)]
    status = status_of(census.context.index[consumer])
    cases = f"{verdict_of(position)} IN ('r', 'n', 'd') AND regexp_matches({letters_but(census, field, apart)}, '[ow]')"
    own = f"s{census.context.index[consumer]} IN ('r', 'n', 'd') AND {_read_soundly(census, others)}"
    strings, units = of_predictions(census, field, cases, own)
    return Draft(
        code=CODE,
        severity="high" if loss.recoverable else "medium",
        field=field,
        consumers=(consumer,),
        title=f"{consumer} can be right on {field} {_at_most(census, field, consumer, loss)}:"
        " it refuses written forms that another consumer reads",
        detail=f"{_lost(loss.recoverable)} The column measures the shape of the output as much as its content.",
        cause=f"The parser of {consumer} knows fewer forms than the model writes and {listed(others)} can read.",
        fixes=(
            _ask_for(census, field, consumer, shapes),
            f"Teach {consumer} the refused forms.",
            f"Normalise {field} once, before {consumer}.",
        ),
        fingerprint=fingerprint(CODE, field, (consumer,)),
        groups=f"field = {sql.text(field)} AND {status} IN ('r', 'n', 'd') AND {READ_SOUNDLY}",
        role="prediction",
        cases=cases,
        units=units,
        strings=strings,
        shapes=shapes,
    )


def _read_soundly(census: Census, consumers: Sequence[str]) -> str:
    """Write the condition on `own_outcomes` that one of some consumers takes a value, and not by accident."""
    if not census.accidental:
        return "true"
    read = (
        f"(s{census.context.index[name]} = 'v' AND ({census.accidental.get(name, 'false')}) IS NOT true)"
        for name in consumers
    )
    return f"({' OR '.join(read) or 'false'})"


def letters_but(census: Census, field: str, apart: Sequence[int]) -> str:
    """Write the SQL for the letters of a pattern without those of some positions."""
    if not apart:
        return "pattern"
    kept = (place for place in range(len(census.readers(field))) if place not in apart)
    return " || ".join(verdict_of(place) for place in kept) or "''"


def _draft_of_nothing(census: Census, field: str, position: int) -> Draft:
    """Draft what no other consumer shows: a column whose consumer takes no prediction at all."""
    consumer = census.readers(field)[position]
    column, status = census.context.column(field, consumer), status_of(census.context.index[consumer])
    cases = f"{verdict_of(position)} IN ('r', 'n', 'd')"
    strings, units = of_predictions(census, field, cases, "true")
    return Draft(
        code=CODE,
        severity="medium",
        field=field,
        consumers=(consumer,),
        title=f"{consumer} takes none of the {plural(column.lost_to_shape, 'prediction')} of {field}",
        detail="The column is at 0 % whatever the model writes in these shapes, and no other consumer reads them"
        f"{', but for those that give a value to anything' if census.accidental else ''}.",
        cause=f"Either {consumer} is not called as in production (another function, another `receives`, a filter of the"
        " SQL model that the audited rows cannot pass), or the model writes no value of this field.",
        fixes=(
            f"Look at one string: auditor read {field} STRING. What should {consumer} make of it?",
            f"Check what the spec says of {consumer}: `reads`, `receives`, `root`, `model`.",
            f"Teach {consumer} the shapes, or ask the model for one that it reads.",
        ),
        fingerprint=fingerprint(CODE, field, (consumer,)),
        groups=f"field = {sql.text(field)} AND {status} IN ('r', 'n', 'd')",
        role="prediction",
        cases=cases,
        units=units,
        strings=strings,
        shapes_as="rejected",
    )


def _at_most(census: Census, field: str, consumer: str, loss: _Loss) -> str:
    """Say the ceiling of the column, and what it would be if no other field spoiled a payload."""
    columns = census.context.arm_columns(field, consumer)
    if any(column.arm for column in columns):
        said = [f"{percent_of(one.accepted, one.judged)} % for {one.arm}" for one in columns if one.ceiling is not None]
        return f"at most {listed(said)} of the time" if said else "only part of the time"
    (column,) = columns
    if column.ceiling is None:
        return "only part of the time"
    ceiling = percent_of(column.accepted, column.judged)
    alone = percent_of(column.accepted + column.lost_to_shape - loss.not_read, column.judged)
    otherwise = "" if alone == ceiling else f" ({alone} % if no other field spoiled its payload)"
    return f"at most {ceiling} % of the time{otherwise}"


def _lost(recoverable: int) -> str:
    if not recoverable:
        return "None of the predictions that it loses is right for another consumer."
    verb = "is" if recoverable == 1 else "are"
    return f"{plural(recoverable, 'prediction')} that it loses {verb} right for another consumer."


def _ask_for(census: Census, field: str, consumer: str, shapes: Shapes) -> str:
    refused = Counter(shapes["rejected"]) + Counter(shapes["read by nobody"])
    apart = cases_read_apart(census, field)
    alike = {shape: cases for shape, cases in shapes["accepted"].items() if apart[shape] <= cases * FEW}
    best = best_shape(census, field, consumer, alike, refused)
    best = best or best_shape(census, field, consumer, shapes["accepted"], refused)
    if best is None:
        return f"Choose one form that {consumer} always reads, and ask the model for it: none seen is such a form."
    field_type = census.context.spec.fields[field].type
    if field_type == "boolean" and best.startswith("JSON "):
        return f"Ask the model for the JSON values true and false, which {consumer} reads."
    if field_type in ("boolean", "category"):
        return f"Ask the model for a word that {consumer} reads, such as {example_of(census, field, consumer, best)}."
    some = f", of which it refuses {plural(refused[best], 'string')} here" if refused[best] else ""
    warning = "" if best in alike else " Other consumers read it as other values: see the value disagreements of it."
    return f"Ask the model for a form that {consumer} reads: {shape_name(best)}{some}.{warning}"


def _shapes(census: Census) -> dict[tuple[str, int], Shapes]:
    """Count judged cases by column and shape: accepted, refused here but read elsewhere, refused by all.

    What was lost with its payload counts by what the consumer makes of the string by itself.
    """
    columns = ", ".join(
        f"({sql.text(field)}, {place}, {census.context.index[consumer]})"
        for field, readers in census.context.readers.items()
        for place, consumer in enumerate(readers)
    )
    label = (
        "CASE WHEN letter IN ('o', 'w') THEN 'accepted' WHEN letter NOT IN ('r', 'n', 'd', 'c', 't') THEN NULL"
        " WHEN own = 'v' THEN 'accepted' WHEN own NOT IN ('r', 'n', 'd') THEN NULL"
        " WHEN is_read THEN 'rejected' ELSE 'read by nobody' END"
    )
    cells = (
        "SELECT c.field, shape, pattern, statuses, sum(n) AS n,"
        f" regexp_matches(pattern, '[ow]') AND {READ_SOUNDLY} AS is_read"
        " FROM f_cells c JOIN f_groups ON grp = p_grp GROUP BY ALL"
    )
    letters = (
        "SELECT field, place, shape, is_read, n, substr(pattern, place + 1, 1) AS letter,"
        f" substr(statuses, number + 1, 1) AS own FROM ({cells})"
        f" JOIN (VALUES {columns}) readers(field, place, number) USING (field)"
    )
    counts = (
        f"SELECT field, place, {label} AS label, shape, sum(n) AS cases FROM ({letters})"
        " WHERE label IS NOT NULL GROUP BY ALL"
    )
    rank = "row_number() OVER (PARTITION BY field, place, label ORDER BY cases DESC, shape)"
    ranked = f"SELECT *, {rank} AS rank FROM ({counts})"
    listed_shape = f"CASE WHEN rank <= {SHAPES} THEN shape ELSE {sql.text(OTHER_SHAPES)} END"
    found: dict[tuple[str, int], Shapes] = defaultdict(lambda: {label: {} for label in _LABELS})
    for field, place, group, shape, cases in census.query(
        f"SELECT field, place, label, {listed_shape} AS listed, sum(cases) FROM ({ranked})"
        " GROUP BY ALL ORDER BY field, place, label, min(rank)"
    ):
        found[field, place][group][shape] = int(cases)
    return found
