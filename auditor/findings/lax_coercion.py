"""A consumer that receives JSON takes a JSON type other than the field's for a value."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from auditor.findings import sql
from auditor.findings.census import Census, status_of
from auditor.findings.draft import Draft, fingerprint
from auditor.findings.probes import ProbeOutcome
from auditor.findings.witnesses import probe_witness
from auditor.findings.words import listed
from auditor.spec.models import FieldType

CODE = "lax-coercion"

_ANY_NUMBER = frozenset({"string", "whole number", "number", "object", "array"})

#: The JSON types that a field of each type may have; decimals are numbers or, to keep their digits, strings.
ALLOWED: dict[FieldType, frozenset[str]] = {
    "date": frozenset({"string"}),
    "datetime": frozenset({"string"}),
    "money": _ANY_NUMBER,
    "decimal": _ANY_NUMBER,
    "quantity": _ANY_NUMBER,
    "integer": frozenset({"whole number"}),
    "ordinal": frozenset({"whole number"}),
    "boolean": frozenset({"boolean"}),
    "category": frozenset({"string"}),
    "identifier": frozenset({"string"}),
}


def find_lax_coercions(census: Census) -> Iterator[Draft]:
    """Give one draft per column that accepts other JSON types, by the predictions and by the probes."""
    of_data = _forms_of_data(census)
    of_probes = _probes_by_column(census)
    for field, consumer in sorted(of_data.keys() | of_probes.keys()):
        yield _draft(census, field, consumer, of_data[field, consumer], of_probes[field, consumer])


def _forms_of_data(census: Census) -> dict[tuple[str, str], set[str]]:
    """Give the JSON types that each column accepts among predictions, and should not."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for field, form, statuses in census.query(
        "SELECT DISTINCT g.field, form, statuses FROM f_cells JOIN f_groups g ON grp = p_grp"
        " WHERE form <> '' AND contains(statuses, 'v')"
    ):
        for consumer in census.readers(field):
            number = census.context.index[consumer]
            is_lax = statuses[number] == "v" and form not in ALLOWED[census.context.spec.fields[field].type]
            if is_lax and _receives_json(census, consumer) and not _is_member(census, field, number, form):
                found[field, consumer].add(form)
    return found


def _is_member(census: Census, field: str, number: int, form: str) -> bool:
    """Tell whether a category has members of this JSON type, so that nothing was coerced."""
    if census.context.spec.fields[field].type != "category":
        return False
    of_form = f"field = {sql.text(field)} AND form = {sql.text(form)} AND {status_of(number)} = 'v'"
    coerced = census.query(
        "SELECT 1 FROM own_outcomes JOIN f_strings USING (unit)"
        f" WHERE grp IN (SELECT grp FROM f_groups WHERE {of_form}) AND starts_with(v{number}, 'text:') LIMIT 1"
    )
    return not coerced


def _probes_by_column(census: Census) -> dict[tuple[str, str], list[ProbeOutcome]]:
    found: dict[tuple[str, str], list[ProbeOutcome]] = defaultdict(list)
    for outcome in census.context.probes:
        kept_type = census.context.spec.fields[outcome.field].type == "category" and not str(outcome.value).startswith(
            "text:"
        )
        if outcome.probe.kind == "json_type" and outcome.status == "v" and not kept_type:
            found[outcome.field, outcome.consumer].append(outcome)
    return found


def _receives_json(census: Census, consumer: str) -> bool:
    return census.context.spec.consumers[consumer].receives != "text"


def _draft(census: Census, field: str, consumer: str, of_data: set[str], of_probes: list[ProbeOutcome]) -> Draft:
    field_type = census.context.spec.fields[field].type
    forms = sorted(of_data | {outcome.probe.meaning for outcome in of_probes})
    status = status_of(census.context.index[consumer])
    shown = ", ".join(f"{outcome.probe.token} as {outcome.value}" for outcome in of_probes[:3])
    return Draft(
        code=CODE,
        severity="medium",
        field=field,
        consumers=(consumer,),
        title=f"{consumer} takes other JSON types for {field}, a field of type {field_type}: {listed(forms)}",
        detail=f"{consumer} accepts {listed(forms)} where {_due(field_type)} is due{f' ({shown})' if shown else ''}.",
        cause="The parser coerces: it converts what it is given instead of checking its type.",
        fixes=(
            f"Make {consumer} strict about types (in pydantic: strict mode, or Strict types for this field).",
            f"State the type of {field} in the schema that the model's output is constrained by.",
            "Keep the coercion, if production relies on it, and accept this finding.",
        ),
        fingerprint=fingerprint(CODE, field, (consumer,)),
        groups=f"field = {sql.text(field)} AND form IN {sql.texts(sorted(of_data))} AND {status} = 'v'",
        role="prediction",
        witnesses=tuple(probe_witness([outcome]) for outcome in of_probes),
        shapes_as="accepted JSON types",
        listed="form",
    )


def _due(field_type: FieldType) -> str:
    allowed = ALLOWED[field_type]
    if len(allowed) == 1:
        return f"a JSON {next(iter(allowed))}"
    return "a JSON number or string"
