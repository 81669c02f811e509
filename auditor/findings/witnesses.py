"""Witnesses: the raw values that show a finding, each with what every reader of the field makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from auditor.findings import sql
from auditor.findings.census import Census
from auditor.findings.draft import Role
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


@dataclass
class WitnessBook:
    """The strings that some finding shows, looked up once for all findings."""

    witnesses: dict[int, Witness] = field(default_factory=dict)
    roles: dict[int, tuple[bool, bool]] = field(default_factory=dict)

    @classmethod
    def of(cls, census: Census, units: Sequence[int]) -> WitnessBook:
        """Look up the strings of some units, their decodings and an example case."""
        book = cls()
        if units:
            errors = _errors(census, units)
            examples = _examples(census, units)
            ids = census.context.case_ids(sorted({row for _, row in examples.values() if row is not None}))
            for row in _outcomes(census, units):
                unit, field_name, token, *roles = row[:5]
                rows, first = examples.get(unit, (0, None))
                book.roles[unit] = (bool(roles[0]), bool(roles[1]))
                book.witnesses[unit] = _shortened(
                    Witness(
                        raw=token,
                        decodings=_decodings(census, field_name, row[5:], errors.get(unit, {})),
                        case_id=None if first is None else ids.get(first),
                        rows=rows,
                    )
                )
        return book

    def witness(self, unit: int, role: Role, note: str) -> Witness:
        """Give the witness of a unit in the role that a finding shows it in."""
        is_prediction, _ = self.roles[unit]
        shown = role if role != "either" else ("prediction" if is_prediction else "reference")
        witness = self.witnesses[unit]
        return replace(witness, role=shown, note="; ".join(part for part in (witness.note, note) if part))


def probe_witness(outcomes: Sequence[ProbeOutcome], note: str = "") -> Witness:
    """Give the witness of one probe string, with the outcomes that several consumers had with it."""
    decodings = {
        outcome.consumer: Decoding(STATUS_OF[outcome.status], outcome.value, outcome.error)  # type: ignore[arg-type]
        for outcome in outcomes
    }
    return _shortened(Witness(raw=outcomes[0].probe.token, decodings=decodings, role="probe", note=note))


def _outcomes(census: Census, units: Sequence[int]) -> list[tuple[Any, ...]]:
    numbers = sorted(census.context.index.values())
    columns = "".join(f", s{number}, v{number}" for number in numbers)
    return census.query(
        f"SELECT unit, field, token, role_prediction, role_reference{columns} FROM outcomes"
        f" WHERE unit IN {sql.numbers(units)}"
    )


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


def _examples(census: Census, units: Sequence[int]) -> dict[int, tuple[int, int | None]]:
    """Give, for each unit, the number of its cases and the row of one: the first whose prediction it is, if any."""
    listed = sql.numbers(units)
    uses = (
        f"SELECT p_unit AS unit, n, first_row, 0 AS side FROM judged WHERE p_unit IN {listed} UNION ALL"
        f" SELECT r_unit, n, first_row, 1 FROM judged WHERE r_unit IN {listed} AND r_unit IS DISTINCT FROM p_unit"
    )
    return {
        unit: (int(rows), row)
        for unit, rows, row in census.query(
            f"SELECT unit, sum(n), min_by(first_row, (side, first_row < 0, abs(first_row))) FROM ({uses}) GROUP BY unit"
        )
    }


def _shortened(witness: Witness) -> Witness:
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
