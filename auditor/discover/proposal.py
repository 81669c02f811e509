"""The fragment of a spec that a discovery proposes: fields, a consumer for each model, and why the rest is left out."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import chain, count

from auditor.discover.found import NO_EXPRESSION, Column, Discovery, Filter, Model, Path
from auditor.discover.whole import Whole, run_whole
from auditor.model.figures import plural
from auditor.spec.field_rules import REFERENCE_READERS
from auditor.spec.models import FieldSpec
from auditor.spec.sql_rules import MODELLED
from auditor.spec.toml import block, comment, key, quoted

#: The engine that runs a dialect, and what is to be known of it.
_ENGINES = {
    "duckdb": ("duckdb", ""),
    "sqlite": ("sqlite", ""),
    "postgres": ("postgres", ""),
    "clickhouse": ("clickhouse", ""),
    "spark": ("spark", ""),
    "mysql": ("mariadb", "MariaDB is another product than MySQL: some casts differ"),
    "databricks": ("spark", "Spark is what Databricks is built on: its version and its settings may differ"),
    "bigquery": ("googlesql", "Google's reference implementation of BigQuery's SQL, not BigQuery itself"),
}
_ELSEWHERE = "runs where your warehouse is: put its SQLAlchemy URL into this variable"


@dataclass(frozen=True)
class _Read:
    """One column that a consumer reads: its field, and the expression or the output column."""

    field: FieldSpec
    column: Column
    path: Path
    target: str = ""


@dataclass
class _Consumer:
    """A consumer in the making; `left` are columns that it does not read, each with the reason."""

    name: str
    model: Model
    engine: str
    note: str
    filters: tuple[Filter, ...]  # its own, and those of the models that it reads
    whole: Whole | None = None
    why_not_whole: str = ""
    reads: list[_Read] = dataclasses.field(default_factory=list)
    left: list[tuple[str, str, str]] = dataclasses.field(default_factory=list)


def propose(found: Discovery) -> str:
    """Write the fragment; it is TOML whatever names and texts are in the files."""
    engine, note = _ENGINES.get(found.dialect, ("sqlalchemy", _ELSEWHERE))
    inner = {name for model in found.models for name in model.models}
    named = {model.name: model for model in found.models}
    names = _Names()
    consumers = []
    for model in found.models:
        if model.name not in inner:
            filters = tuple(one for read in _with_inner(model, named) for one in read.filters)
            consumers.append(_consumer(_Consumer(names.consumer(model), model, engine, note, filters), names))
    lines = [
        f"# Proposed by `auditor discover` from {plural(len(found.files), 'file')} of SQL ({found.dialect}).",
        "# Check each type and path against your data; add name and [cases], or paste it into an audit.toml.",
    ]
    lines += _fields(consumers)
    for consumer in consumers:
        lines += _consumer_lines(consumer)
    for model in found.models:
        if model.name in inner:
            lines.append(comment(f"{model.name} ({model.place}) is read by other models and is followed in them"))
    lines += [comment(f"not read: {problem.place}: {problem.what}") for problem in found.unread]
    return "\n".join(lines) + "\n"


class _Names:
    """Gives every field and consumer a name of its own; a field that is wanted twice alike is one."""

    def __init__(self) -> None:
        self._fields: dict[str, tuple[str, str | None]] = {}
        self._consumers = set(REFERENCE_READERS)

    def field(self, model: Model, column: Column, kind: str, path: str | None) -> FieldSpec:
        wanted, longer = (kind, path), f"{model.name}_{column.name}"
        names = chain([column.name, longer], (f"{longer}_{number}" for number in count(2)))
        name = next(name for name in names if self._fields.get(name, wanted) == wanted)
        self._fields[name] = wanted
        return FieldSpec(name=name, type=kind, path=path)

    def consumer(self, model: Model) -> str:
        plain = model.name if model.name.strip() else "warehouse"
        names = chain([plain], (f"{plain}_{number}" for number in count(2)))
        name = next(name for name in names if name not in self._consumers)
        self._consumers.add(name)
        return name


def _with_inner(model: Model, named: Mapping[str, Model]) -> list[Model]:
    """Give a model and all that it reads, as far as it could be located."""
    found = {model.name: model}
    waiting = [model]
    for one in waiting:
        inner = [named[name] for name in one.models if name in named and name not in found]
        found |= {other.name: other for other in inner}
        waiting += inner
    return list(found.values())


def _consumer(consumer: _Consumer, names: _Names) -> _Consumer:
    model, engine = consumer.model, consumer.engine
    wanted = []
    for column in model.columns:
        why = _left_out(column)
        if why:
            consumer.left.append((column.name, *why))
            continue
        path = column.paths[0]
        kind = _field_type(column)
        source = path.column or column.name
        field = names.field(model, column, kind, None if source == column.name else source)
        wanted.append(_Read(field, column, path, column.name))
    consumer.why_not_whole = _not_whole(model, engine)
    if not consumer.why_not_whole and wanted:
        whole = run_whole(model, engine, [(read.field, read.target) for read in wanted])
        if whole.error:
            consumer.why_not_whole = whole.error
        else:
            consumer.whole = whole
    for read in wanted:
        _place(consumer, read)
    return consumer


def _place(consumer: _Consumer, read: _Read) -> None:
    """Put a column where it belongs: read by the model, read by an expression, or left out."""
    if consumer.whole is not None:
        refused = consumer.whole.refused.get(read.field.name)
        if refused is None:
            consumer.reads.append(read)
        else:
            consumer.left.append((read.column.name, refused, ""))
        return
    path = read.path
    notes = [
        f"{flag.kind}: {flag.note}" for one in read.column.paths for flag in one.flags if flag.kind in NO_EXPRESSION
    ]
    if len(read.column.paths) > 1:
        notes.append(f"it has {len(read.column.paths)} paths, one for each branch of a union")
    elif path.reads is None and not notes:
        notes.append("its expression could not be put together")
    if notes:
        consumer.left.append((read.column.name, "; ".join(dict.fromkeys(notes)), path.reads or ""))
    else:
        consumer.reads.append(replace(read, target=str(path.reads)))


def _unknown(column: Column) -> Iterator[str]:
    flags = (flag for path in column.paths for flag in path.flags)
    yield from (flag.note for flag in flags if flag.kind == "unknown function")


def _left_out(column: Column) -> tuple[str, str] | None:
    """Say why a column can be no field, with the expression that there is; None where it can."""
    flags = [flag for path in column.paths for flag in path.flags]
    lost = [flag.note for flag in flags if flag.kind in ("not followed", "already typed", "unpacked")]
    expression = next((path.expression for path in column.paths if path.expression), None) or ""
    named = [column.name, *(path.column for path in column.paths if path.column)]
    if not all(name.strip() for name in named):
        return "its name, or that of its source column, is blank, and a spec cannot hold it", expression
    if not column.called:
        return f"it has no name of its own: write an alias in {column.place}", expression
    if lost:
        return "; ".join(dict.fromkeys(lost)), expression
    if not any(path.sources for path in column.paths):
        notes = [f"{flag.kind}: {flag.note}" for flag in flags if flag.kind in NO_EXPRESSION]
        return "; ".join(dict.fromkeys(["it is made of no source column", *notes])), expression
    if len({path.sources for path in column.paths}) > 1:
        ways = " | ".join(
            f"{path.expression or 'not known'} of {', '.join(path.sources) or 'no column'}" for path in column.paths
        )
        return f"the branches of a union make it of different columns: read each by itself ({ways})", ""
    if _field_type(column) == "":
        types = sorted({path.type for path in column.paths if path.type})
        said = f"its type is {' or '.join(types)}, which is no type of field" if types else "its type is not known"
        notes = [f"{flag.kind}: {flag.note}" for flag in flags if flag.kind in NO_EXPRESSION]
        return "; ".join(dict.fromkeys([f"{said}: choose one", *notes])), expression
    return None


def _field_type(column: Column) -> str:
    """Guess the type of a field from the type that comes out; empty where it fits none."""
    kinds = {path.kind for path in column.paths if path.sources}
    if len(kinds) != 1 or None in kinds:
        return ""
    kind = str(next(iter(kinds)))
    if kind == "text":
        return "category" if any(path.has("token map") for path in column.paths) else "identifier"
    return kind


def _not_whole(model: Model, engine: str) -> str:
    if engine not in MODELLED:
        return f"no model file runs on {engine}"
    if model.models:
        return (
            f"the file reads {', '.join(model.models)}, which other files make: mocked, their coercions would be lost"
        )
    if not model.alone:
        return "its file has other statements with columns"
    if model.kind == "insert":
        return "it is an insert, and a model file ends with a select, a view or a table"
    return ""


def _fields(consumers: Sequence[_Consumer]) -> Iterator[str]:
    done: set[str] = set()
    for consumer in consumers:
        for read in consumer.reads:
            if read.field.name in done:
                continue
            done.add(read.field.name)
            column, path = read.column, read.path
            sources = ", ".join(path.sources)
            yield ""
            yield comment(f"{consumer.model.name}.{column.name}, {column.place}, from {sources}")
            for flag in dict.fromkeys(flag for one in column.paths for flag in one.flags):
                yield comment(f"  {flag.kind}: {flag.note}")
            yield f"[fields.{key(read.field.name)}]"
            shown = path.type or "no type"
            why = "it passes through as it is" if not path.steps else f"what comes out is {shown}"
            yield f"type = {quoted(read.field.type)}  {comment(why)}"
            if isinstance(read.field.path, str):
                yield f"path = {quoted(read.field.path)}  # the source column"
            if read.field.type == "date":
                yield 'grain = "day"'
            elif path.scale is not None and read.field.type == "decimal":
                grain = format(Decimal(1).scaleb(-path.scale), "f")
                yield f"grain = {quoted(grain)}  # the digits that the type keeps"


def _consumer_lines(consumer: _Consumer) -> Iterator[str]:
    model = consumer.model
    yield ""
    yield comment(f"{model.name}, {model.place}")
    for one in consumer.filters:
        notes = f"; {one.notes}" if one.notes else ""
        yield comment(f"  drops rows: {one} ({one.place}{notes})")
    for name, why, expression in consumer.left:
        yield comment(f"  left out: {name}: {why}" + (f": {expression}" if expression else ""))
    if not consumer.reads:
        yield comment(f"  no consumer is proposed for {model.name}: none of its columns can be read")
        return
    yield f"[consumers.{key(consumer.name)}]"
    yield 'adapter = "sql"'
    yield f"engine = {quoted(consumer.engine)}" + (f"  {comment(consumer.note)}" if consumer.note else "")
    if consumer.engine == "sqlalchemy":
        yield 'connection = "env:WAREHOUSE_URL"'
    if consumer.whole is not None:
        yield f"model = {quoted(model.place.file)}  # run whole; the path is relative to the spec's folder"
        for note in dict.fromkeys(note for column in model.columns for note in _unknown(column)):
            yield comment(f"it runs only where the engine has {note}")
        if consumer.whole.scope:
            yield f'scope = "field"  {comment(consumer.whole.scope)}'
    else:
        yield comment(f"expressions, not `model`: {consumer.why_not_whole}")
        if consumer.filters:
            yield comment("the filters above are not part of them: a row that the model drops is decoded here")
    for read in consumer.reads:
        if consumer.whole is None and read.path.composed:
            places = " → ".join(dict.fromkeys(str(step.place) for step in read.path.steps))
            yield comment(f"put together of {places}")
        yield f"reads.{key(read.field.name)} = {block(read.target)}"
