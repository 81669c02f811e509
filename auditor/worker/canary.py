"""Limits of the process, and what its environment really is: read before the consumer is imported."""

from __future__ import annotations

import _locale
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def limit_memory(size: int) -> None:
    """Cap the address space and write no core files; a platform without such limits goes without."""
    try:
        import resource

        for limit, value in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_AS, size)):
            hard = resource.getrlimit(limit)[1]
            resource.setrlimit(limit, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))
    except (ImportError, OSError, ValueError):
        pass


def active_locale() -> str:
    """Name the locale that the environment's variables give, without leaving it switched on."""
    before = _locale.setlocale(_locale.LC_ALL, None)
    try:
        return _locale.setlocale(_locale.LC_ALL, "")
    except (OSError, ValueError, getattr(_locale, "Error")):  # noqa: B009 - the stubs do not know it
        return ""
    finally:
        _locale.setlocale(_locale.LC_ALL, before)


def look(instants: "list[float]") -> "dict[str, Any]":
    """Say what clock, zone, locale and hash seed this process sees; `instants` are where the zone is compared."""
    return {
        "clock": time.time(),
        "offsets": [time.localtime(instant).tm_gmtoff for instant in instants],
        "locale": active_locale(),
        "hash_seed": "" if sys.flags.ignore_environment else os.environ.get("PYTHONHASHSEED", ""),
        "randomized": bool(sys.flags.hash_randomization),
        "python": "%s %s" % (sys.implementation.name, sys.version.split()[0]),
        "standard": os.path.dirname(os.__file__),
    }
