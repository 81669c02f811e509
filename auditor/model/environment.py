"""What a decoding may depend on besides the string."""

from __future__ import annotations

from dataclasses import dataclass

#: Friday 2024-03-08 09:05:07 UTC: an ordinary day, so that nothing is clamped to a month's end.
BASE_CLOCK = "2024-03-08T09:05:07+00:00"


@dataclass(frozen=True)
class Environment:
    """One fixed environment: `clock` is an ISO instant with offset, `zone` an IANA name, `locale` a POSIX name."""

    name: str = "base"
    clock: str = BASE_CLOCK
    zone: str = "UTC"
    locale: str = "C.UTF-8"
    hash_seed: int = 0
