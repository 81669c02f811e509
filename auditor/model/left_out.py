"""Consumers that an audit does without."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LeftOut:
    """A consumer that was not audited, for want of programs that it needs.

    >>> LeftOut("portal", "web", ("node",)).why
    'portal (web) is left out: node is not installed, or not on PATH'
    """

    name: str
    owner: str
    missing: tuple[str, ...]

    @property
    def why(self) -> str:
        """Say who is left out and why."""
        owner = f" ({self.owner})" if self.owner else ""
        verb = "is" if len(self.missing) == 1 else "are"
        return f"{self.name}{owner} is left out: {' and '.join(self.missing)} {verb} not installed, or not on PATH"
