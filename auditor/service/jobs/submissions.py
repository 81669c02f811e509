"""What is submitted: bytes that stream in, or a file below a folder that the operator allowed."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import AsyncIterator, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, Final

from anyio import to_thread

#: The suffix of a file by the type that its sender says it has.
SUFFIX_OF_TYPE: Final = {
    "application/x-ndjson": ".jsonl",
    "application/jsonl": ".jsonl",
    "text/csv": ".csv",
    "text/tab-separated-values": ".tsv",
    "application/vnd.apache.parquet": ".parquet",
    "application/x-parquet": ".parquet",
}

_CHUNK: Final = 1 << 20
_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT)


class TooLong(Exception):
    """More bytes than are allowed."""


class NotAllowed(Exception):
    """A file that the operator does not let a client name; nothing is said of whether it is there."""


class NoFile(Exception):
    """A file that could be named, and is not there or no file."""


def is_no_room(error: OSError) -> bool:
    """Say whether the disk is full."""
    return error.errno in _NO_ROOM


async def spool(parts: AsyncIterator[bytes], path: Path, most: int) -> str:
    """Write what streams in to a file, never more of it in memory than a part; gives its sha256.

    TooLong where it is more than `most` bytes.
    """
    digest, size, pending = hashlib.sha256(), 0, bytearray()
    with path.open("xb") as file:
        async for part in parts:
            size += len(part)
            if size > most:
                raise TooLong
            pending += part
            if len(pending) >= _CHUNK:
                await to_thread.run_sync(_add, file, digest, bytes(pending))
                pending.clear()
        await to_thread.run_sync(_add, file, digest, bytes(pending))
    return digest.hexdigest()


def copy_allowed(named: str, folders: Iterable[Path], path: Path) -> str:
    """Copy a file that a client names, as it is now; gives its sha256.

    NotAllowed where it is not below one of the folders, wherever links lead; NoFile where there is no such file.
    """
    if "\0" in named or not os.path.isabs(named):
        raise NotAllowed
    below = [Path(os.path.realpath(folder)) for folder in folders]
    if not any(Path(os.path.realpath(named)).is_relative_to(folder) for folder in below):
        raise NotAllowed
    digest = hashlib.sha256()
    try:
        descriptor = os.open(os.path.realpath(named), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise NoFile from error
    with ExitStack() as open_file:
        open_file.callback(os.close, descriptor)
        # What was opened counts, not what the name led to a moment ago.
        opened = Path(os.path.realpath(f"/proc/self/fd/{descriptor}"))
        if not any(opened.is_relative_to(folder) for folder in below):
            raise NotAllowed
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise NoFile
        source = open_file.enter_context(os.fdopen(descriptor, "rb", closefd=False))
        with path.open("xb") as file:
            while chunk := source.read(_CHUNK):
                _add(file, digest, chunk)
    return digest.hexdigest()


def _add(file: BinaryIO, digest: hashlib._Hash, data: bytes) -> None:
    file.write(data)
    digest.update(data)
