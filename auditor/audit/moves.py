"""What moved in other environments, as tables that scores and findings read; empty where nothing was probed.

- ``moves(unit, consumer, environment, s, v, k, error)``: what a raw value is in an environment of one changed factor,
  only where that is not what it is in the base.
- ``movers(unit, consumer, code)``: the raw values that a finding is about.
- ``shown_moves``, as ``moves``: what a raw value is where no factor alone moves it, but several together, or chance; an
  environment that shows it. No rate is over these.
- ``neighbour_moves(unit, consumer, code, company, s, v, k, error)``: what a raw value is in some company, where that is
  not what it is in the batch that is scored; `neighbours.py` fills it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from duckdb import DuckDBPyConnection

from auditor.model.dependence import Place, Probed
from auditor.model.environment import Environment
from auditor.probe import Level

MOVES: dict[str, type[str] | type[int]] = {
    "unit": int,
    "consumer": int,
    "environment": str,
    "s": str,
    "v": str,
    "k": str,
    "error": str,
}
_NEIGHBOUR_MOVES: dict[str, type[str] | type[int]] = {
    "unit": int,
    "consumer": int,
    "code": str,
    "company": str,
    "s": str,
    "v": str,
    "k": str,
    "error": str,
}
MOVERS: dict[str, type[str] | type[int]] = {"unit": int, "consumer": int, "code": str}


@dataclass(frozen=True)
class Probes:
    """What the probes of a run found: `units` are the rows behind each mover.

    `singles` are, by consumer, the environments of one changed factor in which it ran: those that ``moves`` is about.
    """

    level: Level
    of_consumers: tuple[Probed, ...] = ()
    singles: Mapping[str, tuple[Environment, ...]] = field(default_factory=dict)
    units: Mapping[tuple[str, Place], Sequence[int]] = field(default_factory=dict)


def create_tables(connection: DuckDBPyConnection) -> None:
    """Create the tables, empty."""
    names = {int: "BIGINT", str: "VARCHAR"}
    tables = {"moves": MOVES, "shown_moves": MOVES, "movers": MOVERS, "neighbour_moves": _NEIGHBOUR_MOVES}
    for table, columns in tables.items():
        listed = ", ".join(f"{name} {names[kind]}" for name, kind in columns.items())
        connection.execute(f"CREATE OR REPLACE TABLE {table} ({listed})")
