"""Finds the coercions in SQL files: files in, everything that was found out."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from auditor.decode.sql_outputs import LineageError, Output
from auditor.discover.files import DiscoverError, read_files
from auditor.discover.filters import filters_of
from auditor.discover.found import Column, Discovery, Flag, Model, Place, Problem
from auditor.discover.found import Path as Way
from auditor.discover.linking import link_models
from auditor.discover.parsing import FAULTS, dialect_of, quiet
from auditor.discover.paths import Paths
from auditor.discover.statements import Query, Statements, read_statements
from auditor.discover.tracing import Tracer

__all__ = ["DiscoverError", "discover"]

#: sqlglot parses by recursion: bytes and calls for what is nested deeply.
_STACK = 512 * 1024**2
_CALLS = 20_000

T = TypeVar("T")


def discover(arguments: Sequence[str | Path], dialect: str = "duckdb") -> Discovery:
    """Read files, folders and globs of SQL; DiscoverError where none of it could be read, or there is no such dialect.

    A statement that cannot be read is one of the problems of what is found.
    """
    language = dialect_of(dialect)
    files, problems = read_files(arguments)
    with quiet():
        found = _deeply(lambda: _search(read_statements(files, language), language))
    models, schemas, others, read = found
    problems += others
    if not read:
        raise DiscoverError(
            "\n".join(["nothing could be read", *(f"  {problem.place}: {problem.what}" for problem in problems)])
        )
    shown = tuple(file.shown for file in files)
    return Discovery(dialect.lower(), shown, tuple(models), schemas, tuple(problems), read)


def _search(statements: Statements, dialect: Dialect) -> tuple[list[Model], tuple[str, ...], list[Problem], int]:
    links, problems = link_models(statements.queries)
    tracer = Tracer(statements.queries, links, statements.schemas, type(dialect).__name__.lower())
    paths = Paths(tracer, dialect)
    models = [_model(number, tracer, paths, problems) for number in range(len(statements.queries))]
    schemas = tuple(".".join(name) for name in statements.schemas)
    return [model for model in models if model], schemas, [*statements.problems, *problems], statements.read


def _model(number: int, tracer: Tracer, paths: Paths, problems: list[Problem]) -> Model | None:
    query = tracer.queries[number]
    try:
        outputs = tracer.outputs_of(number)
        columns = [
            Column(
                one.name if (called := _is_called(key, one, query, paths.dialect)) else f"{one.name}#{position}",
                _line(one, query.place, tracer),
                paths.of(one),
                called,
            )
            for position, (key, one) in enumerate(outputs.named.items(), 1)
        ]
        filters = filters_of(number, tracer, outputs)
    except (*FAULTS, LineageError) as error:
        said = str(error).split("\n")[0] or type(error).__name__
        what = "it is nested too deeply to be followed" if isinstance(error, RecursionError) else said
        problems.append(Problem(query.place, f"its columns cannot be located: {what}"))
        return None
    if number in tracer.faults:
        problems.append(Problem(query.place, f"its columns cannot be located: {tracer.faults[number]}"))
    columns += [Column("*", query.place, (_star(table),)) for table in map(".".join, outputs.open)]
    return Model(
        query.name,
        query.kind,
        query.place,
        tuple(columns),
        filters,
        tracer.models_of(number),
        tracer.tables_of(number),
        query.single and query.last,
    )


def _is_called(key: str, output: Output, query: Query, dialect: str) -> bool:
    """Say whether a column has a name of its own: one that the text gives it, and that no column before it has."""
    made = output.made
    while made is not None and made.branches:
        made = made.branches[0].made
    if key != output.name.lower():
        return False
    if query.names or made is None or made.node is None or made.why or isinstance(made.node, exp.UDTF):
        return True
    cast = isinstance(made.node, exp.Cast) and dialect in ("postgres", "redshift")  # called like its column
    return cast or isinstance(made.node, exp.Column | exp.Dot) or isinstance(made.node.parent, exp.Alias)


def _line(output: Output, place: Place, tracer: Tracer) -> Place:
    made = output.made
    return place if made is None or made.node is None else tracer.place_of(made.node)


def _star(table: str) -> Way:
    why = f"* over {table}: which columns it has is not known; give a file with its `create table`"
    return Way((), "", None, None, False, (), "", None, None, (Flag("not followed", why),))


def _deeply(work: Callable[[], T]) -> T:
    """Run on a thread with a deep stack; what it raises is raised here."""
    given: list[T] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            given.append(work())
        except BaseException as error:  # noqa: BLE001 - the edge of a thread
            raised.append(error)

    stack, calls = threading.stack_size(_STACK), sys.getrecursionlimit()
    sys.setrecursionlimit(_CALLS)
    try:
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(stack)
        sys.setrecursionlimit(calls)
    if raised:
        raise raised[0]
    return given[0]
