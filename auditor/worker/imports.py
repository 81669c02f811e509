"""Which modules the consumer has imported: told to the parent as they come, since some come with a string only."""

from __future__ import annotations

import sys
from builtins import AttributeError, TypeError, dict, isinstance, len, list, next, object, reversed, set, str, type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, List, Optional, Set, Tuple

modules = sys.modules
attribute_of = object.__getattribute__


class Imports:
    """What is imported from now on; the adapter has one, made before it opens the consumer."""

    def __init__(self) -> None:
        self.known: Set[str] = set(modules)
        self.last = self._last()

    def _last(self) -> Tuple[int, Optional[str]]:
        return len(modules), next(reversed(modules), None)

    def have_come(self) -> bool:
        """Say whether there are others than when `news` was asked."""
        return self._last() != self.last

    def news(self) -> List[List[str]]:
        """Give name and file of the modules that were not yet told of."""
        self.last = self._last()
        found = []
        for name, module in list(modules.items()):
            if name not in self.known:
                self.known.add(name)
                file = file_of(module)
                if file is not None and isinstance(name, str):
                    found.append([name, file])
        return found


def file_of(module: Any) -> Optional[str]:
    """Give the file of a module, without running code of its own; what sits in sys.modules need not be one."""
    try:
        attributes = attribute_of(module, "__dict__")
    except (AttributeError, TypeError):
        return None
    file = attributes.get("__file__") if type(attributes) is dict else None
    return file if isinstance(file, str) else None
