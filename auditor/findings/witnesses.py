"""Witnesses: the raw values that show a finding, each with what every reader of the field makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from auditor.findings import sql
from auditor.findings.census import Census
from auditor.findings.draft import Draft
from auditor.findings.probes import ProbeOutcome
from auditor.model.decoding import Decoding
from auditor.model.run import Witness
from auditor.model.verdicts import STATUS_OF

#: As many witnesses as a finding shows.
WITNESSES = 5

#: Characters of a raw value or decoding that a witness shows.
LONGEST = 2000


def units_of(strings: Sequence[Any] | None) -> tuple[int, ...]:
    """Give the units of strings that SQL ranked as (length, token, unit)."""
    rows = (string.values() if isinstance(string, dict) else string for string in strings or ())
    return tuple(int(tuple(row)[-1]) for row in rows)


@dataclass(frozen=True)
class _Example:
    """Where a finding meets a string: in which role, in how many cases, and the first row of one."""

    role: Literal["prediction", "reference"]
    rows: int
    row: int


@dataclass
class WitnessBook:
    """The strings that findings show, each with an example among the cases of its finding, looked up at once."""

    witnesses: dict[int, Witness] = field(default_factory=dict)
    examples: dict[tuple[int, int], _Example] = field(default_factory=dict)
    case_ids: dict[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, census: Census, drafts: Sequence[Draft], shown: Sequence[Sequence[int]]) -> WitnessBook:
        """Look up the strings that each draft shows, their decodings and their example cases."""
        book = cls()
        units = sorted({unit for some in shown for unit in some})
        if units:
            errors = _errors(census, units)
            book.examples = _examples(census, drafts, shown)
            book.case_ids = census.context.case_ids(sorted({example.row for example in book.examples.values()}))
            for unit, field_name, token, *cells in _outcomes(census, units):
                decodings = _decodings(census, field_name, cells, errors.get(unit, {}))
                book.witnesses[unit] = shortened(Witness(raw=token, decodings=decodings))
        return book

    def witness(self, number: int, unit: int, note: str) -> Witness:
        """Give the witness of a unit for the draft of a number."""
        witness, example = self.witnesses[unit], self.examples[number, unit]
        return replace(
            witness,
            case_id=self.case_ids.get(example.row),
            rows=example.rows,
            role=example.role,
            note="; ".join(part for part in (witness.note, note) if part),
        )


def probe_witness(outcomes: Sequence[ProbeOutcome]) -> Witness:
    """Give the witness of one probe string, with the outcomes that several consumers had with it."""
    decodings = {
        outcome.consumer: Decoding(
            STATUS_OF[outcome.status],  # type: ignore[arg-type]
            outcome.value,
            outcome.error,
            warning=outcome.warning,
        )
        for outcome in outcomes
    }
    return shortened(Witness(raw=outcomes[0].probe.token, decodings=decodings, role="probe"))


def _outcomes(census: Census, units: Sequence[int]) -> list[tuple[Any, ...]]:
    numbers = sorted(census.context.index.values())
    columns = "".join(f", s{number}, v{number}" for number in numbers)
    return census.query(f"SELECT unit, field, token{columns} FROM outcomes WHERE unit IN {sql.numbers(units)}")


def _decodings(census: Census, field_name: str, cells: Sequence[Any], errors: dict[int, str]) -> dict[str, Decoding]:
    numbers = sorted(census.context.index.values())
    place = {number: 2 * at for at, number in enumerate(numbers)}
    found = {}
    for consumer in census.readers(field_name):
        number = census.context.index[consumer]
        letter, value = cells[place[number]], cells[place[number] + 1]
        if letter is not None:
            found[consumer] = Decoding(STATUS_OF[letter], value, errors.get(number))  # type: ignore[arg-type]
    return found


def _errors(census: Census, units: Sequence[int]) -> dict[int, dict[int, str]]:
    found: dict[int, dict[int, str]] = {}
    for unit, number, error in census.query(
        f"SELECT unit, consumer, error FROM faults WHERE unit IN {sql.numbers(units)}"
    ):
        found.setdefault(unit, {})[number] = error
    return found


def _examples(
    census: Census, drafts: Sequence[Draft], shown: Sequence[Sequence[int]]
) -> dict[tuple[int, int], _Example]:
    """Give an example of each string among the cases of its draft: the first whose prediction it is, if any."""
    pairs = ", ".join(f"({number}, {unit})" for number, units in enumerate(shown) for unit in units)
    shown_units = f"SELECT draft, unit, unit AS alike FROM (VALUES {pairs}) shown(draft, unit)"
    if census.has_repeats:  # the same string in another payload, where it fared alike
        shown_units = (
            f"SELECT draft, shown.unit, other.unit AS alike FROM (VALUES {pairs}) shown(draft, unit)"
            " JOIN f_strings own ON own.unit = shown.unit JOIN f_strings other USING (grp, text)"
        )
    predicted = sql.numbers(number for number, draft in enumerate(drafts) if draft.role != "reference")
    referred = sql.numbers(number for number, draft in enumerate(drafts) if draft.role != "prediction")
    conditions = {number: drafts[number].cases for number, units in enumerate(shown) if units}
    allowed = "".join(f" WHEN {number} THEN {cases}" for number, cases in conditions.items() if cases != "true")
    columns = "draft, unit, n, first_row, place, pattern"
    uses = (
        f"SELECT {columns}, 0 AS side FROM shown JOIN judged ON p_unit = alike WHERE draft IN {predicted} UNION ALL"
        f" SELECT {columns}, 1 FROM shown JOIN judged ON r_unit = alike WHERE draft IN {referred}"
        f" AND (r_unit IS DISTINCT FROM p_unit OR (draft IN {predicted}) IS NOT TRUE)"
    )
    where = f" WHERE CASE draft{allowed} ELSE true END" if allowed else ""
    first = "(side, first_row < 0, abs(first_row))"
    return {
        (number, unit): _Example("reference" if side else "prediction", int(rows), row)
        for number, unit, rows, row, side in census.query(
            f"WITH shown AS ({shown_units}), uses AS ({uses})"
            f" SELECT draft, unit, sum(n), min_by(first_row, {first}), min(side) FROM uses{where} GROUP BY ALL"
        )
    }


def shortened(witness: Witness) -> Witness:
    """Cut what is too long for a report, and say so."""
    note = witness.note
    if len(witness.raw) > LONGEST:
        note = "; ".join(
            part for part in (note, f"raw value cut at {LONGEST:,} of {len(witness.raw):,} characters") if part
        )
    decodings = {
        consumer: replace(decoding, value=_cut(decoding.value), error=_cut(decoding.error))
        for consumer, decoding in witness.decodings.items()
    }
    return replace(witness, raw=_cut(witness.raw) or "", decodings=decodings, note=note)


def _cut(text: str | None) -> str | None:
    return text if text is None or len(text) <= LONGEST else text[:LONGEST] + "…"
