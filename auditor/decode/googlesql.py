"""GoogleSQL's reference implementation, compiled once per machine: that takes a minute, and no worker may so long."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from auditor.decode.caches import cache_folder

COMPILER = Path(__file__).resolve().parent.parent / "worker" / "googlesql_module.py"

#: Seconds that it may take on a busy machine.
SECONDS_TO_COMPILE = 600

_compiling = threading.Lock()


def compiled_module() -> Path | None:
    """Give the file of the compiled module, made where there is none; None where that cannot be, and the worker tells.

    OSError where there is no folder for it.
    """
    if importlib.util.find_spec("zetasql") is None or importlib.util.find_spec("wasmtime") is None:
        return None
    versions = "-".join(importlib.metadata.version(name) for name in ("zetasql", "wasmtime"))
    with _compiling:
        path = cache_folder() / f"googlesql-{versions}.cwasm"
        return path if path.is_file() else _compile(path)


def _compile(path: Path) -> Path | None:
    """Compile beside the target and rename: several audits may do so at once."""
    descriptor, made = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".part")
    os.close(descriptor)
    try:
        command = [sys.executable, str(COMPILER), made]
        done = subprocess.run(command, capture_output=True, timeout=SECONDS_TO_COMPILE, check=False)
        if done.returncode:
            return None
        os.replace(made, path)
    except subprocess.TimeoutExpired:
        return None
    finally:
        Path(made).unlink(missing_ok=True)
    return path
