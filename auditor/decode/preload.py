"""The library that freezes the wall clock of a process that preloads it: compiled once, where there is a C compiler."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from threading import Lock

from auditor.decode.caches import cache_folder

SOURCE = Path(__file__).resolve().parent.parent / "worker" / "clockshim.c"

#: Arguments between the compiler and the files; no check for null pointers may be left out.
OPTIONS = ("-std=gnu11", "-O2", "-w", "-fno-delete-null-pointer-checks", "-shared", "-fPIC")
LIBRARIES = ("-ldl", "-lpthread")

#: Looked for on PATH, in this order.
COMPILERS = ("cc", "gcc", "clang")
SECONDS_TO_COMPILE = 60

_compiling = Lock()


class NoLibrary(Exception):
    """Why there is no library to preload."""


def library() -> Path:
    """Give the compiled library; NoLibrary says why there is none."""
    with _compiling:
        found = _library()
    if isinstance(found, str):
        raise NoLibrary(found)
    return found


@cache
def _library() -> Path | str:
    if sys.platform != "linux" or sys.maxsize < 2**32:
        return "a clock is preloaded on 64-bit Linux only"
    compiler = next((path for path in map(shutil.which, COMPILERS) if path), None)
    source = SOURCE.read_bytes()
    identity = " ".join((*OPTIONS, *LIBRARIES, platform.machine(), *platform.libc_ver()))
    name = f"clockshim-{hashlib.sha256(source + identity.encode()).hexdigest()[:16]}.so"
    try:
        path = cache_folder() / name
        return path if path.is_file() else _compile(compiler, path)
    except OSError as error:
        return f"no folder to compile the clock in: {error}"


def _compile(compiler: str | None, path: Path) -> Path | str:
    """Compile beside the target and rename: several audits may do so at once."""
    if compiler is None:
        return f"no C compiler on PATH ({', '.join(COMPILERS)}), which the clock that names lines is made with"
    descriptor, made = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".part")
    os.close(descriptor)
    try:
        command = [compiler, *OPTIONS, "-o", made, str(SOURCE), *LIBRARIES]
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_TO_COMPILE, check=False)
        if done.returncode:
            return f"{compiler} did not compile {SOURCE.name}: {(done.stderr.strip() or 'no message').splitlines()[-1]}"
        os.chmod(made, 0o755)
        os.replace(made, path)
    except subprocess.TimeoutExpired:
        return f"{compiler} did not compile {SOURCE.name} within {SECONDS_TO_COMPILE} s"
    finally:
        Path(made).unlink(missing_ok=True)
    return path


def preloaded(variables: Mapping[str, str], nanoseconds: int) -> dict[str, str]:
    """Give the process environment in which a program's wall clock stands at an instant; NoLibrary where it cannot."""
    others = variables.get("LD_PRELOAD")
    first = str(library())
    return {
        **variables,
        "LD_PRELOAD": f"{first}:{others}" if others else first,
        "AUDITOR_CLOCK_NS": str(nanoseconds),
    }
