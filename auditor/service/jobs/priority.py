"""Lets a process give way to the service, which answers meanwhile."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

#: How much lower the priority is than that of the service.
NICE: Final = 19


def give_way() -> None:
    """Lower the priority of this process and of those that it starts.

    A process of a session of its own is weighed with its session first, where the kernel groups by sessions:
    there its own number would say nothing to whoever is in another one.
    """
    os.nice(NICE)
    with suppress(OSError):  # a kernel that does not
        Path("/proc/self/autogroup").write_text(str(NICE))
