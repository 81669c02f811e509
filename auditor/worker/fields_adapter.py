"""Adapter that decodes nothing: it says what the fields of a Pydantic model are, for `fields_from` of a spec.

`ready` carries ``described``: for each field of the model, in its order, a table with `name`, `places` (where the model
looks for it in a payload, in order: each a list of keys and positions), `kind` and `shown` (the annotation as a reader
would write it). A kind is one of the types of a spec's fields, `text` (nothing says how texts compare) or
empty: a type that is no field's. Ordinals have `minimum` and `maximum`, and categories of whole numbers `members`.
"""

from __future__ import annotations

import datetime
import decimal
import enum
import math
import re
import typing

from . import loading, model_keys, pydantic_1
from .pydantic_adapter import load_model
from .trouble import StartError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional, Tuple

#: Pydantic's own classes that stand for a date, a datetime or a text that is checked.
CHECKED = {
    "EmailStr": "text",
    "PastDate": "date",
    "FutureDate": "date",
    "AwareDatetime": "datetime",
    "NaiveDatetime": "datetime",
    "PastDatetime": "datetime",
    "FutureDatetime": "datetime",
}

#: Texts that name a member that is a number, or a truth.
LIKE_NO_TEXT = re.compile(r"(-?[0-9]+|true|false)\Z")

#: The first class that a type derives from decides: a bool is an int, and a datetime a date.
KINDS = (
    (enum.Enum, "category"),
    (bool, "boolean"),
    (int, "integer"),
    (float, "decimal"),
    (decimal.Decimal, "decimal"),
    (datetime.datetime, "datetime"),
    (datetime.date, "date"),
    (str, "text"),
)


class Bounds:
    """The bounds of a number as Pydantic has them: of two `ge` (`gt`, `le`, `lt`) the outer, or the later, one counts.

    They are found from the outside to the inside.
    """

    def __init__(self) -> None:
        self.found: "Dict[str, Any]" = {}

    def add(self, metadata: "Any") -> None:
        """Take the bounds that some pieces of metadata state, in their order."""
        for part in reversed(list(metadata)):
            inner = getattr(part, "metadata", None)  # of a Field within an annotation
            if inner:
                self.add(inner)
            for name in ("ge", "gt", "le", "lt"):
                bound = getattr(part, name, None)
                if is_finite(bound):
                    self.found.setdefault(name, bound)

    @property
    def lowest(self) -> "Optional[int]":
        """Give the first whole number within them; an exclusive bound is the next one."""
        return max(self.each(ge=math.ceil, gt=lambda bound: math.floor(bound) + 1), default=None)

    @property
    def highest(self) -> "Optional[int]":
        """Give the last whole number within them."""
        return min(self.each(le=math.floor, lt=lambda bound: math.ceil(bound) - 1), default=None)

    def each(self, **whole: "Callable[[Any], int]") -> "List[int]":
        """Give the whole number of each bound that is stated."""
        return [take(self.found[name]) for name, take in whole.items() if name in self.found]


def is_finite(bound: "Any") -> bool:
    """Say whether a bound is a number that bounds anything."""
    return isinstance(bound, (int, float, decimal.Decimal)) and math.isfinite(bound)


def bare(annotation: "Any", bounds: Bounds) -> "Any":
    """Take off what is around a type at any level: Annotated, Optional, names of types; note the bounds in it."""
    while True:
        metadata = getattr(annotation, "__metadata__", None)
        if metadata is not None:
            bounds.add(metadata)
            annotation = annotation.__origin__
        elif hasattr(annotation, "__supertype__"):  # NewType
            annotation = annotation.__supertype__
        elif hasattr(annotation, "__value__") and not isinstance(annotation, type):  # type X = …
            annotation = annotation.__value__
        else:
            choices = [choice for choice in choices_of(annotation) if choice is not type(None)]
            if len(choices) != 1:
                return annotation
            annotation = choices[0]


def choices_of(annotation: "Any") -> "Tuple[Any, ...]":
    """Give the members of a union, nothing where it is none."""
    origin = typing.get_origin(annotation)
    is_union = origin is typing.Union or type(annotation).__name__ == "UnionType"
    return typing.get_args(annotation) if is_union else ()


def kind_of(annotation: "Any") -> str:
    """Give the type of field that a bare annotation is of, `text`, or nothing."""
    if typing.get_origin(annotation) is typing.Literal:
        return "category"
    if not isinstance(annotation, type) or typing.get_args(annotation):
        return ""
    if annotation.__module__.partition(".")[0] == "pydantic" and annotation.__name__ in CHECKED:
        return CHECKED[annotation.__name__]
    return next((kind for known, kind in KINDS if issubclass(annotation, known)), "")


def described(name: str, info: "Any", places: "Any") -> "Dict[str, Any]":
    """Describe one field of a model, which looks for it at some places of a payload."""
    bounds = Bounds()
    bounds.add(info.metadata)
    annotation = bare(info.annotation, bounds)
    kind = kind_of(annotation)
    field: "Dict[str, Any]" = {"name": name, "places": places, "kind": kind, "shown": shown(info.annotation)}
    if kind == "integer" and bounds.lowest is not None and bounds.highest is not None:
        field.update(kind="ordinal", minimum=bounds.lowest, maximum=bounds.highest)
    if kind == "category":
        field.update(category_of(members_of(annotation)))
    return field


def members_of(annotation: "Any") -> "List[Any]":
    """Give the values of a Literal, those of Literals in it too, or of an Enum."""
    if typing.get_origin(annotation) is not typing.Literal:
        return [member.value for member in annotation]
    found: "List[Any]" = []
    for value in typing.get_args(annotation):
        found += [value.value] if isinstance(value, enum.Enum) else [value]
    return found


def category_of(values: "List[Any]") -> "Dict[str, Any]":
    """Say what the members of a category are, but for a None among them; no kind where references cannot name them.

    Texts that look like a number or a truth cannot stand beside those: a table has one text for both.
    """
    given = [value for value in values if value is not None]
    if not all(isinstance(value, (str, int)) for value in given):
        return {"kind": ""}
    if all(isinstance(value, str) for value in given):
        return {}
    if not any(isinstance(value, (str, bool)) for value in given):
        return {"members": "integer"}
    is_clear = not any(isinstance(value, str) and LIKE_NO_TEXT.match(value) for value in given)
    return {"members": "mixed"} if is_clear else {"kind": ""}


def shown(annotation: "Any") -> str:
    """Write an annotation as a reader would."""
    if isinstance(annotation, type) and not typing.get_args(annotation):
        return annotation.__qualname__
    return repr(annotation).replace("typing.", "").replace("NoneType", "None")


class FieldsAdapter:
    """The fields of one model."""

    def __init__(self, config: "Dict[str, Any]") -> None:
        loading.add_root(config["root"])
        self.model = load_model(config["model"], config["root"])
        if isinstance(self.model, pydantic_1.Model):
            hint = "write its fields in [fields]: types, bounds and all"
            raise StartError("read the fields of " + config["model"], "it is a model of Pydantic 1", hint)
        places = model_keys.places_of(self.model)
        if places is None:
            seen = "its schema is its own: where it looks in a payload for a field cannot be told"
            hint = "write its fields in [fields], each with a `path`"
            raise StartError("read the fields of " + config["model"], seen, hint)
        self.places = places

    def ready(self) -> "Dict[str, Any]":
        """Give the fields in the place of a readiness."""
        fields = self.model.model_fields.items()
        return {"reads": {}, "described": [described(name, info, self.places[name]) for name, info in fields]}


def open_adapter(config: "Dict[str, Any]") -> FieldsAdapter:
    """Import the consumer's model."""
    return FieldsAdapter(config)
