"""Models of Pydantic 1, called as those of Pydantic 2 are: by the adapter beside this file."""

from __future__ import annotations

import json
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Tuple


def is_model(value: Any) -> bool:
    """Say whether a class is a model of Pydantic 1, which Pydantic 2 has as `pydantic.v1`."""
    return isinstance(value, type) and hasattr(value, "__fields__") and not hasattr(value, "__pydantic_validator__")


class Field:
    """A field as Pydantic 2 describes it, as far as the adapter asks."""

    validation_alias = None

    def __init__(self, field: Any) -> None:
        self.field = field
        self.alias = field.alias

    def is_required(self) -> bool:
        """Say whether a payload without the field is refused."""
        return bool(self.field.required)


class Model:
    """A model: whole payloads by its own methods, single fields by their own validators."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.__name__ = model.__name__
        self.model_fields = {name: Field(field) for name, field in model.__fields__.items()}
        base = next(one for one in reversed(model.__mro__) if one.__name__ == "BaseModel")
        self.package = base.__module__.rpartition(".")[0]
        self.error = sys.modules[self.package + ".error_wrappers"].ValidationError
        self.version = sys.modules[self.package + ".version"].VERSION

    def model_validate_json(self, payload: str) -> Any:
        """Validate the JSON text of a payload."""
        return self.model.parse_raw(payload)

    def model_validate(self, payload: Any) -> Any:
        """Validate a payload."""
        return self.model.parse_obj(payload)

    def model_json_schema(self) -> Any:
        """Give the model's JSON schema."""
        return self.model.schema()

    def field_validator(self, name: str) -> FieldValidator:
        """Give the validator of one field."""
        return FieldValidator(self, name)


class FieldValidator:
    """A field's own type and validators, with the interface of a `SchemaValidator` of that field alone."""

    def __init__(self, model: Model, name: str) -> None:
        self.owner, self.name = model, name
        self.field = model.model.__fields__[name]

    def validate_json(self, text: str) -> Tuple[Dict[str, Any], None]:
        """Validate the JSON text of an object that has the field."""
        loads = getattr(self.owner.model.__config__, "json_loads", json.loads)
        return self.validate_python(loads(text))

    def validate_python(self, values: Dict[str, Any]) -> Tuple[Dict[str, Any], None]:
        """Validate an object that has the field."""
        value, errors = self.field.validate(values[self.name], {}, loc=self.field.alias, cls=self.owner.model)
        if errors:
            raise self.owner.error(errors if isinstance(errors, list) else [errors], self.owner.model)
        return {self.name: value}, None
