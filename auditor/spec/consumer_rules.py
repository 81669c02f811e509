"""What must hold between the keys of a consumer: each adapter has its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from auditor.spec.entry import Entry
from auditor.spec.field_rules import REFERENCE_READERS
from auditor.spec.http_rules import check_http
from auditor.spec.keys import ADAPTERS_OF
from auditor.spec.mistakes import Mistakes, suggest
from auditor.spec.recorded_rules import check_recorded
from auditor.spec.sql_rules import check_sql

#: Bytes of resident memory that a program and what it starts may use, where the spec does not say.
PROGRAM_MEMORY = 2 * 1024**3


def check_consumers(consumers: dict[str, Entry], fields: Mapping[str, Entry], folder: Path, mistakes: Mistakes) -> None:
    """Note the mistakes of all consumers."""
    for name, consumer in consumers.items():
        if name in REFERENCE_READERS:
            hint = "a field's reference could not tell them apart; choose another name"
            mistakes.add(("consumers", name), f'"{name}" is a reader of references', hint)
        for field in consumer.get("reads", {}):
            if field not in fields:
                what = f'there is no field "{field}"'
                mistakes.add(("consumers", name, "reads", field), what, suggest(field, fields))
        _check_env(name, consumer, mistakes)
        _check_places(name, consumer, folder, mistakes)
        adapter = consumer.get("adapter")
        if adapter is not None:
            _check_keys_of_adapter(name, consumer, mistakes)
            _RULES[adapter](name, consumer, folder, mistakes)


def check_batches(cases: Entry, consumers: Mapping[str, Entry], mistakes: Mistakes) -> None:
    """Refuse batches where there are arms: the rows of one model would decide how those of another are read."""
    for name, consumer in consumers.items():
        if cases.has("arm") and consumer.get("batch"):
            hint = "audit the predictions of each arm in a run of its own, or remove `batch`"
            what = "makes no sense with [cases] arm: a batch would hold the rows of several arms"
            mistakes.add(("consumers", name, "batch"), what, hint)


def _check_keys_of_adapter(name: str, consumer: Entry, mistakes: Mistakes) -> None:
    adapter = consumer.get("adapter")
    article = "an" if adapter == "http" else "a"
    for key, adapters in ADAPTERS_OF.items():
        if consumer.has(key) and adapter not in adapters:
            hint = f"remove it; it is for {' and '.join(adapters)} consumers"
            if adapter == "http" and key == "env":
                hint = "a service has an environment of its own; a secret is named where it is sent: {env:NAME}"
            mistakes.add(("consumers", name, key), f"makes no sense for {article} {adapter} consumer", hint)


def _check_python(name: str, consumer: Entry, folder: Path, mistakes: Mistakes) -> None:
    reads = consumer.get("reads", {})
    if not consumer.has("reads") or (not reads and "reads" in consumer.values):
        hint = 'name the function of each field, such as reads.total = "ingest:parse_total"'
        mistakes.add(("consumers", name, "reads"), "is missing: a python consumer has a function per field", hint)
    for field, target in reads.items():
        if not _is_target(target):
            hint = f'such as reads.{field} = "ingest:parse_{field}"'
            mistakes.add(("consumers", name, "reads", field), f'must be module:function, not "{target}"', hint)
    if consumer.has("batch_size") and not consumer.get("batch"):
        hint = "add batch = true, or remove it"
        mistakes.add(("consumers", name, "batch_size"), "makes no sense for a parser that reads one value", hint)


def _check_pydantic(name: str, consumer: Entry, folder: Path, mistakes: Mistakes) -> None:
    model = consumer.get("model")
    if not consumer.has("model"):
        hint = 'name it, such as model = "models:Contract"'
        mistakes.add(("consumers", name, "model"), "is missing: a pydantic consumer has a model", hint)
    elif model is not None and not _is_target(model):
        hint = 'such as model = "models:Contract"'
        mistakes.add(("consumers", name, "model"), f'must be module:Class, not "{model}"', hint)
    if not consumer.has("receives"):
        # A model validates the payload as it came; text would turn every number into a string.
        consumer.values["receives"] = "json"


def _check_process(name: str, consumer: Entry, folder: Path, mistakes: Mistakes) -> None:
    if not consumer.has("command"):
        hint = 'add command = ["node", "portal/read.mjs"]: the program and its arguments'
        mistakes.add(("consumers", name, "command"), "is missing: a process consumer is a program", hint)
    if consumer.get("receives") == "python":
        hint = '"text" gives it the content, "json" the JSON text of the value, which it can parse itself'
        mistakes.add(("consumers", name, "receives"), "makes no sense for a process consumer: it takes texts", hint)
    if not consumer.has("memory"):
        # Resident memory, not address space: a JVM reserves gigabytes of that and uses little of it.
        consumer.values["memory"] = PROGRAM_MEMORY


_RULES: dict[str, Callable[[str, Entry, Path, Mistakes], None]] = {
    "python": _check_python,
    "pydantic": _check_pydantic,
    "sql": check_sql,
    "process": _check_process,
    "http": check_http,
    "recorded": check_recorded,
}


def _check_env(name: str, consumer: Entry, mistakes: Mistakes) -> None:
    for variable, text in consumer.get("env", {}).items():
        if not variable or "=" in variable or "\0" in variable + text:
            what = "is no environment variable: its name is empty or has an equals sign, or there is a NUL in it"
            mistakes.add(("consumers", name, "env", variable), what)


def _check_places(name: str, consumer: Entry, folder: Path, mistakes: Mistakes) -> None:
    root, interpreter = consumer.get("root"), consumer.get("interpreter")
    if root is not None and not (folder / root).is_dir():
        what = f"there is no folder {folder / root}"
        mistakes.add(("consumers", name, "root"), what, "root is relative to the folder of the spec")
    if interpreter is not None and not _is_interpreter(folder, interpreter):
        what = f"there is no interpreter {folder / interpreter}"
        venv = Path(interpreter).parent.parent
        hint = f"make it with `python -m venv {venv}` in the spec's folder, or remove the key to use ours"
        mistakes.add(("consumers", name, "interpreter"), what, hint)


def _is_interpreter(folder: Path, interpreter: str) -> bool:
    return (folder / Path(interpreter).expanduser()).is_file()


def _is_target(target: str) -> bool:
    """Say whether a text is `module:name`, both dotted Python names."""
    module, colon, name = target.partition(":")
    return bool(colon) and all(part.isidentifier() for part in [*module.split("."), *name.split(".")])
