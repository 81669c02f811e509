"""A file appears whole or not at all."""

from __future__ import annotations

import os
import secrets
from contextlib import ExitStack
from pathlib import Path


def write_whole(path: Path, data: bytes, mode: int = 0o666) -> None:
    """Write a file aside and rename it; OSError where that fails, and then what was there before is there still.

    What is no file, such as /dev/null or a pipe, is written to: a rename would put a file in its place.
    """
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    target = path.resolve() if path.is_symlink() else path
    aside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    with ExitStack() as failed:
        failed.callback(aside.unlink, missing_ok=True)
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, target)
        failed.pop_all()
