"""The command line for tests: each call is a process of its own, forked from one that has imported the auditor.

To import what an audit needs takes half a second of a processor, and the tests call hundreds of commands. What Python
decides when it starts (the seed of its hashes, the locale, where modules are) is that of the process that is forked:
there is one for each set of such variables. Tests of a start, of signals, and of the same bytes in every process start
`python -m auditor` themselves.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]

#: What Python and the C library read once, when a process starts.
AT_START = ("PYTHON", "LC_", "LANG", "TZ", "LD_", "MALLOC_")

#: What commands import when they run: nothing here starts a thread or opens a file.
IMPORTED = ("auditor.api", "auditor.cli.main", "auditor.report", "dateutil.parser", "jinja2", "rich.console")


def call(
    *arguments: str | Path,
    folder: Path | None = None,
    variables: Mapping[str, str] | None = None,
    timeout: float = 120,
) -> subprocess.CompletedProcess[str]:
    """Call `auditor` in a folder as `subprocess.run` would, and give what that gives; `variables` are all it has."""
    variables = dict(os.environ if variables is None else variables)
    asked = {
        "arguments": [str(one) for one in arguments],
        "folder": os.getcwd() if folder is None else str(folder),
        "variables": variables,
    }
    with ExitStack() as ours:
        (out, to_out), (errors, to_errors) = os.pipe(), os.pipe()
        texts = [ours.enter_context(open(reading, encoding="utf-8")) for reading in (out, errors)]
        connection, theirs = socket.socketpair()
        ours.enter_context(connection)
        server = _server(tuple(sorted((name, text) for name, text in variables.items() if name.startswith(AT_START))))
        socket.send_fds(server, [b"."], [to_out, to_errors, theirs.fileno()])
        os.close(to_out)
        os.close(to_errors)
        theirs.close()
        readers = ours.enter_context(ThreadPoolExecutor(2))
        said = [readers.submit(text.read) for text in texts]
        code = _code_of(connection, asked, timeout)
        return subprocess.CompletedProcess(asked["arguments"], code, said[0].result(), said[1].result())


def _code_of(connection: socket.socket, asked: dict[str, Any], timeout: float) -> int:
    connection.settimeout(timeout)
    with connection.makefile("rw", encoding="utf-8") as stream:
        started = stream.readline()
        assert started, "the process that is forked has ended: start it by hand to see why"
        pid = int(started)
        print(json.dumps(asked), file=stream, flush=True)
        try:
            return int(stream.readline())
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            raise subprocess.TimeoutExpired(asked["arguments"], timeout) from None


@cache
def _server(at_start: tuple[tuple[str, str], ...]) -> socket.socket:
    """Start a process that has imported the auditor; it ends with us."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        subprocess.Popen(
            [sys.executable, "-P", str(Path(__file__)), str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,  # never read, but a stream that cannot be sought, as those of a call
            stderr=subprocess.STDOUT,
            env={"PATH": os.environ["PATH"]} | dict(at_start),
            cwd=ROOT,
            pass_fds=[theirs.fileno()],
        )
    return ours


def _serve(control: socket.socket) -> list[int]:
    """Fork for each call and say how it ended; returns in the fork alone, with its descriptors."""
    calls = selectors.DefaultSelector()
    calls.register(control, selectors.EVENT_READ)
    while True:
        for key, _ in calls.select():
            if key.data is None:
                message, descriptors, _, _ = socket.recv_fds(control, 1, 3)
                if not message:
                    os._exit(0)
                pid = os.fork()
                if pid == 0:
                    calls.close()
                    control.close()
                    return descriptors
                for descriptor in descriptors[:2]:
                    os.close(descriptor)
                calls.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, descriptors[2]))
                _tell(descriptors[2], pid)
            else:
                calls.unregister(key.fileobj)
                os.close(key.fd)
                pid, connection = key.data
                _tell(connection, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
                os.close(connection)


def _tell(connection: int, number: int) -> None:
    with suppress(BrokenPipeError):  # nobody waits for it any more
        os.write(connection, f"{number}\n".encode())


def _become(descriptors: list[int]) -> list[str]:
    """Be the process that was asked for: its folder, variables and streams; gives its arguments."""
    with open(descriptors[2], encoding="utf-8") as connection:
        asked = json.loads(connection.readline())
    for stream, descriptor in enumerate(descriptors[:2], 1):
        os.dup2(descriptor, stream)
        os.close(descriptor)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["variables"])
    return list(asked["arguments"])


if __name__ == "__main__":
    import importlib
    import runpy

    sys.path.insert(0, "")  # as `python -m` has it: the folder of the call
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "1"  # as `main` has it before it imports the library
    for module in IMPORTED:
        importlib.import_module(module)
    arguments = _become(_serve(socket.socket(fileno=int(sys.argv[1]))))
    sys.argv = ["auditor", *arguments]
    runpy.run_module("auditor", run_name="__main__", alter_sys=True)
