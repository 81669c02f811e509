"""JSON Schema of `audit.toml` as it is written, so that editors complete and check it while one types.

It is made of the same table of keys that the reader uses, so a key that is read is a key that is described.
"""

from __future__ import annotations

from typing import Any

from auditor.spec.keys import ADAPTERS_OF, SHORTHANDS, TABLES, TOP, TYPES_OF, description, required
from auditor.spec.recorded_rules import RECORDABLE

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema() -> dict[str, Any]:
    """Give the JSON Schema (2020-12) of `audit.toml`."""
    return {
        "$schema": _DIALECT,
        "title": "audit.toml",
        "description": "What the fidelity auditor audits: cases, fields, and the consumers that read them.",
        "type": "object",
        "additionalProperties": False,
        "required": ["name", "cases", "consumers"],
        "anyOf": [{"required": ["fields"]}, {"required": ["fields_from"]}],
        "properties": {
            "name": {"type": "string", "minLength": 1, "description": TOP["name"]},
            "cases": _table("cases") | {"description": TOP["cases"]},
            "fields_from": {
                "anyOf": [{"type": "string", "pattern": "^[^:]+:[^:]+$"}, _table("fields_from")],
                "description": TOP["fields_from"],
            },
            "fields": _named("fields", _field_rules()),
            "consumers": _named("consumers", _consumer_rules()),
            "environment": _table("environment") | {"description": TOP["environment"]},
        },
    }


def _table(name: str) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(required(name)),
        "properties": {key: _key(name, key) for key in TABLES[name][0]},
    }


def _key(table: str, key: str) -> dict[str, Any]:
    schema = TABLES[table][0][key].schema | {"description": description(table, key)}
    default = None if key in SHORTHANDS else TABLES[table][1].model_fields[key].default
    return schema | {"default": default} if isinstance(default, str | int | float) else schema


def _named(name: str, rules: list[dict[str, Any]]) -> dict[str, Any]:
    """A map from names of the user's own to tables."""
    return {
        "type": "object",
        "description": TOP[name],
        "minProperties": 1,
        "propertyNames": {"minLength": 1},
        "additionalProperties": _table(name) | {"allOf": rules},
    }


def _field_rules() -> list[dict[str, Any]]:
    bounds = {"anyOf": [{"required": ["bounds"]}, {"required": ["minimum", "maximum"]}]}
    return [_only_for("type", TYPES_OF), _when("type", "ordinal", bounds)]


def _consumer_rules() -> list[dict[str, Any]]:
    expressions = {"type": "object", "additionalProperties": {"type": "string", "pattern": r"\{value\}"}}
    targets = {"type": "object", "minProperties": 1, "additionalProperties": {"pattern": "^[^:]+:[^:]+$"}}
    return [
        _only_for("adapter", ADAPTERS_OF),
        _when("adapter", "python", {"required": ["reads"], "properties": {"reads": targets}}),
        _when("adapter", "pydantic", {"required": ["model"], "properties": {"model": {"pattern": "^[^:]+:[^:]+$"}}}),
        _when(
            "adapter",
            "sql",
            {
                "required": ["engine"],
                "anyOf": [{"required": ["model"]}, {"required": ["reads"]}],
            },
        ),
        _when(
            "adapter",
            "process",
            {"required": ["command"], "properties": {"receives": {"enum": ["text", "json"]}}},
        ),
        _when(
            "adapter",
            "http",
            {"required": ["url", "value", "reads"], "properties": {"receives": {"enum": ["text", "json"]}}},
        ),
        _when(
            "adapter",
            "recorded",
            {
                "required": ["engine", "results", "reads"],
                "properties": {
                    "reads": expressions,
                    "receives": {"const": "text"},
                    "engine": {"enum": list(RECORDABLE)},
                },
            },
        ),
        {
            "if": {
                "properties": {"adapter": {"const": "sql"}, "statement": {"const": "cast"}},
                "not": {"required": ["model"]},
            },
            "then": {"properties": {"reads": expressions}},
        },
    ]


def _when(key: str, value: str, then: dict[str, Any]) -> dict[str, Any]:
    return {"if": {"properties": {key: {"const": value}}, "required": [key]}, "then": then}


def _only_for(key: str, owners: dict[str, tuple[str, ...]]) -> dict[str, Any]:
    """Say which other keys need one of some values of `key`."""
    return {"dependentSchemas": {name: {"properties": {key: {"enum": list(of)}}} for name, of in owners.items()}}
