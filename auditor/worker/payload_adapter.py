"""Adapter for the function that takes the payload out of a reply: ``module:function``, a text in, an object out.

What it gives is written as JSON text: an object that it has parsed, or a text that it has cut out.
"""

from __future__ import annotations

import json

from . import loading
from .imports import Imports
from .trouble import StartError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict


class NoPayloadError(Exception):
    """The function gave neither an object nor a text."""


class PayloadAdapter:
    """The pipeline's own reader of replies."""

    def __init__(self, config: Dict[str, Any]) -> None:
        self.root, self.reads = config["root"], config["reads"]
        self.imports = Imports()
        loading.add_root(self.root)
        ((_, target),) = self.reads.items()
        found = loading.load(target, self.root)
        if not callable(found):
            seen = "%s is of type %s and cannot be called" % (target, type(found).__name__)
            raise StartError("load " + target, seen, "name a function that takes the text of a reply")
        self.function: Callable[[str], Any] = found

    def ready(self) -> Dict[str, Any]:
        """Say which function reads replies."""
        return {"reads": self.reads, "settings": {}}

    def parser(self, field: str) -> Callable[[str], str]:
        """Give what reads one reply and writes its payload as JSON text."""
        return self._read

    def _read(self, text: str) -> str:
        found = self.function(text)
        if isinstance(found, str):
            return found
        if not isinstance(found, dict):
            raise NoPayloadError("the reader gave %s, neither an object nor a text" % type(found).__name__)
        return json.dumps(found, default=plain)


def plain(value: Any) -> Any:
    """Give what JSON has no type for as the text that it prints."""
    return str(value)


def open_adapter(config: Dict[str, Any]) -> PayloadAdapter:
    """Import the function."""
    return PayloadAdapter(config)
