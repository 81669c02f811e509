"""Locks that the kernel keeps: of whoever dies, by whatever signal, it takes them back."""

from __future__ import annotations

import errno
import fcntl
import os
from contextlib import suppress
from pathlib import Path

from auditor.errors import StoreError

_BUSY = (errno.EAGAIN, errno.EACCES)


def take(path: Path, *, shared: bool = False) -> int | None:
    """Take the lock of a file; gives the descriptor that holds it until it is closed, None where somebody else does."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        if error.errno in _BUSY:
            return None
        raise StoreError(f"{path}: cannot be locked: {error.strerror}; has the file system locks?") from error
    return descriptor


def take_new(path: Path) -> int:
    """Take the lock of a file that nobody knows yet; who sweeps may find it before it is held, and remove it."""
    while True:
        descriptor = take(path)
        with suppress(FileNotFoundError):
            if descriptor is not None and os.fstat(descriptor).st_ino == path.stat().st_ino:
                return descriptor
        if descriptor is not None:
            os.close(descriptor)


def wait_for(path: Path) -> int:
    """Take the lock of a file once it is free; gives the descriptor that holds it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


def is_held(path: Path) -> bool:
    """Say whether somebody holds the lock of a file alone."""
    descriptor = take(path, shared=True)
    if descriptor is None:
        return True
    os.close(descriptor)
    return False
