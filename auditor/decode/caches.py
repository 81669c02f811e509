"""The folder for what is built once per machine: the preloaded clock, locales."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path


def cache_folder() -> Path:
    """Give the folder, ours alone: in the user's cache, else among the temporary files; OSError where neither can be.

    What lies there is loaded into processes, so a folder that anybody else can write to is not used.
    """
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    places = (Path(home) / "auditor", Path(tempfile.gettempdir()) / f"auditor-cache-{os.geteuid()}")
    trouble = OSError("nothing was tried")
    for folder in places:
        try:
            check_can_be_listed(folder)
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            check_is_ours(folder)
        except OSError as error:
            trouble = error
        else:
            return folder
    raise trouble


def check_can_be_listed(folder: Path) -> None:
    """Raise OSError for a path that LD_PRELOAD or LOCPATH would take for two: they split at blanks and colons."""
    if any(character in " :" or character.isspace() for character in str(folder)):
        raise OSError(f"{folder} has a blank or a colon in its path, at which the loader would split it")


def check_is_ours(folder: Path) -> None:
    """Raise PermissionError for a folder that is another user's, or that others or nobody can write to."""
    status = folder.lstat()
    is_ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o022
    if not is_ours or not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(f"{folder} is not a folder of ours alone")
