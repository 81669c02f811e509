"""Which keys each table of `audit.toml` has, and of which kind; the descriptions are those of the models."""

from __future__ import annotations

from typing import Literal

from auditor.spec.case_kinds import COLUMNS, ENOUGH, FINISH_REASONS, PAYLOAD, SHARE, SHARES, WORDS
from auditor.spec.http_kinds import ANSWER_PATH, CONCURRENCY, HEADERS, REQUEST, RETRIES, STATUSES, URL
from auditor.spec.kinds import (
    BATCH_SIZE,
    BOUNDS,
    CLOCK,
    COMMAND,
    DURATION,
    FLAG,
    GRAIN,
    HASH_SEED,
    PATHS,
    PROGRAMS,
    READS,
    SIZE,
    TEXT,
    TEXTS,
    WHOLE,
    ZONE,
    Kind,
    literal,
    versions_of,
)
from auditor.spec.models import (
    Adapter,
    CasesSpec,
    ConsumerSpec,
    DuplicateKeys,
    Engine,
    EnvironmentSpec,
    FieldsFromSpec,
    FieldSpec,
    FieldType,
    LogFormat,
    Method,
    Receives,
    Rounding,
    Statement,
    Table,
)
from auditor.spec.path_kinds import PATH

CASES: dict[str, Kind] = {
    "predictions": PATHS,
    "references": PATHS,
    "id": TEXT,
    "completion": TEXT,
    "finish": TEXT,
    "error": TEXT,
    "assume_finish": TEXT,
    "refusal": TEXT,
    "finish_reasons": FINISH_REASONS,
    "format": literal(LogFormat),
    "filter": TEXT,
    "tool": TEXT,
    "attempts": literal(Literal["first", "last"]),
    "payload": PAYLOAD,
    "payload_root": TEXT,
    "extra": literal(Literal["allow", "forbid"]),
    "duplicate_keys": literal(DuplicateKeys),
    "constants": literal(Literal["malformed", "accept"]),
    "json_types": literal(Literal["any", "own"]),
    "abstain": WORDS,
    "min_judged": ENOUGH,
    "max_blocked": SHARE,
    "agreement": FLAG,
    "locale": TEXT,
    "jurisdiction": TEXT,
    "split": TEXT,
    "input": TEXT,
    "arm": COLUMNS,
}

FIELDS_FROM: dict[str, Kind] = {"model": TEXT, "root": TEXT, "interpreter": TEXT, "leave_out": WORDS}

FIELD: dict[str, Kind] = {
    "type": literal(FieldType),
    "path": PATH,
    "reference_path": TEXT,
    "grain": GRAIN,
    "rounding": literal(Rounding),
    "unit": TEXT,
    "currency": literal(Literal["compared", "ignored"]),
    "members": literal(Literal["text", "integer", "mixed"]),
    "minimum": WHOLE,
    "maximum": WHOLE,
    "bounds": BOUNDS,
    "reference": TEXT,
    "abstain": WORDS,
}

CONSUMER: dict[str, Kind] = {
    "owner": TEXT,
    "adapter": literal(Adapter),
    "root": TEXT,
    "interpreter": TEXT,
    "command": COMMAND,
    "needs": PROGRAMS,
    "timeout": DURATION,
    "memory": SIZE,
    "env": TEXTS,
    "receives": literal(Receives),
    "reads": READS,
    "at_least": SHARES,
    "engine": literal(Engine),
    "statement": literal(Statement),
    "connection": TEXT,
    "server": TEXT,
    "model": TEXT,
    "scope": literal(Literal["payload", "field"]),
    "settings": TEXTS,
    "batch": FLAG,
    "batch_size": BATCH_SIZE,
    "url": URL,
    "method": literal(Method),
    "headers": HEADERS,
    "request": REQUEST,
    "value": ANSWER_PATH,
    "rejected": STATUSES,
    "message": ANSWER_PATH,
    "concurrency": CONCURRENCY,
    "retries": RETRIES,
    "redirects": FLAG,
    "ca": TEXT,
    "version": TEXT,
    "emulate": FLAG,
    "calibrate": TEXT,
    "production": TEXT,
    "results": TEXT,
    "planned": FLAG,
}

#: Keys that a version of a consumer may have of its own, beside its name.
VERSION: dict[str, Kind] = {
    key: CONSUMER[key]
    for key in ("interpreter", "root", "env", "command", "model", "server", "connection", "url", "results")
}
CONSUMER["versions"] = versions_of({"name": TEXT, **VERSION})

ENVIRONMENT: dict[str, Kind] = {"clock": CLOCK, "zone": ZONE, "locale": TEXT, "hash_seed": HASH_SEED}

#: The tables of a spec, with the model that describes their keys.
TABLES: dict[str, tuple[dict[str, Kind], type[Table]]] = {
    "cases": (CASES, CasesSpec),
    "fields_from": (FIELDS_FROM, FieldsFromSpec),
    "fields": (FIELD, FieldSpec),
    "consumers": (CONSUMER, ConsumerSpec),
    "environment": (ENVIRONMENT, EnvironmentSpec),
}

#: Keys of the whole spec, with what they are.
TOP = {
    "name": "Name of the audit; it heads every report.",
    "cases": "Where completions and references are.",
    "fields_from": "Pydantic model that defines fields: module:Model, or a table with its root and interpreter.",
    "fields": "The fields that are scored, by name.",
    "consumers": "The downstream systems that read them, by name.",
    "environment": "The base environment that every decoding happens in.",
}

#: Keys that exist in the spec only, as a shorter way to write keys of a model.
SHORTHANDS = {
    "bounds": "Lowest and highest value of an ordinal, in one key: [1, 5].",
    "versions": "Versions of the consumer, a column each: what each has of its own, and a name.",
}

#: Keys that make sense for one or two adapters only.
ADAPTERS_OF: dict[str, tuple[str, ...]] = {
    "batch": ("python",),
    "batch_size": ("python",),
    "interpreter": ("python", "pydantic"),
    "command": ("process",),
    "engine": ("sql", "recorded"),
    "statement": ("sql",),
    "connection": ("sql",),
    "server": ("sql",),
    "model": ("pydantic", "sql"),
    "scope": ("pydantic", "sql"),
    "settings": ("sql", "recorded"),
    **dict.fromkeys(("emulate", "calibrate", "production"), ("sql",)),
    "results": ("recorded",),
    "root": ("python", "pydantic", "sql", "process"),
    "env": ("python", "pydantic", "sql", "process"),
    **dict.fromkeys(
        (
            *("url", "method", "headers", "request", "value", "rejected", "message"),
            *("concurrency", "retries", "redirects", "ca", "version"),
        ),
        ("http",),
    ),
}

#: Keys that make sense for some field types only.
TYPES_OF: dict[str, tuple[str, ...]] = {
    "grain": ("date", "datetime", "money", "decimal", "quantity", "integer"),
    "rounding": ("money", "decimal", "quantity", "integer"),
    "unit": ("quantity",),
    "currency": ("money",),
    "members": ("category",),
    "minimum": ("ordinal",),
    "maximum": ("ordinal",),
    "bounds": ("ordinal",),
}


def description(table: str, key: str) -> str:
    """Say what a key of a table is for."""
    if key in SHORTHANDS:
        return SHORTHANDS[key]
    return TABLES[table][1].model_fields[key].description or ""


def required(table: str) -> tuple[str, ...]:
    """Give the keys that a table cannot do without, `name` apart: it is the table's own key."""
    fields = TABLES[table][1].model_fields
    return tuple(key for key, field in fields.items() if field.is_required() and key != "name")
