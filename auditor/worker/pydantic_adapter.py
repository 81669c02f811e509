"""Adapter for a Pydantic model: its own strictness, configuration, validators and aliases, as the running API has them.

Scope ``payload``: the whole payload is validated and a field's value is the model's attribute, so an error anywhere in
the payload rejects each of its fields. Scope ``field``, and every raw value that comes without its payload: the field's
own core schema, taken out of the model, is validated alone.
"""

from __future__ import annotations

import hashlib
import json

from . import loading, model_keys, pydantic_1
from .imports import Imports
from .places import place_of_field
from .trouble import StartError, nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional, Tuple

#: Payloads whose outcome is kept, twice: the same payload is asked for each of its fields, some thousands at a time.
KEPT_PAYLOADS, KEPT_CHARACTERS = 8192, 32 * 1024 * 1024


class ValidationError(Exception):
    """A validation error as one line; its text is the whole message."""


class PydanticAdapter:
    """One model, and for each field of the spec the field of the model that reads it."""

    def __init__(self, config: Dict[str, Any]) -> None:
        self.root, self.receives, self.target = config["root"], config["receives"], config["model"]
        self.imports = Imports()
        loading.add_root(self.root)
        self.model = load_model(self.target, self.root)
        self.fields = self.model.model_fields
        self.places = model_keys.places_of(self.model)
        self.paths = self._paths(config)
        self.scope, self.note = self._scope(config["scope"], config["carried"])
        self.kept: Dict[str, Any] = {}
        self.older: Dict[str, Any] = {}
        self.characters = 0

    def _paths(self, config: Dict[str, Any]) -> Dict[str, Tuple[str, ...]]:
        """Map fields of the spec to attributes of the model: as told, else by name or alias."""
        if config["reads"]:
            return {field: self._told(field, target) for field, target in config["reads"].items()}
        known = self._names()
        found: Dict[str, Tuple[str, ...]] = {}
        for field in config["fields"]:
            for place in ([field], *config["paths"][field]):
                if tuple(place) in known:
                    found.setdefault(field, (known[tuple(place)],))
        if found:
            return found
        seen = "none of the spec's fields (%s) is a field of the model" % ", ".join(config["fields"])
        raise StartError(
            "read with %s" % self.target,
            seen,
            'add reads.<field> = "<model field>"; the model has: ' + ", ".join(self.fields),
        )

    def _told(self, field: str, target: str) -> Tuple[str, ...]:
        path = tuple(target.split("."))
        known = self._names()
        if path[:1] not in known:
            seen = "%s has no field %r" % (self.target, path[0])
            names = [str(place[0]) for place in known if len(place) == 1]
            raise StartError("read %s with %s" % (field, target), seen, nearest(path[0], names))
        return (known[path[:1]], *path[1:])

    def _names(self) -> Dict[Tuple[Any, ...], str]:
        """Give the model's fields by what may name each: its places in a payload and, before those, its own name."""
        by_place = {tuple(place): name for name in self.fields for place in self._places(name)}
        by_alias = {(info.alias,): name for name, info in self.fields.items() if info.alias}
        return {**by_alias, **by_place, **{(name,): name for name in self.fields}}

    def _places(self, name: str) -> List[List[Any]]:
        """Give where the model looks for a field, as far as that can be told."""
        return [[name]] if self.places is None else self.places[name]

    def _scope(self, asked: str, carried: Optional[List[str]]) -> Tuple[str, str]:
        """Fall back to single fields where the predictions cannot carry what the model requires."""
        if asked != "payload" or carried is None:
            return asked, ""
        missing = [
            name
            for name, info in self.fields.items()
            if info.is_required() and not any(place[0] in carried for place in self._places(name))
        ]
        if not missing:
            return asked, ""
        names = ", ".join(repr(name) for name in missing)
        return "field", "each field alone: the model requires %s, which the predictions do not carry" % names

    def ready(self) -> Dict[str, Any]:
        """Say which model field reads which field, in what scope."""
        name = self.target.split(":")[-1]
        return {
            "reads": {field: ".".join((name, *path)) for field, path in self.paths.items()},
            "settings": {"pydantic": version_of(self.model), "schema": schema_of(self.model)},
            "scope": self.scope,
            "scope_note": self.note,
            "looks_at": self._looked_at(),
            "looks_after": model_keys.before_of(self.model),
            "places": {field: place_of_field(self.model, path[0]) for field, path in self.paths.items()},
        }

    def _looked_at(self) -> Dict[str, Any]:
        """Give where the model looks for each field; None where nobody can tell."""
        return {
            field: None if self.places is None else self.places[path[0]]
            for field, path in self.paths.items()
            if len(path) == 1
        }

    def parser(self, field: str) -> Callable[[Any], Any]:
        """Give the parser of the field alone."""
        path = self.paths[field]
        if len(path) > 1:
            return cannot_stand_alone
        validator, name = field_validator(self.model, path[0]), path[0]
        start = "{" + json.dumps(name) + ":"
        is_json, failed = self.receives == "json", validation_error(self.model)

        def parse(value: Any) -> Any:
            try:
                if is_json:
                    return validator.validate_json(start + value + "}")[0][name]
                return validator.validate_python({name: value})[0][name]
            except failed as error:
                raise ValidationError(first_line(errors_of(error))) from None

        return parse

    def payload_parser(self, field: str) -> Callable[[Any], Any]:
        """Give the parser of the field within a whole payload."""
        path = self.paths[field]
        places = [[path[0]], *self._places(path[0])]

        def parse(payload: str) -> Any:
            outcome = self._validate(payload)
            if isinstance(outcome, list):
                raise ValidationError(blame(outcome, places))
            for part in path:
                outcome = getattr(outcome, part)
            return outcome

        return parse

    def _validate(self, payload: str) -> Any:
        """Validate a payload once for all of its fields: the model's instance, or the list of errors."""
        if payload in self.kept:
            return self.kept[payload]
        if payload in self.older:
            return self.older[payload]
        if len(self.kept) >= KEPT_PAYLOADS or self.characters > KEPT_CHARACTERS:
            self.kept, self.older, self.characters = {}, self.kept, 0
        self.characters += len(payload)
        try:
            outcome = self._validate_as_received(payload)
        except validation_error(self.model) as error:
            outcome = errors_of(error)
        self.kept[payload] = outcome
        return outcome

    def _validate_as_received(self, payload: str) -> Any:
        if self.receives == "json":
            return self.model.model_validate_json(payload)
        if self.receives == "python":
            return self.model.model_validate(json.loads(payload))
        return self.model.model_validate(texts_of(payload))


def open_adapter(config: Dict[str, Any]) -> PydanticAdapter:
    """Import the consumer's model."""
    return PydanticAdapter(config)


def load_model(target: str, root: str) -> Any:
    """Load a model, one of Pydantic 1 as `pydantic_1` has it."""
    model = loading.load(target, root, is_own_model)
    tried = "load the model " + target
    if pydantic_1.is_model(model):
        return pydantic_1.Model(model)
    if not isinstance(model, type) or not hasattr(model, "model_validate_json"):
        raise StartError(tried, "%s is no Pydantic model" % target, "name a class that derives from pydantic.BaseModel")
    try:
        getattr(model, "model_rebuild")()  # noqa: B009 - to a type checker any class would do
    except Exception as error:  # annotations are the consumer's own code, which may raise anything
        raise StartError(tried, "%s: %s" % (type(error).__name__, error), "the model must be complete") from error
    return model


def schema_of(model: Any) -> str:
    """Name the model's JSON schema by a digest: what it allows may come from a file or a variable, not from sources."""
    try:
        schema = model.model_json_schema()
    except Exception as error:  # noqa: BLE001 - types of the consumer's own need not have one, and may raise anything
        return "none (%s)" % type(error).__name__
    return hashlib.sha256(json.dumps(schema, sort_keys=True, default=str).encode("utf-8", "surrogatepass")).hexdigest()


def is_own_model(value: Any) -> bool:
    """Tell a model of the consumer from what its module imports, of pydantic and otherwise."""
    is_model = isinstance(value, type) and hasattr(value, "model_validate_json")
    return (is_model or pydantic_1.is_model(value)) and value.__module__.partition(".")[0] != "pydantic"


def validation_error(model: Any) -> Any:
    """Give the error class of the model's Pydantic."""
    if isinstance(model, pydantic_1.Model):
        return model.error
    from pydantic import ValidationError

    return ValidationError


def version_of(model: Any) -> str:
    """Give the version of the model's Pydantic."""
    if isinstance(model, pydantic_1.Model):
        return str(model.version)
    import pydantic

    return pydantic.VERSION


def field_validator(model: Any, name: str) -> Any:
    """Build a validator of one field out of the model's own core schema: its validators and configuration stay."""
    if isinstance(model, pydantic_1.Model):
        return model.field_validator(name)
    from pydantic_core import SchemaValidator

    schema = model_keys.Fields(model)
    if schema.by_name is None:
        seen = "its schema is the model's own, and no field can be taken out of it"
        raise StartError("read %s.%s alone" % (model.__name__, name), seen, 'remove scope = "field"')
    field = {"type": "model-field", "schema": schema.by_name[name]["schema"]}
    config: Any = schema.config or None
    alone = {"type": "model-fields", "fields": {name: field}, "model_name": model.__name__}
    if schema.definitions:
        alone = {"type": "definitions", "schema": alone, "definitions": schema.definitions}
    return SchemaValidator(alone, config)


def cannot_stand_alone(value: Any) -> Any:
    """Refuse a raw value of a nested attribute that came without its payload."""
    raise ValidationError("a nested field can only be read in its payload")


def errors_of(error: Any) -> List[Any]:
    """Give the errors of a validation; older versions know fewer options."""
    try:
        errors: List[Any] = error.errors(include_url=False, include_context=False, include_input=False)
    except TypeError:
        errors = error.errors()
    return errors


def first_line(errors: List[Any]) -> str:
    """Write the first error as one line."""
    more = " (and %d more)" % (len(errors) - 1) if len(errors) > 1 else ""
    return "%s [%s]%s" % (errors[0]["msg"], errors[0]["type"], more)


def blame(errors: List[Any], places: List[List[Any]]) -> str:
    """Write the field's own errors, or else what rejected the payload it came in."""
    own = [error for error in errors if model_keys.is_at(error["loc"], places)]
    if own:
        return first_line(own)
    place = ".".join(str(part) for part in errors[0]["loc"]) or "the model"
    return "payload rejected: %s: %s" % (place, first_line(errors))


def texts_of(payload: str) -> Any:
    """Parse a payload so that every scalar is its source text; a null is absent."""
    return as_texts(json.loads(payload, parse_float=str, parse_int=str, parse_constant=str))


def as_texts(value: Any) -> Any:
    """Turn the remaining scalars into text."""
    if isinstance(value, dict):
        return {key: as_texts(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [as_texts(item) for item in value]
    if isinstance(value, bool):
        return "true" if value else "false"
    return value
