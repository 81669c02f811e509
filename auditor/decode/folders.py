"""Temporary folders, one for each worker and each audit; what killed parents left is removed by whoever comes next."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path

from auditor.errors import AuditorError

#: First part of a folder's name: that of a worker, and that in which DuckDB keeps what does not fit into memory.
WORKER = "auditor-worker-"
SPILL = "auditor-spill-"

#: Seconds after which a folder without a lock is abandoned: one that is just being made has none yet.
ABANDONED_AFTER = 60.0


def open_folder(stack: ExitStack, prefix: str) -> str:
    """Create a folder that is removed with `stack`; locked as long as this process lives, however it ends."""
    remove_abandoned(tempfile.gettempdir())
    folder = tempfile.mkdtemp(prefix=prefix)
    stack.callback(shutil.rmtree, folder, ignore_errors=True)
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    stack.callback(os.close, lock)
    with suppress(OSError):  # a file system without locks: nobody can take the folder for abandoned then
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    return folder


@cache
def remove_abandoned(place: str) -> None:
    """Remove what killed parents left in a folder of temporary files; looked for once per process."""
    for prefix in (WORKER, SPILL):
        for folder in Path(place).glob(f"{prefix}*"):
            with suppress(OSError):
                _remove_if_abandoned(folder)


def _remove_if_abandoned(folder: Path) -> None:
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        status = os.fstat(lock)
        if status.st_uid != os.geteuid() or time.time() - status.st_mtime < ABANDONED_AFTER:
            return
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)


def open_spill(folders: ExitStack) -> str:
    """Open the folder for what does not fit into memory; AuditorError where none can be made."""
    try:
        return open_folder(folders, SPILL)
    except OSError as error:
        raise AuditorError(
            f"no folder for temporary files can be made\n  seen:  {error}\n"
            "  next:  free space or permissions there, or set TMPDIR to another folder"
        ) from error
