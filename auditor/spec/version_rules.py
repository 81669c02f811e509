"""Versions of one consumer: each becomes a consumer of its own, with what the table of the consumer says for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, Final

from auditor.spec.entry import Entry
from auditor.spec.mistakes import Mistakes

#: Folders of virtual environments that say nothing of what is in them, and folders of programs that are none.
_PLAIN_VENVS: Final = (".venv", "venv", "env", ".env")
_NO_VENVS: Final = ("", "/", "usr", "local", "opt")


def expand_versions(
    consumers: Mapping[str, Entry], fields: Mapping[str, Entry], mistakes: Mistakes
) -> dict[str, Entry]:
    """Put the versions of a consumer in its place; a field whose reference it reads is read by the first."""
    expanded: dict[str, Entry] = {}
    for name, consumer in consumers.items():
        versions: Sequence[Mapping[str, Any]] = consumer.values.pop("versions", ())
        if not versions:
            expanded[name] = consumer
            continue
        named = _named(name, versions, consumers, mistakes) or {name: {}}
        for called, version in named.items():
            expanded[called] = _merged(name, consumer, version)
            mistakes.stands_for(called, name, frozenset(version))
        for field in fields.values():
            if field.get("reference") == name:
                field.values["reference"] = next(iter(named))
    return expanded


def _named(
    consumer: str, versions: Sequence[Mapping[str, Any]], others: Mapping[str, Entry], mistakes: Mistakes
) -> dict[str, Mapping[str, Any]]:
    """Give each version by its name, which no other version of the list decides."""
    complain = mistakes.at("consumers", consumer, "versions")
    named: dict[str, Mapping[str, Any]] = {}
    for number, version in enumerate(versions, start=1):
        name = version_name(version)
        if not name:
            complain(f"version {number} says nothing that differs", "give it an interpreter, or a name: { name = … }")
            continue
        called = f"{consumer}@{name}"
        if called in named or called in others:
            hint = 'tell them apart: { name = "dateutil 4.0", interpreter = … }'
            complain(f'two are called "{called}"', hint)
        elif any(_own(version) == _own(other) for other in named.values()):
            complain(
                f"version {number} is the same as one before it, but for its name", "say what differs, or remove it"
            )
        named[called] = version
    return named


def _own(version: Mapping[str, Any]) -> dict[str, Any]:
    """Give what a version has of its own."""
    return {key: value for key, value in version.items() if key != "name"}


def version_name(version: Mapping[str, Any]) -> str:
    """Name a version as it is told to, else by what it has of its own.

    >>> version_name({"interpreter": ".venvs/dateutil-2.9/bin/python"}), version_name({"env": {"TZ": "UTC"}})
    ('dateutil-2.9', 'TZ=UTC')
    """
    if "name" in version:
        return str(version["name"])
    said = []
    for key, value in version.items():
        if key == "interpreter":
            said.append(_environment(PurePath(value)))
        elif key == "env":
            said += [f"{name}={text}" for name, text in value.items()]
        elif key == "command":
            said.append(" ".join(value))
        else:
            said.append(PurePath(value).name or value)
    return " ".join(said)


def _environment(interpreter: PurePath) -> str:
    """Name an interpreter by the folder of its environment, else by its own name."""
    folder = interpreter.parent.parent
    if folder.name in _PLAIN_VENVS and folder.parent.name not in _NO_VENVS:
        folder = folder.parent
    return interpreter.name if folder.name in _NO_VENVS else folder.name


def _merged(name: str, consumer: Entry, version: Mapping[str, Any]) -> Entry:
    own = _own(version)
    values = consumer.values | own | {"version_of": name}
    values.setdefault("owner", name)
    if "env" in own:
        values["env"] = consumer.get("env", {}) | own["env"]
    return Entry(values, consumer.written - {"versions"} | own.keys())
