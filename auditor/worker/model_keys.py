"""Where a Pydantic model looks in a payload for each of its fields: aliases in their order, and the field's own name.

It is read from the model's core schema, which is what validates: aliases that a function made are in it as they came
out, and so is whether names count, aliases, or both.
"""

from __future__ import annotations

from . import pydantic_1

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Tuple, Union

    Place = List[Union[str, int]]

#: Schemas of a model's own functions that get the payload before its fields are looked for.
BEFORE = ("function-before", "function-wrap", "function-plain")


class Fields:
    """What a core schema says of a model's fields; `by_name` is None where it has none that can be followed.

    `before` names functions of the model's own that get the payload first, and may move what it holds.
    """

    def __init__(self, model: Any) -> None:
        self.by_name: Optional[Dict[str, Any]] = None
        self.definitions: List[Any] = []
        self.config: Dict[str, Any] = {}
        self.before: List[str] = []
        self._walk(model.__pydantic_core_schema__)

    def _walk(self, schema: Any) -> None:
        while schema is not None:
            if schema["type"] == "model-fields":
                self.by_name = schema["fields"]
                return
            if schema["type"] in BEFORE:
                self.before.append(name_of(schema["function"]))
            if schema["type"] == "definitions":
                self.definitions = schema["definitions"]
            if schema["type"] == "model":
                self.config = schema.get("config") or {}
            schema = self._below(schema)

    def _below(self, schema: Any) -> Any:
        if schema["type"] == "definition-ref":
            wanted = schema["schema_ref"]
            return next((each for each in self.definitions if each.get("ref") == wanted), None)
        return schema.get("schema")


def name_of(function: Any) -> str:
    """Give the name of a function within a schema."""
    inner = function.get("function") if isinstance(function, dict) else function
    return str(getattr(inner, "__name__", None) or type(inner).__name__)


def places_of(model: Any) -> Optional[Dict[str, List[Place]]]:
    """Give, for each field, the places in a payload where its model looks, in order; None where nobody can tell."""
    if isinstance(model, pydantic_1.Model):
        return {name: places_in_pydantic_1(model, name) for name in model.model_fields}
    found = Fields(model)
    if found.by_name is None:
        return None
    takes_names = found.config.get("validate_by_name", found.config.get("populate_by_name", False))
    takes_aliases = found.config.get("validate_by_alias", True)
    places: Dict[str, List[Place]] = {}
    for name, field in found.by_name.items():
        aliases = as_places(field.get("validation_alias")) if takes_aliases else []
        own: List[Place] = [[name]]
        places[name] = aliases + [one for one in own if one not in aliases and (takes_names or not aliases)]
    return places


def as_places(alias: Any) -> List[Place]:
    """Give the places that an alias of a core schema names: a key, a path, or several paths."""
    if alias is None:
        return []
    if isinstance(alias, str):
        return [[alias]]
    return [list(one) for one in alias] if isinstance(alias[0], list) else [list(alias)]


def places_in_pydantic_1(model: Any, name: str) -> List[Place]:
    """Give them of a field of a model of Pydantic 1: its alias, and its name where the model takes both."""
    alias = model.model_fields[name].alias
    takes_names = getattr(model.model.__config__, "allow_population_by_field_name", False)
    return [[alias]] + ([[name]] if takes_names and alias != name else [])


def before_of(model: Any) -> List[str]:
    """Name the model's own functions that get a payload before its fields are looked for."""
    if isinstance(model, pydantic_1.Model):
        return [str(getattr(one, "__name__", one)) for one in model.model.__pre_root_validators__]
    return Fields(model).before


def is_at(where: Tuple[Any, ...], places: List[Place]) -> bool:
    """Say whether the place of an error is one of these, or within one."""
    return any(list(where[: len(place)]) == place for place in places)
