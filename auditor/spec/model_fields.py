"""The fields of a Pydantic model, as an isolated worker describes them: the model is never imported here."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import Any, Final

from auditor.model.payload_path import Steps, WrittenPath
from auditor.worker_start import inherited, kill_group, pipe, worker_command

_LENGTHS: Final = struct.Struct(">II")
_WORDS: Final = 16

#: Seconds that importing the model may take, and bytes of address space that it may use.
_LONGEST: Final = 120.0
_MEMORY: Final = 4 * 1024**3


class ModelError(Exception):
    """A model that cannot be read: what was seen, and the next step."""

    def __init__(self, seen: str, hint: str = "") -> None:
        super().__init__(seen)
        self.seen, self.hint = seen, hint


@dataclass(frozen=True)
class ModelField:
    """A field of a model: `kind` is a type of the spec, `text`, or empty for what is no field's type.

    `places` are where the model looks for it in a payload, the first that is there; `shown` is the annotation as it is
    written.
    """

    name: str
    places: tuple[Steps, ...]
    kind: str
    shown: str
    minimum: int | None = None
    maximum: int | None = None
    members: str | None = None

    @property
    def path(self) -> WrittenPath:
        """Give its places as a spec has them: one key as itself, all else exactly, step by step."""
        first, *others = self.places
        if not others and len(first) == 1 and "." not in str(first[0]):
            return str(first[0])
        return self.places

    @property
    def table(self) -> dict[str, Any]:
        """Give the keys that [fields.NAME] has for it."""
        named = {"type": self.kind, "members": self.members, "minimum": self.minimum, "maximum": self.maximum}
        own_path = {} if self.path == self.name else {"path": self.path}
        return {key: value for key, value in named.items() if value is not None} | own_path


def model_fields(model: str, root: Path, interpreter: str | None) -> list[ModelField]:
    """Ask a worker, run by `interpreter` (ours by default), what fields the model ``module:Model`` below `root` has.

    ModelError where it cannot be told.
    """
    if not root.is_dir():
        raise ModelError(f"there is no folder {root}", "`root` is the folder that the model is imported from")
    program = sys.executable if interpreter is None else interpreter
    config = {
        "adapter": "fields",
        "root": str(root),
        "model": model,
        "fields": {},
        "memory": _MEMORY,
        "travel": False,
        "instants": [],
        "network": True,
        "watch": None,
        "children": {},
    }
    with ExitStack() as ours:
        ready = _asked(program, json.dumps(config).encode(), ours)
    if "error" in ready:
        error = ready["error"]
        raise ModelError(f"{error['seen']} (tried: {error['tried']})", error["hint"])
    found = ready["ready"]["described"]
    return [ModelField(**one | {"places": tuple(map(tuple, one["places"]))}) for one in found]


def _asked(program: str, config: bytes, ours: ExitStack) -> Mapping[str, Any]:
    """Start a worker, give it its configuration, and give its first word; all that it started is ended with `ours`."""
    folder = ours.enter_context(tempfile.TemporaryDirectory(prefix="auditor-fields-"))
    words = os.open(os.path.join(folder, "progress"), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    ours.callback(os.close, words)
    os.truncate(words, _WORDS)
    with ExitStack() as theirs:
        their_request, request = pipe(theirs, ours)
        reply, their_reply = pipe(ours, theirs)
        their_life, _ = pipe(theirs, ours)
        passed = (their_request, their_reply, words, their_life)
        command = [*worker_command(program), *map(str, passed)]
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=_variables(folder),
                cwd=folder,
                pass_fds=passed,
                start_new_session=True,
            )
        except OSError as error:
            raise ModelError(f"{program} cannot be started: {error.strerror}", "correct `interpreter`") from error
    ours.callback(_end, process)
    timer = Timer(_LONGEST, _end, [process])
    timer.daemon = True
    timer.start()
    ours.callback(timer.cancel)
    with suppress(BrokenPipeError):
        os.write(request, _LENGTHS.pack(len(config), 0) + config)
    return _first_frame(reply, program)


def _first_frame(reply: int, program: str) -> Mapping[str, Any]:
    received = b""
    while len(received) < _LENGTHS.size or len(received) < _LENGTHS.size + sum(_LENGTHS.unpack_from(received)):
        more = os.read(reply, 1 << 16)
        if not more:
            seen = f"{program} ended, or was ended after {_LONGEST:.0f} s, before the model was imported"
            raise ModelError(seen, "import the model with that interpreter by hand: what does it say?")
        received += more
    length, _ = _LENGTHS.unpack_from(received)
    try:
        found = json.loads(received[_LENGTHS.size : _LENGTHS.size + length])
    except ValueError:
        found = None
    if not isinstance(found, dict) or not found.keys() & {"error", "ready"}:
        seen = f"the model's module wrote on the descriptors of {program}"
        raise ModelError(seen, "import nothing there that writes to files that it has not opened")
    return found


def _variables(folder: str) -> dict[str, str]:
    own = {"HOME": folder, "TMPDIR": folder, "TZ": "UTC", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0"}
    return inherited() | own


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the worker and what it started."""
    if process.returncode is None:
        kill_group(process)
        process.wait()
