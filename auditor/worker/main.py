"""The worker: decodes frames of raw values with a consumer's own parsers, inside a process of its own.

Run as ``python main.py REQUEST REPLY PROGRESS LIFELINE`` with four inherited descriptors. A frame is two big-endian
32-bit lengths, a JSON header and a JSON body. The first request's header is the configuration and its body is empty;
the first reply says what the consumer is, or why it could not be opened. Every later request is answered by one frame,
in order:

    request  {"field", "mode", "base"}  [raw value, ...]     mode: value, item (JSON text to parse first), payload;
                                                             batch, batch_item: the frame is one call of the parser
    reply    {"base", "at", "kinds", "faults", "stop", "failed", "modules"}  [tagged text or "", ...]

``faults`` lists the distinct [status, error] of the frame; value ``at[i]`` has fault ``kinds[i]``. With ``stop`` the
reply ends before the string that exhausted the memory, and so does this process; it ends after ``broken``, too, [tried,
seen, hint, what]: the consumer is none that can be audited. ``warned``, [index, text] of each, is what an engine said
beside its values. ``failed`` is there only where a batch failed as a whole. ``modules`` is there only where the
consumer has imported something since the last reply: [name, file] of each; ``sites`` where its clock reads are watched:
[file, line, function, at import, reads] of each line that has read since. PROGRESS is shared memory of two 64-bit
words: the position being decoded (base + index; base + length between frames), and the reason for leaving.

An adapter is a module beside this file, ``<adapter>_adapter.py``, loaded by its path, with

    open_adapter(config: dict) -> adapter

``config`` is the parent's configuration: consumer, adapter, root, folder, fields (field: type), paths (field:
places in a payload, each a list of keys and positions), reads (field: target), receives, batch, batch_size, scope,
carried, model, engine, settings, statement,
connection (a secret), server, compiled (a file, of GoogleSQL), plan, command, record (of a recorded consumer:
`auditor/decode/records.py`), service (of an http consumer:
`auditor/decode/service.py`), memory, timeout, network (False where there should be none), catalogue (whether the engine
is asked for `functions`), travel (True for the last way to fix the clock), launcher (what the command of a program of
the consumer's own starts with, so that its clock is fixed too), children ({name: value} of the process environment for
what a parser starts, so that its clock is fixed too), watch (None, or what `attribution.Attribution` takes). The
adapter has

    ready() -> dict            reads {field: target}; version_parts (any JSON), settings {str: str}, scope, scope_note,
                               alone [field]: read without their payload whatever the scope; looks_at {field: places
                               in a payload, or None}, looks_after [function that gets it first]; functions {name: the
                               engine's word on its stability}; canary: what a program of its own sees, instead of
                               what this process does; None for offsets or locale that it does not tell, and for the
                               hash seed of what is no Python
    imports                    an `imports.Imports` made before the consumer is opened, where its version is what it
                               imports (optional)
    parser(field) -> callable  one raw value in, the consumer's own object out; what it raises is the decoding
    payload_parser(field)      the same for the JSON text of a whole payload (optional)
    batch_parser(field)        the same for a list of raw values: a sequence of as many objects out (optional)
or, instead of `parser`,
    decode_batch(field, values) -> (texts, faults)    tagged texts or None; {index: [status, error]} says why; a third
                                                      part may be {index: what the engine warned of}
    decode_payloads(field, rows)                      the same for payloads as rows: JSON lists of texts (optional)
    moved(done)                                       set by the kernel and called with the number of strings done, by
                                                      an adapter that takes long for some of them (optional); where it
                                                      limits the time of each itself, its ready() has `patience`: the
                                                      seconds that one of them may take

The kernel loops, keeps the progress word, turns objects into tagged text and catches whatever is raised. A start that
fails raises any exception; its attributes `tried`, `seen` and `hint` are shown where it has them, as those of
`trouble.StartError`. Other files of this folder are imported as ``from . import ...``.
"""

from __future__ import annotations

import os
import sys

HERE = __file__.rpartition("/")[0]
if sys.path and sys.path[0] == HERE:  # `-P` does this from Python 3.11 on
    del sys.path[0]
if sys.version_info < (3, 8):
    sys.exit("the auditor's worker needs Python 3.8 or newer, this is " + sys.version.split()[0])

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from . import canary, kernel, trouble, wire
    from .attribution import Attribution
else:
    package = type(sys)("_auditor_worker")
    package.__path__ = [HERE]
    sys.modules["_auditor_worker"] = package
    from _auditor_worker import canary, kernel, trouble, wire


def open_consumer(config: dict[str, Any]) -> Any:
    """Open the adapter on the consumer; whatever goes wrong there is a StartError."""
    name = "_auditor_worker." + config["adapter"] + "_adapter"
    try:
        module = __import__(name, fromlist=["open_adapter"])
        return module.open_adapter(config)
    except BaseException as error:  # an import may raise anything, sys.exit too
        raise trouble.as_start_error(error) from error


def watch(config: dict[str, Any] | None) -> Attribution | None:
    """Watch the consumer's clock reads from now on, where that is asked for."""
    if config is None:
        return None
    module = __import__("_auditor_worker.attribution", fromlist=["Attribution"])
    attribution: Attribution = module.Attribution(config)
    attribution.start()
    return attribution


def start(channel: wire.Channel) -> kernel.Kernel:
    """Take the configuration, fix the limits, look at the environment, open the consumer and report."""
    config, _ = channel.receive()
    canary.limit_memory(config["memory"])
    if config["travel"]:
        travel = __import__("_auditor_worker.travel", fromlist=["travel"])
        travel.travel(config["instants"][0])
    seen = canary.look(config["instants"], config["network"])
    watched = watch(config["watch"])
    os.environ.update(config["children"])
    try:
        adapter = open_consumer(config)
        ready = dict(adapter.ready())
    except trouble.StartError as error:
        channel.send({"error": {"tried": error.tried, "seen": error.seen, "hint": error.hint}}, b"[]")
        wire.leave(1)
    answering = kernel.Kernel(channel, adapter, config["fields"], watched)
    ready["canary"] = dict(seen, **ready.get("canary", {}))
    ready["whole"] = answering.whole
    if answering.imports is not None:
        ready["modules"] = answering.imports.news()
    if watched is not None:
        watched.opened()
        ready["watch"] = {"by": watched.by, "trouble": watched.trouble, "sites": watched.news()}
    channel.send({"ready": ready}, b"[]")
    return answering


def main(arguments: list[str]) -> None:
    """Serve the parent until it closes its end."""
    request, reply, progress, lifeline = (int(argument) for argument in arguments)
    wire.die_with_parent(lifeline)
    start(wire.Channel(request, reply, progress)).serve()
    wire.leave(0)


if __name__ == "__main__":
    main(sys.argv[1:])
