"""Turns drafts into findings: counts cases and strings and picks the shortest witnesses, for all drafts at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from auditor.findings import sql
from auditor.findings.advice import OTHER_SHAPES
from auditor.findings.census import SUPPORTED, Census
from auditor.findings.draft import Draft
from auditor.findings.witnesses import WITNESSES, WitnessBook, units_of
from auditor.model.figures import plural
from auditor.model.run import Finding, Witness

#: As many shapes as a finding lists one by one; the rest are counted together.
SHAPES = 20


@dataclass
class _Measure:
    """What the data say about one draft."""

    inside: int = 0  # cases in support
    outside: int = 0  # cases outside it
    strings: int = 0
    predictions: int = 0  # cases in support whose prediction is such a string
    references: int = 0  # cases in support whose reference is one

    @property
    def affected(self) -> int:
        """Cases in support; where there are none, those outside it."""
        return self.inside or self.outside

    @property
    def is_seen(self) -> bool:
        """Some case has such a string, whether or not it affects what is scored."""
        return bool(self.inside or self.outside or self.references)

    units: tuple[int, ...] = ()
    by_arm: Counter[str] = field(default_factory=Counter)  # affected cases
    shapes: dict[str, int] = field(default_factory=dict)


def complete(census: Census, drafts: Sequence[Draft]) -> list[Finding]:
    """Give the findings of drafts, in the same order; a draft about no case and no probe says nothing."""
    measures = _measured(census, drafts)
    shown = [draft.units or measure.units for draft, measure in zip(drafts, measures, strict=True)]
    book = WitnessBook.of(census, drafts, shown)
    support = {
        name: int(count or 0)
        for name, count in census.query(f"SELECT field, sum(n) FILTER ({SUPPORTED}) FROM f_cells GROUP BY field")
    }
    return [
        _finding(
            census,
            draft,
            measure,
            [book.witness(number, unit, draft.notes.get(unit, "")) for unit in shown[number]],
            support.get(draft.field, 0),
        )
        for number, (draft, measure) in enumerate(zip(drafts, measures, strict=True))
        if measure.is_seen or draft.witnesses
    ]


def _measured(census: Census, drafts: Sequence[Draft]) -> list[_Measure]:
    measures = [
        _Measure(draft.affected - draft.affected_outside, draft.affected_outside, draft.strings or 0)
        for draft in drafts
    ]
    grouped = [number for number, draft in enumerate(drafts) if draft.groups]
    if grouped:
        _match_groups(census, drafts, grouped)
        _count_cases(census, drafts, measures)
        _count_strings(census, drafts, measures)
        _count_shapes(census, drafts, measures)
        _choose_units(census, drafts, measures)
    return measures


def _match_groups(census: Census, drafts: Sequence[Draft], grouped: Sequence[int]) -> None:
    """Write down which groups and which cells each draft is about."""
    wanted = " UNION ALL ".join(
        f"SELECT {number} AS draft, grp FROM f_groups WHERE {drafts[number].groups}" for number in grouped
    )
    census.query(f"CREATE OR REPLACE TEMP TABLE f_wanted AS {wanted}")
    by_prediction = sql.numbers(number for number in grouped if drafts[number].role != "reference")
    by_reference = sql.numbers(number for number in grouped if drafts[number].role != "prediction")
    conditions = {number: drafts[number].cases for number in grouped if drafts[number].cases != "true"}
    allowed = "".join(f" WHEN {number} THEN {condition}" for number, condition in conditions.items())
    where = f"CASE draft{allowed} ELSE true END" if allowed else "true"
    census.query(
        "CREATE OR REPLACE TEMP TABLE f_matches AS SELECT draft, cell, grp, is_reference FROM ("
        " SELECT draft, cell, grp, pattern, false AS is_reference FROM f_wanted JOIN f_cells ON p_grp = grp"
        f" WHERE draft IN {by_prediction} UNION ALL"
        " SELECT draft, cell, grp, pattern, true FROM f_wanted JOIN f_cells ON r_grp = grp"
        f" WHERE draft IN {by_reference}) WHERE {where}"
    )


def _count_cases(census: Census, drafts: Sequence[Draft], measures: Sequence[_Measure]) -> None:
    """Count the cases of each draft, a case with two such strings once, and apart by which of the two it is."""
    cells = "SELECT draft, cell, bool_or(NOT is_reference) AS given, bool_or(is_reference) AS asserted"
    for number, given, is_inside, arm, cases, asserted in census.query(
        f"SELECT draft, given, {SUPPORTED} AS is_inside, arm, sum(n), coalesce(sum(n) FILTER (asserted), 0)"
        f" FROM ({cells} FROM f_matches GROUP BY ALL) JOIN f_cells USING (cell) GROUP BY ALL"
    ):
        measure = measures[number]
        if is_inside:
            measure.predictions += int(cases) if given else 0
            measure.references += int(asserted)
        if given or not drafts[number].by_prediction:
            measure.inside += int(cases) if is_inside else 0
            if arm is not None and is_inside:
                measure.by_arm[arm] += int(cases)
            measure.outside += 0 if is_inside else int(cases)


def _count_strings(census: Census, drafts: Sequence[Draft], measures: Sequence[_Measure]) -> None:
    by_prediction = sql.numbers(number for number, draft in enumerate(drafts) if draft.role == "prediction")
    counts = f"CASE WHEN draft IN {by_prediction} THEN predicted ELSE strings END"
    for number, strings in census.query(
        f"SELECT draft, sum({counts}) FROM f_wanted JOIN f_groups USING (grp) GROUP BY draft"
    ):
        if drafts[number].strings is None:
            measures[number].strings = int(strings)


def _count_shapes(census: Census, drafts: Sequence[Draft], measures: Sequence[_Measure]) -> None:
    """Count cases by shape; a case whose prediction and reference have different shapes counts under both.

    Counted are the cases that are affected; where there are none, those that show such a string all the same.
    """
    in_support = sql.numbers(number for number, measure in enumerate(measures) if measure.inside)
    of_predictions = sql.numbers(
        number for number, draft in enumerate(drafts) if draft.by_prediction and measures[number].affected
    )
    by_form = sql.numbers(number for number, draft in enumerate(drafts) if draft.listed == "form")
    listed = f"CASE WHEN draft IN {by_form} THEN form ELSE shape END"
    shaped = (
        f"SELECT DISTINCT draft, cell, {listed} AS shape FROM f_matches JOIN f_groups USING (grp)"
        f" WHERE NOT (is_reference AND coalesce(draft IN {of_predictions}, false))"
    )
    counts = (
        f"SELECT draft, shape, sum(n) AS cases FROM ({shaped}) JOIN f_cells USING (cell)"
        f" WHERE {SUPPORTED} OR (draft IN {in_support}) IS NOT TRUE GROUP BY ALL"
    )
    ranked = f"SELECT *, row_number() OVER (PARTITION BY draft ORDER BY cases DESC, shape) AS place FROM ({counts})"
    for number, shape, cases in census.query(
        f"SELECT draft, CASE WHEN place <= {SHAPES} THEN shape ELSE {sql.text(OTHER_SHAPES)} END AS listed, sum(cases)"
        f" FROM ({ranked}) GROUP BY ALL ORDER BY draft, min(place)"
    ):
        measures[number].shapes[shape] = int(cases)


def _choose_units(census: Census, drafts: Sequence[Draft], measures: Sequence[_Measure]) -> None:
    """Choose the shortest strings of each draft: first the shortest of each group, then of those."""
    best = f"min((length(token), token, unit), {WITNESSES})"
    filters = {"either": "true", "prediction": "role_prediction", "reference": "role_reference"}
    roles = sorted({draft.role for draft in drafts if draft.groups})
    columns = ", ".join(f"{best} FILTER ({filters[role]}) AS {role}" for role in roles)
    shortest = f"SELECT grp, {columns} FROM ({_wanted_rows(census)}) GROUP BY grp"
    census.query(f"CREATE OR REPLACE TEMP TABLE f_shortest AS {shortest}")
    for role in roles:
        of_role = sql.numbers(number for number, draft in enumerate(drafts) if draft.groups and draft.role == role)
        matched = f"(SELECT DISTINCT draft, grp FROM f_matches WHERE draft IN {of_role})"
        strings = f"SELECT draft, unnest({role}) AS string FROM {matched} JOIN f_shortest USING (grp)"
        for number, found in census.query(f"SELECT draft, min(string, {WITNESSES}) FROM ({strings}) GROUP BY draft"):
            measures[number].units = units_of(found)


def _wanted_rows(census: Census) -> str:
    """Select the strings of all groups that some draft is about, each once per group."""
    rows = "SELECT grp, unit, token, role_prediction, role_reference FROM f_strings JOIN own_outcomes USING (unit)"
    rows += " WHERE grp IN (SELECT grp FROM f_wanted)"
    if not census.has_repeats:
        return rows
    return (
        "SELECT grp, token, min_by(unit, (NOT role_prediction, unit)) AS unit,"
        " bool_or(role_prediction) AS role_prediction, bool_or(role_reference) AS role_reference"
        f" FROM ({rows}) GROUP BY grp, token"
    )


def _finding(census: Census, draft: Draft, measure: _Measure, witnesses: Sequence[Witness], support: int) -> Finding:
    shapes = {draft.shapes_as: measure.shapes} if draft.shapes_as and measure.shapes else draft.shapes
    return Finding(
        code=draft.code,
        severity=draft.severity,
        field=draft.field,
        consumers=draft.consumers,
        owners=census.context.owners(draft.consumers),
        title=draft.title,
        detail=f"{draft.detail} {_extent(draft, measure)}{_of_arms(measure)}",
        cause=draft.cause,
        fixes=draft.fixes,
        affected=measure.affected,
        share=_share(measure, support),
        fingerprint=draft.fingerprint,
        witnesses=_first_witnesses(witnesses, draft.witnesses),
        shapes=shapes,
        location=draft.location,
        affected_by_arm=dict(sorted(measure.by_arm.items())),
    )


def _first_witnesses(of_data: Sequence[Witness], of_probes: Sequence[Witness]) -> tuple[Witness, ...]:
    """Keep the first witnesses, at least two of them of probes where a finding rests on probes."""
    room = WITNESSES - min(2, len(of_probes))
    kept = list(of_data[:room])
    return (*kept, *of_probes[: WITNESSES - len(kept)])


def _share(measure: _Measure, support: int) -> float | None:
    """Give the part of support that is affected; None where all that is affected lies outside it."""
    if not support or (not measure.inside and measure.outside):
        return None
    return measure.inside / support


def _of_arms(measure: _Measure) -> str:
    """Say how many of the cases each arm has: a case counts once for each arm that answers it."""
    listed = ", ".join(f"{arm} {count:,}" for arm, count in sorted(measure.by_arm.items()))
    return f" Cases by arm: {listed}." if listed else ""


def _extent(draft: Draft, measure: _Measure) -> str:
    """Say how many strings and cases there are: predictions and references apart, and those outside support."""
    strings = f"{plural(measure.strings, 'distinct string')}, " if measure.strings else ""
    if draft.by_prediction and measure.references and not measure.affected:
        return f"{strings}{plural(measure.references, 'reference')}; no prediction of this data set is such a string."
    if not measure.affected and measure.strings:
        return f"{strings}all of them references that no consumer is sent here; no case of this data set is affected."
    if not measure.affected:
        return "No case of this data set is affected; the probes show it."
    if not measure.inside:
        return f"{strings}{plural(measure.outside, 'case')} outside support."
    cases = plural(measure.inside, "case")
    if measure.references and draft.by_prediction:
        cases = f"{plural(measure.predictions, 'case')} by their predictions;"
        cases += f" {plural(measure.references, 'reference')} of the same kind, which no consumer is sent"
    elif measure.references and measure.predictions:
        cases += f": {plural(measure.predictions, 'prediction')}, {plural(measure.references, 'reference')}"
    elif measure.references:
        cases += ", by their references"
    outside = f", and {plural(measure.outside, 'case')} outside support" if measure.outside else ""
    return f"{strings}{cases}{outside}."
