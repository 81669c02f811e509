"""Adapter for functions: ``module:function`` from the consumer's import root."""

from __future__ import annotations

from . import loading
from .batch import alone
from .imports import Imports
from .places import place_of_function
from .trouble import StartError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict


class PythonAdapter:
    """The consumer's functions, one per field."""

    def __init__(self, config: Dict[str, Any]) -> None:
        self.root, self.reads, self.batch = config["root"], config["reads"], config["batch"]
        self.batch_size = config["batch_size"]
        self.imports = Imports()
        loading.add_root(self.root)
        self.parsers = {field: self._function(field, target) for field, target in self.reads.items()}

    def _function(self, field: str, target: str) -> Callable[[Any], Any]:
        found = loading.load(target, self.root)
        if not callable(found):
            seen = "%s is of type %s and cannot be called" % (target, type(found).__name__)
            takes = "a list of raw values" if self.batch else "one raw value"
            raise StartError("load %s for %s" % (target, field), seen, "name a function that takes " + takes)
        function: Callable[[Any], Any] = found
        return function

    def ready(self) -> Dict[str, Any]:
        """Say which function reads which field, and where it stands."""
        places = {field: place_of_function(parser) for field, parser in self.parsers.items()}
        return {"reads": self.reads, "settings": self._settings(), "places": places}

    def _settings(self) -> Dict[str, str]:
        size = {"batch_size": str(self.batch_size)} if self.batch_size else {}
        return {"batch": "true", **size} if self.batch else {}

    def parser(self, field: str) -> Callable[[Any], Any]:
        """Give the function that reads one value of a field; where it takes batches, each value is one of its own."""
        return alone(self.parsers[field]) if self.batch else self.parsers[field]

    def batch_parser(self, field: str) -> Callable[[Any], Any]:
        """Give the function that reads a batch of a field's values."""
        return self.parsers[field]


def open_adapter(config: Dict[str, Any]) -> PythonAdapter:
    """Import the consumer's functions."""
    return PythonAdapter(config)
