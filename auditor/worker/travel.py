"""The consumer's own time-machine library, as the last way to fix the clock: before the consumer is imported."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterator

#: What time-machine imports where it is installed. Dateutil reads the clock at its import: the real one, if now.
NOT_YET = ("dateutil", "pytest")


def travel(epoch: float) -> bool:
    """Freeze the clock of this interpreter at an instant; False where the library is not there or does not start."""
    try:
        machine = without(NOT_YET) or imported_and_forgotten()
        machine.travel(epoch, tick=False).start()  # a number leaves the time zone alone, a datetime may set it
    except Exception:  # noqa: BLE001 - whatever it is, the canary tells that the clock is not fixed
        return False
    return True


def without(names: "tuple[str, ...]") -> "Any":
    """Import the library as if others were not installed; None where it does not do without them."""
    barred = [name for name in names if name not in sys.modules]
    try:
        sys.modules.update(dict.fromkeys(barred))  # type: ignore[arg-type]
        return __import__("time_machine")
    except ImportError:
        return None
    finally:
        for name in barred:
            sys.modules.pop(name, None)


def imported_and_forgotten() -> "Any":
    """Import the library, and forget what it brought along, so that the consumer imports it again."""
    machine = __import__("time_machine")
    for name in list(brought_along()):
        del sys.modules[name]
    return machine


def brought_along() -> "Iterator[str]":
    """Name the modules that are not the library's own and that may have read the clock."""
    for name in list(sys.modules):
        if name.partition(".")[0] in (*NOT_YET, "six"):
            yield name
