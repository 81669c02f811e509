"""How a worker is started and ended, whoever does it: command, inheritance, pipes, and the end of its group."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final

#: The script that a consumer's interpreter runs; it is imported by nobody.
WORKER: Final = Path(__file__).resolve().parent / "worker" / "main.py"

#: What a worker inherits of our own environment; everything else is set or absent.
INHERITED: Final = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")


def worker_command(program: str) -> list[str]:
    """Give the command with which an interpreter runs the worker, but for its descriptors.

    Not every interpreter knows `-P`, which ours needs: the worker's folder is none of the modules of a consumer.
    """
    return [program, *(["-P"] if program == sys.executable else []), str(WORKER)]


def inherited() -> dict[str, str]:
    """Give what a worker inherits of our own environment."""
    return {name: os.environ[name] for name in INHERITED if name in os.environ}


def pipe(reads: ExitStack, writes: ExitStack) -> tuple[int, int]:
    """Open a pipe; each end is closed with a stack of its own."""
    reading, writing = os.pipe()
    reads.callback(os.close, reading)
    writes.callback(os.close, writing)
    return reading, writing


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a worker that is not reaped, so that its number is still its own, with all of its group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
