"""Read a spec: TOML in, a whole `AuditSpec` or all of its mistakes out."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from auditor.errors import Mistake, NoSpecError, SpecError, UnsupportedField
from auditor.spec.consumer_rules import check_batches, check_consumers
from auditor.spec.emulation_rules import check_readers
from auditor.spec.entry import Entry
from auditor.spec.field_rules import check_fields
from auditor.spec.fields_from import Defined, as_table, defined_fields
from auditor.spec.find import find_spec
from auditor.spec.keys import TABLES, TOP, required
from auditor.spec.lines import KeyPath, key_lines
from auditor.spec.mistakes import Mistakes, nearest, shown, suggest
from auditor.spec.models import AuditSpec, CasesSpec, ConsumerSpec, EnvironmentSpec, FieldsFromSpec, FieldSpec
from auditor.spec.needs import leave_out_missing
from auditor.spec.version_rules import expand_versions

_POSITION = re.compile(r"^(.*) \(at line (\d+), column (\d+)\)$", re.DOTALL)


def read_spec(path: Path | None = None, *, start: Path | None = None) -> AuditSpec:
    """Find and read a spec; SpecError lists every mistake in it.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "audit.toml").write_text('name = "contracts"')
    >>> try:
    ...     read_spec(folder)
    ... except SpecError as error:
    ...     [mistake.what for mistake in error.mistakes]
    ['is missing', 'is missing', 'is missing']
    """
    file = find_spec(path, start=start)
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        mistake = Mistake(f"{file}:{line}", f"is not UTF-8: byte {error.object[error.start]:#04x}", "save it as UTF-8")
        raise SpecError([mistake]) from error
    except OSError as error:
        raise NoSpecError(Mistake(str(file), f"cannot be read: {error.strerror}", "check its permissions")) from error
    try:
        mapping = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise SpecError([_syntax_mistake(file, text, error)]) from error
    except RecursionError as error:
        raise SpecError(
            [Mistake(str(file), "is nested too deeply to be read", "no key of a spec needs that")]
        ) from error
    except ValueError as error:  # a whole number of thousands of digits
        raise SpecError([Mistake(str(file), f"holds a value that cannot be read: {error}")]) from error
    return _spec_from(mapping, file, key_lines(text))


def spec_from(mapping: Mapping[str, Any], file: Path) -> AuditSpec:
    """Make a spec of a mapping that has the shape of audit.toml; paths in it are relative to the folder of `file`."""
    odd = Mistakes(file.absolute(), {})
    for key in _keys_that_are_no_text(mapping, ()):
        odd.add(key, "is a key that is no text")
    if found := odd.all():
        raise SpecError(found)
    return _spec_from(mapping, file.absolute(), {})


def _spec_from(mapping: Mapping[str, Any], file: Path, lines: Mapping[KeyPath, int]) -> AuditSpec:
    mistakes = Mistakes(file, lines)
    tables = _known_keys(mapping, TOP, (), mistakes)
    name = tables.get("name")
    if name is None:
        mistakes.add(("name",), "is missing", 'name the audit: name = "contracts"')
    elif not isinstance(name, str) or not name.strip():
        mistakes.add(("name",), f"must be text in quotes, not {shown(name)}")
    cases = _table("cases", tables.get("cases"), ("cases",), mistakes)
    environment = _table("environment", tables.get("environment", {}), ("environment",), mistakes)
    defined, fields_from = Defined(tables.get("fields")), None
    if "fields_from" in tables:
        fields_from = _table("fields_from", as_table(tables["fields_from"]), ("fields_from",), mistakes)
        defined = defined_fields(fields_from, tables.get("fields"), file.parent, mistakes)
    fields = _named_tables("fields", defined.tables, mistakes) if defined.known else {}
    consumers = _named_tables("consumers", tables.get("consumers"), mistakes)
    if not defined.known:  # nor can what is said of fields be checked
        raise SpecError(mistakes.all())
    consumers = expand_versions(consumers, fields, mistakes)
    check_fields(fields, consumers, mistakes)
    check_consumers(consumers, fields, file.parent, mistakes)
    check_batches(cases, consumers, mistakes)
    check_readers(fields, consumers, mistakes)
    if found := mistakes.all():
        raise UnsupportedField(found) if defined.unsupported else SpecError(found)
    spec = _models(str(name), file, cases, environment, fields, consumers)
    if fields_from is not None:
        given = FieldsFromSpec(**fields_from.values)
        spec = spec.model_copy(update={"fields_from": given, "not_judged": defined.not_judged})
    return leave_out_missing(spec)


def _keys_that_are_no_text(value: object, above: KeyPath) -> Iterator[KeyPath]:
    """Give the places of keys that TOML could not have; no table of a spec is deeper than a few."""
    if isinstance(value, Mapping) and len(above) < 8:
        for key, item in value.items():
            if isinstance(key, str):
                yield from _keys_that_are_no_text(item, (*above, key))
            else:
                yield (*above, repr(key))


def _named_tables(kind: str, value: object, mistakes: Mistakes) -> dict[str, Entry]:
    """Read a table of tables, whose keys are names of the user's own."""
    example = f"[{kind}.{'effective_date' if kind == 'fields' else 'billing'}]"
    if not isinstance(value, Mapping):
        what = "is missing" if value is None else f"must be a table of tables, not {shown(value)}"
        mistakes.add((kind,), what, f"add a table such as {example}")
        return {}
    if not value:
        mistakes.add((kind,), f"there is no {kind[:-1]}", f"add a table such as {example}")
    if "" in value:
        mistakes.add((kind, ""), "a name must not be empty")
    return {name: _table(kind, table, (kind, name), mistakes) for name, table in value.items()}


def _table(kind: str, value: object, key: KeyPath, mistakes: Mistakes) -> Entry:
    """Read one table: known keys, each of its kind, none missing."""
    if not isinstance(value, Mapping):
        what = "is missing" if value is None else f"must be a table, not {shown(value)}"
        mistakes.add(key, what, f"write [{'.'.join(key)}] and its keys below it")
        return Entry({}, frozenset())
    kinds = TABLES[kind][0]
    present = _known_keys(value, kinds, key, mistakes)
    read = {name: kinds[name].read(item, mistakes.at(*key, name)) for name, item in present.items()}
    for name in required(kind):
        if name not in present:
            mistakes.add((*key, name), "is missing", f"add {name} = … to [{'.'.join(key)}]")
    return Entry({name: item for name, item in read.items() if item is not None}, frozenset(present))


def _known_keys(value: Mapping[str, Any], known: Mapping[str, Any], key: KeyPath, mistakes: Mistakes) -> dict[str, Any]:
    """Keep the known keys; a misspelt one stands for the key it was meant to be, so that its value is checked too."""
    kept = {name: item for name, item in value.items() if name in known}
    for name in value:
        if name not in known:
            absent = [right for right in known if right not in value]
            meant = nearest(name, absent)
            hint = f"did you mean {meant}?" if meant else suggest(name, known)
            mistakes.add((*key, name), "there is no such key", hint)
            if meant:
                kept.setdefault(meant, value[name])
    return kept


def _models(
    name: str, file: Path, cases: Entry, environment: Entry, fields: dict[str, Entry], consumers: dict[str, Entry]
) -> AuditSpec:
    try:
        return AuditSpec(
            name=name,
            file=file,
            folder=file.parent,
            cases=CasesSpec(**cases.values),
            fields={key: FieldSpec(name=key, **entry.values) for key, entry in fields.items()},
            consumers={key: ConsumerSpec(name=key, **entry.values) for key, entry in consumers.items()},
            environment=EnvironmentSpec(**environment.values),
        )
    except ValidationError as error:
        # The readers above are stricter than the models, so this is a kind that disagrees with its model.
        found = [Mistake(f"{file}: {'.'.join(map(str, item['loc']))}", item["msg"]) for item in error.errors()]
        raise SpecError(found) from error


def _syntax_mistake(file: Path, text: str, error: tomllib.TOMLDecodeError) -> Mistake:
    match = _POSITION.match(str(error))
    hint = "text goes in quotes, each table is written once, and each key once in its table"
    if match is None:
        return Mistake(f"{file}:{text.count(chr(10)) + 1}", f"is not TOML: {error}", hint)
    return Mistake(
        f"{file}:{match[2]}:{match[3]}", f"is not TOML: {match[1]} (line {match[2]}, column {match[3]})", hint
    )
