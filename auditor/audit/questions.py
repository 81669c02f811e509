"""What one consumer is asked of a field's units: each distinct raw value once, or each distinct payload once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from auditor.decode.payload_rows import Role
from auditor.decode.session import Session
from auditor.model.decoding import Decodings

Progress = Callable[[int], None]

#: For each raw value the place of the decoding that answers it, None where it was not asked; None: one to one.
Asked = list[int | None] | None


@dataclass(frozen=True)
class Question:
    """How a consumer is asked of a field.

    Units are by payload where some consumer reads payloads (`units_by_payload`): a raw value then stands in many of
    them. Without `nulls` the JSON null is left out: for a consumer that receives text nothing was given, so nothing is
    read.
    """

    session: Session
    field: str
    units_by_payload: bool
    nulls: bool

    @property
    def in_payloads(self) -> bool:
        """Whether the values are asked in the payloads that they came in."""
        return self.units_by_payload and self.session.readiness.scope_of(self.field) == "payload"

    def ask(
        self, tokens: list[str], payloads: list[str], are_given: Sequence[object], progress: Progress
    ) -> tuple[Decodings, Asked]:
        """Decode a chunk of units; `are_given` says which are predictions, the others are references."""
        if not self.in_payloads:
            strings, asked = self._distinct(tokens)
            return self.session.decode(self.field, strings, progress=progress), asked
        found = Decodings([])
        answers: list[int | None] = [None] * len(tokens)
        roles: tuple[tuple[Role, bool], ...] = (("prediction", True), ("reference", False))
        for role, given in roles:
            rows = [i for i, one in enumerate(are_given) if bool(one) is given and (self.nulls or tokens[i] != "null")]
            self._ask_role(role, rows, (tokens, payloads), found, answers, progress)
        return found, answers

    def _ask_role(
        self,
        role: Role,
        rows: Sequence[int],
        units: tuple[list[str], list[str]],
        found: Decodings,
        answers: list[int | None],
        progress: Progress,
    ) -> None:
        """Ask for the units of one role and append what comes of it to `found`."""
        tokens, payloads = units
        start = len(found.texts)
        first: dict[str, int] = {}  # the distinct payloads, each with the first unit that has it
        for row in rows:
            first.setdefault(payloads[row], row)
        places = {payload: start + place for place, payload in enumerate(first)}
        decodings = self.session.decode(
            self.field,
            [tokens[row] for row in first.values()],
            payloads=list(first),
            role=role,
            progress=lambda decoded: progress(start + decoded),
        )
        found.texts.extend(decodings.texts)
        found.faults.update({start + place: fault for place, fault in decodings.faults.items()})
        found.warnings.update({start + place: warning for place, warning in decodings.warnings.items()})
        for row in rows:
            answers[row] = places[payloads[row]]

    def _distinct(self, raw: list[str]) -> tuple[list[str], Asked]:
        """Give the strings to send, each once, and for each raw value the one that answers it."""
        if not self.units_by_payload and (self.nulls or "null" not in raw):
            return raw, None
        numbers: dict[str, int] = {}
        for text in raw:
            if self.nulls or text != "null":
                numbers.setdefault(text, len(numbers))
        return list(numbers), [numbers.get(text) for text in raw]
