"""A consumer that loads whole columns reads a string otherwise in other company: other rows, or another order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from auditor.findings import sql
from auditor.findings.census import Census
from auditor.findings.draft import Draft, Role, fingerprint
from auditor.findings.strings import pick
from auditor.findings.witnesses import WITNESSES
from auditor.judge.keys import refused_value
from auditor.model.dependence import Answer
from auditor.model.figures import plural
from auditor.model.neighbours import Moved, NeighbourMove, NeighbourProbe
from auditor.model.verdicts import STATUS_OF

ORDER_CODE: Moved = "order-dependent"
NEIGHBOUR_CODE: Moved = "neighbour-dependent"

#: Ways of varying a batch that a detail names one by one.
NAMED = 6

#: Characters of an error in a note.
LONGEST = 120

_MOMENTS = ("date", "datetime")


@dataclass(frozen=True)
class _Column:
    """What the probes of both roles say about one consumer's reading of a field."""

    census: Census
    field: str
    consumer: str
    probes: tuple[NeighbourProbe, ...]

    def moves(self, code: Moved) -> list[NeighbourMove]:
        """Give the strings that moved for one reason, those with the smallest proof first."""
        moves = [move for probe in self.probes for move in probe.moved(code)]
        return sorted(moves, key=lambda move: (not move.smallest, len(move.token), move.token))

    @property
    def type(self) -> str:
        return self.census.context.spec.fields[self.field].type


def find_neighbour_dependence(census: Census) -> Iterator[Draft]:
    """Give at most two drafts per column that is read in batches: the order of the rows, and which rows there are."""
    columns: dict[tuple[str, str], list[NeighbourProbe]] = {}
    for probe in census.context.neighbours:
        columns.setdefault((probe.field, probe.consumer), []).append(probe)
    for (field, consumer), probes in columns.items():
        column = _Column(census, field, consumer, tuple(probes))
        if column.moves(ORDER_CODE):
            yield _order_draft(column)
        if column.moves(NEIGHBOUR_CODE):
            yield _neighbour_draft(column)


def _order_draft(column: _Column) -> Draft:
    moves = column.moves(ORDER_CODE)
    return _draft(
        column,
        ORDER_CODE,
        title=f"{column.consumer} reads the same rows of {column.field} otherwise in another order: {_says(moves[0])}",
        detail=f"No row was added or taken away. {_varied(column, ORDER_CODE)}",
        cause=company_cause(column.type, ORDER_CODE),
    )


def _neighbour_draft(column: _Column) -> Draft:
    moves = column.moves(NEIGHBOUR_CODE)
    return _draft(
        column,
        NEIGHBOUR_CODE,
        title=f"{column.consumer} reads {column.field} by what else is in the batch: {_says(moves[0])}",
        detail=f"One string has two readings, and the rows beside it decide. {_varied(column, NEIGHBOUR_CODE)}",
        cause=company_cause(column.type, NEIGHBOUR_CODE),
    )


def _draft(column: _Column, code: Moved, *, title: str, detail: str, cause: str) -> Draft:
    moves = column.moves(code)
    role = _role(column, code)
    units = sql.numbers(unit for move in moves for unit in move.units)
    picked = pick(column.census, column.field, f"unit IN {units}", role)
    return Draft(
        code=code,
        severity="high",
        field=column.field,
        consumers=(column.consumer,),
        title=title,
        detail=detail,
        cause=cause,
        fixes=_fixes(column.type),
        fingerprint=fingerprint(code, column.field, (column.consumer,)),
        units=tuple(move.units[0] for move in moves[:WITNESSES]),
        affected=picked.affected,
        affected_outside=picked.outside,
        strings=len({move.token for move in moves}),
        role=role,
        notes={move.units[0]: _note(move) for move in moves[:WITNESSES]},
    )


def _role(column: _Column, code: Moved) -> Role:
    roles = {probe.role for probe in column.probes if probe.moved(code)}
    return "either" if len(roles) > 1 else roles.pop()


def _cut(column: _Column) -> str:
    """Say in how many rows at a time production, and so the base, reads a batch."""
    size = column.census.context.spec.consumers[column.consumer].batch_size
    return f", read {plural(size, 'row')} at a time" if size else ""


def _varied(column: _Column, code: Moved) -> str:
    """Say what the base was, what was varied, and that nothing else was."""
    said = []
    for probe in column.probes:
        if probe.moved(code):
            sample = f" (of {probe.of_rows:,}; distinct strings of every form)" if probe.rows < probe.of_rows else ""
            said.append(
                f"The base is the batch of {plural(probe.rows, probe.role)}{sample} in file order{_cut(column)}; "
                f"{len(probe.moved(code)):,} of {plural(probe.strings, 'distinct string')} came out otherwise in at "
                f"least one of {len(probe.tried)} other batches, twice alike each time: {_ways(probe, code)}."
            )
            if probe.spoilers:
                said.append(f"Rows that are refused alone too were left out of it, such as {probe.spoilers[0]}.")
    return " ".join(said)


def _ways(probe: NeighbourProbe, code: Moved) -> str:
    """Name the ways that moved something, the most telling first."""
    ways = list(dict.fromkeys(move.readings[1][0] for move in probe.moved(code)))
    more = f" and {len(ways) - NAMED} more" if len(ways) > NAMED else ""
    return "; ".join(ways[:NAMED]) + more


def _says(move: NeighbourMove) -> str:
    (first, was), (second, became) = move.shown
    return f"{move.token} is {_shown(was)} {_among(first)} and {_shown(became)} {_among(second)}"


def _among(company: str) -> str:
    """Write a company so that it ends a phrase."""
    return company if company.split(" ")[0] in ("alone", "after", "before") else f"({company})"


def _note(move: NeighbourMove) -> str:
    readings = (*move.smallest, move.readings[1]) if move.smallest else move.readings
    unique = dict.fromkeys(f"{company}: {_shown(answer)}{_why(answer)}" for company, answer in readings)
    return "; ".join(unique)


def _why(answer: Answer) -> str:
    """Give the first line of an error."""
    line = (answer.error or "").split("\n")[0]
    return f" ({line if len(line) <= LONGEST else line[:LONGEST] + '…'})" if line and answer.letter != "n" else ""


def _shown(answer: Answer) -> str:
    refused = refused_value(answer.error)
    return answer.text or STATUS_OF[answer.letter] + ("" if refused is None else f" as {refused}")


def company_cause(field_type: str, code: Moved) -> str:
    """Say how a load comes to read a string of a type by the rows beside it."""
    what = "the rows that come first" if code == ORDER_CODE else "the other rows"
    if field_type in _MOMENTS:
        return (
            f"The format is inferred from {what}: the first row, a sample, or the whole column decides whether the day "
            "or the month comes first, and what does not fit becomes null, text or an error."
        )
    return f"The type of the column is inferred from {what}: one other row makes numbers of texts, or texts of numbers."


def _fixes(field_type: str) -> tuple[str, ...]:
    if field_type in _MOMENTS:
        return (
            "Name the format, so that nothing is inferred: to_datetime(rows, format=...), str.to_date(format), "
            "read_csv with the date format and the type of the column.",
            "Ask the model for ISO dates, name that format, and refuse all else.",
            "Parse each row alone with a strict parser.",
        )
    return (
        "Name the type of the column, so that nothing is inferred: dtype or schema, and no sample.",
        "Load the column as text and convert each row alone, refusing what is no value.",
    )
