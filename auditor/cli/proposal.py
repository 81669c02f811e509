"""The spec that `init` proposes for two files of records."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from string import Template

from auditor.cli.guess import Guess, guess_type
from auditor.cli.left_out import is_about_cases, last_of, left_out, places_of
from auditor.cli.log_records import log_sample, with_ids_of
from auditor.cli.records import Sample, find_id, sample
from auditor.errors import LoadError, Mistake
from auditor.judge.typed import CANONICAL, read_typed
from auditor.model.figures import every
from auditor.spec.lines import dotted, quoted
from auditor.spec.models import FieldSpec

_GRAINS = {"date": '"day"', "datetime": '"second"', "money": '"0.01"', "decimal": '"0.01"'}
_CASTS = {
    "date": "date",
    "datetime": "timestamp",
    "decimal": "decimal(18, 2)",
    "integer": "bigint",
    "boolean": "boolean",
}


@dataclass(frozen=True)
class ProposedField:
    """One field of the spec to come; the paths are empty where they are the name."""

    name: str
    guess: Guess
    reader: str  # the line that says who reads the reference
    path: str = ""
    reference_path: str = ""


@dataclass(frozen=True)
class Proposal:
    """The text of an audit.toml; `month_first` says that dates in numbers have the month first."""

    spec: str
    month_first: bool


def propose(predictions: Path, references: Path, folder: Path, template: str, *, with_warehouse: bool) -> Proposal:
    """Write the text of an audit.toml in `folder`, from the template and a look at the files."""
    log = log_sample(predictions)
    other = log if references == predictions else log_sample(references)
    asserted = sample(references, "reference") if other is None else other.references
    if other is not None and not asserted.rows:
        what = f"is a log of {other.format}, which holds no references"
        raise LoadError([Mistake(str(references), what, f"give a file of them: auditor init {predictions} REFERENCES")])
    if log is not None and other is None:
        log, id_name = with_ids_of(log, asserted, references, predictions)
    else:
        id_name = None
    predicted = sample(predictions, "prediction") if log is None else log.predictions
    id_name = id_name or find_id(predicted, asserted)
    if id_name is None:
        what = f"shares no column with {references} that tells the cases apart"
        raise LoadError([Mistake(str(predictions), what, "both need a column such as case_id")])
    fields = _fields(predicted, asserted, id_name)
    if not fields:
        what = (
            f"shares no field with {references}: {', '.join(predicted.names)} here, {', '.join(asserted.names)} there"
        )
        raise LoadError([Mistake(str(predictions), what, "name the columns of both files alike")])
    warehouse = _warehouse(fields)
    spec = Template(template).substitute(
        name=quoted(folder.absolute().name or "audit"),
        predictions=quoted(os.path.relpath(predictions, folder)),
        references=quoted(os.path.relpath(references, folder)),
        id=quoted(id_name),
        completion=_completion(predicted) if log is None else "\n".join([*log.lines, ""]),
        fields="\n".join([*map(_field_table, fields), *_left_out(predicted, asserted, id_name, fields)]),
        reads="".join(f'reads.{dotted((field.name,))} = "parsers:read_{field.guess.type}"\n' for field in fields),
        warehouse=warehouse if with_warehouse else re.sub("^(?=.)", "# ", warehouse, flags=re.MULTILINE),
    )
    orders = {field.guess.month_first for field in fields}
    return Proposal(spec, True in orders and False not in orders)


def _fields(predicted: Sample, asserted: Sample, id_name: str) -> list[ProposedField]:
    """Match names of references with those of predictions: alike, or alike in the last part of a nested name."""
    found: dict[str, ProposedField] = {}
    for reference_path in asserted.names:
        name = last_of(reference_path)
        if reference_path == id_name or is_about_cases(predicted, reference_path) or name in found:
            continue
        nested = places_of(name, predicted)
        path = reference_path if reference_path in predicted.names else nested[0] if len(nested) == 1 else None
        if path is not None:
            found[name] = _proposed(name, path, reference_path, predicted.values(path), asserted.values(reference_path))
    return list(found.values())


def _proposed(
    name: str, path: str, reference_path: str, predictions: list[str], references: list[str]
) -> ProposedField:
    guess = guess_type(references, predictions)
    reader = _reader(name, guess, list(dict.fromkeys(references)))
    return ProposedField(
        name, guess, reader, path if path != name else "", reference_path if reference_path != name else ""
    )


def _reader(name: str, guess: Guess, references: list[str]) -> str:
    """Give the line for `reference`: what is in canonical form is so in every value that was read."""
    if guess.type in ("category", "identifier"):
        return 'reference = "typed"  # the references are taken as they are written'
    described = {"name": name, "type": guess.type} | ({"unit": guess.unit} if guess.unit else {})
    field = FieldSpec.model_validate(described)
    others = [token for token in references if read_typed(field, token)[0] is None]
    if not others:
        seen = every(len(references), "distinct reference")
        return f'reference = "typed"  # {seen} {"is" if len(references) == 1 else "are"} in canonical form'
    return (
        f'reference = "billing"  # {_not_canonical(len(others), len(references))} in canonical form '
        f"({CANONICAL[guess.type]})\n# Name the consumer that reads them as they are meant."
    )


def _not_canonical(count: int, of: int) -> str:
    if count == of:
        return "the one distinct reference is not" if of == 1 else f"none of the {of:,} distinct references is"
    return f"{count:,} of {of:,} distinct references {'is' if count == 1 else 'are'} not"


def _left_out(predicted: Sample, asserted: Sample, id_name: str, fields: list[ProposedField]) -> list[str]:
    places = [(field.name, field.path or field.name, field.reference_path or field.name) for field in fields]
    names = {name for name, _, _ in places}
    return left_out(predicted, asserted, id_name, names, {path for _, *paths in places for path in paths})


def _field_table(field: ProposedField) -> str:
    lines = [f"[fields.{dotted((field.name,))}]", f'type = "{field.guess.type}"  # {field.guess.why}']
    if field.path:
        lines.append(f"path = {quoted(field.path)}")
    if field.reference_path:
        lines.append(f"reference_path = {quoted(field.reference_path)}")
    if field.guess.type in _GRAINS:
        lines.append(f"grain = {_GRAINS[field.guess.type]}")
    if field.guess.unit:
        lines.append(f"unit = {quoted(field.guess.unit)}")
    lines.append(field.reader)
    lines += [f"# {note[0].upper()}{note[1:]}." for note in field.guess.notes]
    return "\n".join(lines) + "\n"


def _completion(predicted: Sample) -> str:
    if predicted.completion is None:
        return ""
    lines = [f"completion = {quoted(predicted.completion)}  # the model's reply: a JSON object"]
    seen = f"of {'the first ' if predicted.is_cut else ''}{len(predicted.rows):,} replies"
    if predicted.malformed:
        lines += [
            f"# {predicted.malformed:,} {seen} hold text around the object, such as a fence: those are `malformed`,",
            "# and no field of them is judged. Ask the model for JSON alone (a JSON mode, a response schema). Where",
            "# production strips the text before it parses, do the same before the replies are recorded.",
        ]
    lines += _finish(predicted, seen)
    if predicted.error:
        lines.append(f"error = {quoted(predicted.error)}  # a reply with a transport error is no answer")
    return "\n".join(lines) + "\n"


def _finish(predicted: Sample, seen: str) -> list[str]:
    if predicted.finish is None:
        return [
            "# no column of finish reasons was found: with one, replies that were cut off or refused are told apart",
            '# finish = "finish_reason"',
            'assume_finish = "stop"  # asserted for all: without it a reply that states no reason is `unknown`',
        ]
    lines = [f"finish = {quoted(predicted.finish)}  # what is cut off or refused is no answer, and no wrong one"]
    if predicted.unfinished:
        lines += [
            f"# {predicted.unfinished:,} {seen} have no finish reason: those are `unknown`, and no field of them is",
            '# judged. assume_finish = "stop" asserts one for them.',
        ]
    return lines


def _warehouse(fields: list[ProposedField]) -> str:
    reads = [
        f'reads.{dotted((field.name,))} = "try_cast({{value}} as {_CASTS[field.guess.type]})"'
        for field in fields
        if field.guess.type in _CASTS
    ]
    if not reads:
        return ""
    head = ["[consumers.warehouse]", 'owner = "data-platform"', 'adapter = "sql"', 'engine = "duckdb"']
    return "\n".join([*head, *reads]) + "\n"
