"""Where the spec of a run stands, for what points at its lines."""

from __future__ import annotations

from dataclasses import dataclass, field

from auditor.model.finding import Location


@dataclass(frozen=True)
class SpecPlace:
    """Where the spec stands: `folder` from the root of its repository on, and its lines, from 1, by key.

    `lines` has ``fields.NAME``, and of consumers ``NAME``, ``NAME.reads``, ``NAME.reads.FIELD`` and ``NAME.model``;
    `files` are those of the findings' locations that lie in the spec's folder, and in no library. `parsers` are file
    (from that folder on) and line of the code that reads a field, by ``CONSUMER.FIELD``, where it lies there.
    """

    folder: str
    lines: dict[str, int]
    files: tuple[str, ...] = ()
    parsers: dict[str, Location] = field(default_factory=dict)
