"""What root may do and others may not."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

NOBODY = 65534


@contextmanager
def as_nobody() -> Iterator[None]:
    """Be nobody while the block runs, where we are root, who may read and write everything."""
    if os.geteuid() != 0:
        yield
        return
    os.setresuid(NOBODY, NOBODY, 0)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setresuid(0, 0, 0)
