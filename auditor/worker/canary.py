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


def has_network() -> bool:
    """Say whether this process has any interface but a loopback that is down."""
    import _socket
    import errno

    try:
        with open("/proc/self/net/dev") as table:
            names = [line.partition(":")[0].strip() for line in table.readlines()[2:]]
        with_loopback = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM)
        try:
            with_loopback.connect(("127.0.0.1", 9))
        finally:
            with_loopback.close()
    except OSError as error:
        return error.errno != errno.ENETUNREACH or names != ["lo"]
    return True


def look(instants: "list[float]", network: bool = True) -> "dict[str, Any]":
    """Say what clock, zone, locale, hash seed and folder this process sees; `instants` are where the zone is compared.

    Whether it has a network is looked at where it should have none.
    """
    return {
        "clock": time.time(),
        "offsets": [time.localtime(instant).tm_gmtoff for instant in instants],
        "locale": active_locale(),
        "hash_seed": "" if sys.flags.ignore_environment else os.environ.get("PYTHONHASHSEED", ""),
        "randomized": bool(sys.flags.hash_randomization),
        "python": "%s %s" % (sys.implementation.name, sys.version.split()[0]),
        "standard": os.path.dirname(os.__file__),
        "folder": os.getcwd(),
        "home": os.path.realpath(os.environ.get("HOME", "")),
        "has_network": None if network else has_network(),
    }
