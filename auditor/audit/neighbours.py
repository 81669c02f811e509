"""Reads the batches of every consumer of batches again in other company; keeps what moved in ``neighbour_moves``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from duckdb import DuckDBPyConnection

from auditor.audit.batches import Batches, rows_for
from auditor.decode.session import Session
from auditor.load.layout import Role
from auditor.model.dependence import Answer
from auditor.model.figures import plural
from auditor.model.neighbours import NeighbourProbe
from auditor.probe.neighbours import Batch, probe_neighbours
from auditor.probe.sent import ROLES
from auditor.spec.models import AuditSpec, FieldSpec


def ask_neighbours(
    connection: DuckDBPyConnection,
    spec: AuditSpec,
    sessions: Mapping[str, Session],
    index: Mapping[str, int],
    batches: Batches,
) -> tuple[tuple[NeighbourProbe, ...], tuple[str, ...]]:
    """Give what moved with the neighbours in each batch that is scored, and notes on what was tried.

    The references are a batch that is scored only where this consumer reads them.
    """
    probes = []
    for name, session in sessions.items():
        consumer = spec.consumers[name]
        for field_name in session.readiness.reads if consumer.batch and batches else ():
            field = spec.fields[field_name]
            for role in ROLES if field.is_decoded_by(name) else ROLES[:1]:
                rows = rows_for(consumer, batches[field_name][role])
                batch = _batch(connection, field, role, rows, index[name])
                probe = probe_neighbours(session, field, consumer.receives, batch)
                _keep_moves(connection, probe, index[name])
                probes.append(probe)
    return tuple(probes), tuple(_note(probe) for probe in probes)


def _keep_moves(connection: DuckDBPyConnection, probe: NeighbourProbe, number: int) -> None:
    rows = [
        (unit, number, move.code, company, answer.letter, answer.text, answer.key, answer.error)
        for move in probe.moves
        for company, answer in move.readings[1:]
        for unit in move.units
    ]
    if rows:
        connection.executemany("INSERT INTO neighbour_moves VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)


def _batch(connection: DuckDBPyConnection, field: FieldSpec, role: Role, rows: Sequence[str], number: int) -> Batch:
    units: dict[str, tuple[int, ...]] = {}
    scored: dict[str, Answer] = {}
    for unit, token, letter, text, key in connection.execute(
        f"SELECT unit, token, s{number}, v{number}, k{number} FROM outcomes WHERE field = $field AND role_{role} "
        f"AND s{number} IS NOT NULL ORDER BY unit",
        {"field": field.name},
    ).fetchall():
        units[token] = (*units.get(token, ()), unit)
        scored[token] = Answer(letter, text, key)
    return Batch(role, rows, units, scored)


def _note(probe: NeighbourProbe) -> str:
    """Say what was tried, so that silence is not taken for more than it is."""
    where = f"{probe.field}, {probe.consumer}, {probe.role}s"
    said = f"neighbours not varied: {probe.not_varied}" if probe.not_varied else _tried(probe)
    if probe.spoilers:
        first, more = probe.spoilers[0], len(probe.spoilers) - 1
        others = f" and {plural(more, 'more string', 'more strings')}" if more else ""
        said += f"; the whole batch is refused because of {first}{others}, refused alone too"
    return f"{where}: {said}"


def _tried(probe: NeighbourProbe) -> str:
    of = f" of {probe.of_rows:,}" if probe.rows < probe.of_rows else ""
    moved = len({move.token for move in probe.moves})
    found = f"{plural(moved, 'string')} moved" if moved else "no string moved"
    return (
        f"{plural(probe.rows, 'row')}{of} read again alone, in other orders and with other rows "
        f"({plural(len(probe.tried), 'way')}), {found}"
    )
