"""Why the audit itself could not be done.

A bug of the pipeline is a finding (``auditor.model.run.Finding``) and is never raised; an error here means that no
faithful score exists. Each says what, where, what was seen, the likely cause and the next step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class AuditorError(Exception):
    """The audit could not be done; the command line prints the message and exits with `exit_code`."""

    exit_code = 2


@dataclass(frozen=True)
class Mistake:
    """One thing to correct: `where` is a file with a key, line or row; `hint` is the next step, or empty."""

    where: str
    what: str
    hint: str = ""

    def __str__(self) -> str:
        """Give the mistake as one or two lines."""
        line = f"{self.where}: {self.what}"
        return f"{line}\n    {self.hint}" if self.hint else line


class SpecError(AuditorError):
    """The spec has mistakes; all of them are listed at once."""

    def __init__(self, mistakes: Sequence[Mistake]) -> None:
        self.mistakes = tuple(mistakes)
        count = len(self.mistakes)
        head = f"{count} mistake{'s' if count != 1 else ''} in the spec:"
        super().__init__("\n".join([head, *(f"  {mistake}" for mistake in self.mistakes)]))


class LoadError(AuditorError):
    """Predictions or references could not be read whole; `mistakes` name file, line or row, and column."""

    def __init__(self, mistakes: Sequence[Mistake]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__("\n".join(str(mistake) for mistake in self.mistakes))


class ConsumerError(AuditorError):
    """A consumer could not be started: its interpreter, import, function, model or engine is not there."""

    def __init__(self, consumer: str, tried: str, seen: str, hint: str = "") -> None:
        self.consumer, self.tried, self.seen, self.hint = consumer, tried, seen, hint
        lines = [f"consumer {consumer}: could not be started", f"  tried: {tried}", f"  seen:  {seen}"]
        super().__init__("\n".join([*lines, f"  next:  {hint}"] if hint else lines))


class StoreError(AuditorError):
    """A run could not be written or read; nothing half-written is left behind."""


class InternalError(AuditorError):
    """A sum that must hold does not: a bug of the auditor, reported instead of a score."""
