"""What if a consumer used another consumer's parser: its column as it would read, from what a run has decoded."""

from __future__ import annotations

from dataclasses import dataclass

from auditor.model.drift import Flip, Paired
from auditor.model.run import Column


@dataclass(frozen=True)
class Reread:
    """A case whose verdict would be another one: its raw values, and what either parser makes of the prediction."""

    case_id: str
    prediction: str | None  # tokens
    reference: str | None
    own: str  # what the parser of today makes of it
    others: str  # what the other parser does
    before: str
    after: str


@dataclass(frozen=True)
class Exchanged:
    """A column of `field` as it is, and as it would read with the parser of the consumer `parser`.

    `rereads` are the first cases that change; `suppressed` says why rates are not compared, if they are not;
    `moves_references` that the references would be read by another parser, too, since this consumer reads them.
    """

    field: str
    consumer: str
    parser: str
    arm: str | None
    before: Column
    after: Column
    paired: Paired | None
    flips: tuple[Flip, ...]
    rereads: tuple[Reread, ...]
    suppressed: str
    moves_references: bool

    @property
    def changed(self) -> int:
        """Cases whose verdict would be another one."""
        return sum(flip.count for flip in self.flips)
