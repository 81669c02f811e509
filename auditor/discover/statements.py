"""The statements of SQL files: queries that are models, tables with their columns, and what is passed over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from auditor.decode.sql_lineage import table_name
from auditor.decode.sql_outputs import Name
from auditor.decode.sql_syntax import Node
from auditor.discover.files import SqlFile
from auditor.discover.found import Place, Problem
from auditor.discover.parsing import FAULTS, parse, reason_of

#: Statements that give no columns and change none: nothing is lost where they are passed over.
_HARMLESS = ("Set", "Use", "Drop", "Grant", "Revoke", "Comment", "Commit", "Rollback", "Transaction", "Pragma")


@dataclass(frozen=True)
class Query:
    """A statement that gives columns; `names` are those that it gives them, `full` what it creates or fills."""

    name: str
    kind: str
    file: SqlFile
    place: Place
    node: Node
    full: Name
    names: tuple[str, ...] = ()
    last: bool = True
    single: bool = True


@dataclass
class Statements:
    """What the files hold: queries, and the columns of tables with their types."""

    queries: list[Query] = field(default_factory=list)
    schemas: dict[Name, Mapping[str, Any]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    read: int = 0


def read_statements(files: list[SqlFile], dialect: Dialect) -> Statements:
    """Parse every statement; one that cannot be parsed costs no other."""
    found = Statements()
    for file in files:
        _read_file(file, dialect, found)
    return found


def _read_file(file: SqlFile, dialect: Dialect, found: Statements) -> None:
    try:
        tokens = dialect.tokenize(file.text)
    except FAULTS as error:
        found.problems.append(Problem(Place(file.shown), reason_of(error)[0], _hint(dialect)))
        return
    chunks, schemas = list(_chunks(tokens)), len(found.schemas)
    queries: list[Query] = []
    if not chunks:
        found.problems.append(Problem(Place(file.shown), "has no statement", unread=False))
    for number, chunk in enumerate(chunks):
        place = file.place(chunk[0].start)
        try:
            node = parse(chunk, file.text, dialect)
        except FAULTS as error:
            what, line = reason_of(error)
            found.problems.append(Problem(Place(file.shown, line or place.line), what, _hint(dialect)))
            continue
        found.read += 1
        query = _query_of(node, file, place, last=number == len(chunks) - 1)
        if query is not None:
            queries.append(query)
        else:
            _note_other(node, place, found)
    found.queries += _named(queries, single=len(queries) == 1 and len(found.schemas) == schemas)


def _named(queries: list[Query], *, single: bool) -> Iterator[Query]:
    """Name a plain select by its file; where a file has several, by their number too."""
    plain = [query for query in queries if not query.full]
    for query in queries:
        name = query.name
        if not query.full and len(plain) > 1:
            name = f"{name}_{plain.index(query) + 1}"
        yield replace(query, name=name, single=single)


def _chunks(tokens: list[Any]) -> Iterator[list[Any]]:
    chunk: list[Any] = []
    for token in tokens:
        if token.token_type.name == "SEMICOLON":
            if chunk:
                yield chunk
            chunk = []
        else:
            chunk.append(token)
    if chunk:
        yield chunk


def _query_of(node: Node, file: SqlFile, place: Place, *, last: bool) -> Query | None:
    """Give the query of a statement; None where it has none."""
    if isinstance(node, exp.Query):
        return Query(file.path.stem, "select", file, place, node, (), last=last)
    query = node.args.get("expression")
    kind = "insert" if isinstance(node, exp.Insert) else str(node.args.get("kind", "")).lower()
    if not isinstance(node, exp.Create | exp.Insert) or not isinstance(query, exp.Query):
        return None
    if kind not in ("insert", "table", "view"):
        return None
    target = node.this
    table = target if isinstance(target, exp.Table) else target.this
    if not isinstance(table, exp.Table):
        return None
    names = tuple(column.name for column in target.expressions) if isinstance(target, exp.Schema) else ()
    full = table_name(table)
    # The WITH of an insert may stand before it.
    if node.args.get("with_") and not query.args.get("with_"):
        query.set("with_", node.args["with_"])
    return Query(full[-1], kind, file, place, query, full, names, last)


def _note_other(node: Node, place: Place, found: Statements) -> None:
    if isinstance(node, exp.Create) and isinstance(node.this, exp.Schema) and isinstance(node.this.this, exp.Table):
        columns = [column for column in node.this.expressions if isinstance(column, exp.ColumnDef)]
        if columns:
            name = tuple(part.lower() for part in table_name(node.this.this))
            found.schemas[name] = {column.name: column.args.get("kind") for column in columns}
            return
    if type(node).__name__ in _HARMLESS or (isinstance(node, exp.Command) and node.name.upper() in ("SET", "USE")):
        return
    shown = f"{node.name.upper()}, which sqlglot does not parse" if isinstance(node, exp.Command) else node.key.upper()
    found.problems.append(Problem(place, f"gives no columns and is not followed: {shown}", unread=False))


def _hint(dialect: Dialect) -> str:
    name = type(dialect).__name__.lower()
    return f"it was read as {name}: is it another --dialect, or is a macro left in it?"
