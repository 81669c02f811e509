"""What one consumer makes of one field's raw values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from auditor.audit.transfer import Cells
from auditor.model.decoding import Decodings, Fault
from auditor.model.verdicts import STATUS_LETTER


@dataclass
class Answers:
    """One consumer's decodings of one field, aligned with the field's units."""

    texts: Cells = field(default_factory=lambda: Cells(str))
    letters: Cells = field(default_factory=lambda: Cells(str))
    faults: dict[int, Fault] = field(default_factory=dict)
    warnings: dict[int, str] = field(default_factory=dict)
    engine_warnings: dict[int, str] = field(default_factory=dict)

    def add(self, decodings: Decodings, asked: Sequence[int | None] | None) -> None:
        """Append a chunk; `asked` gives for each row the decoding that answers it (None: one to one)."""
        start = len(self.texts)
        self.warnings.update({start + position: warning for position, warning in decodings.warnings.items()})
        letters: list[str | None] = ["v"] * len(decodings.texts)
        for position, fault in decodings.faults.items():
            letters[position] = STATUS_LETTER[fault.status]
        if asked is None:
            self.texts.extend(decodings.texts)
            self.letters.extend(letters)
            self.faults.update({start + position: fault for position, fault in decodings.faults.items()})
            self.engine_warnings.update({start + at: said for at, said in decodings.engine_warnings.items()})
            return
        self.texts.extend(None if position is None else decodings.texts[position] for position in asked)
        self.letters.extend(None if position is None else letters[position] for position in asked)
        for row, answer in enumerate(asked):
            if answer is not None and answer in decodings.faults:
                self.faults[start + row] = decodings.faults[answer]
            if answer is not None and answer in decodings.engine_warnings:
                self.engine_warnings[start + row] = decodings.engine_warnings[answer]
