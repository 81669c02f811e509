"""What a parser's value depends on besides the string, as the probes found it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from auditor.model.decoding import Decoding
from auditor.model.verdicts import STATUS_OF, DecodingStatus


@dataclass(frozen=True, slots=True)
class Answer:
    """What a consumer made of one string: status letter, tagged text, grain key, error."""

    letter: str
    text: str | None = None
    key: str | None = None
    error: str | None = None

    def is_as(self, other: Answer) -> bool:
        """Say whether two answers are the same outcome: the same value at the grain, or the same refusal."""
        return (self.letter, self.key) == (other.letter, other.key)

    def decoding(self, environment: str) -> Decoding:
        """Give the answer as a decoding in an environment."""
        return Decoding(cast(DecodingStatus, STATUS_OF[self.letter]), self.text, self.error, environment)
