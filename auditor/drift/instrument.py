"""What else changed between two runs: the measuring instrument, which is everything but predictions and references."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from auditor.drift.sides import Side
from auditor.model.drift import Change

_OF_CONSUMER: Final = ("version", "adapter", "label", "label_note")
_OF_ENVIRONMENT: Final = ("clock", "zone", "locale", "hash_seed")

#: Keys of [cases] that say where data are, not how they are read.
_PLACES: Final = frozenset({"predictions", "references"})


def changes(old: Side, new: Side) -> tuple[Change, ...]:
    """Give everything that was measured with something else: consumers first."""
    return (*_consumers(old, new), *_environment(old, new), *_cases(old, new), *_auditor(old, new))


def _consumers(old: Side, new: Side) -> Iterator[Change]:
    after = {one.name: one for one in new.run.consumers}
    for before in old.run.consumers:
        if before.name in after:
            for what in _OF_CONSUMER:
                one, other = getattr(before, what), getattr(after[before.name], what)
                if one != other:
                    yield Change(before.name, what.replace("_", " "), text_of(one), text_of(other))
            settings = before.settings, after[before.name].settings
            for key in dict.fromkeys((*settings[0], *settings[1])):
                one, other = settings[0].get(key), settings[1].get(key)
                if one != other:
                    yield Change(before.name, f"setting {key}", text_of(one), text_of(other))


def _environment(old: Side, new: Side) -> Iterator[Change]:
    for what in _OF_ENVIRONMENT:
        one, other = getattr(old.run.environment, what), getattr(new.run.environment, what)
        if one != other:
            yield Change("environment", what.replace("_", " "), text_of(one), text_of(other))
    levels = [run.probe.level if run.probe else "not probed" for run in (old.run, new.run)]
    if levels[0] != levels[1]:
        yield Change("probes", "level", *levels)


def _cases(old: Side, new: Side) -> Iterator[Change]:
    before, after = (side.spec.cases.model_dump(mode="json") for side in (old, new))
    for key in dict.fromkeys((*before, *after)):
        if key not in _PLACES and before.get(key) != after.get(key):
            yield Change("[cases]", key, text_of(before.get(key)), text_of(after.get(key)))
    for name in old.spec.fields.keys() & new.spec.fields.keys():
        for what in ("path", "reference_path", "abstain"):
            one, other = getattr(old.spec.fields[name], what), getattr(new.spec.fields[name], what)
            if one != other:
                yield Change(f"field {name}", what, text_of(one), text_of(other))


def _auditor(old: Side, new: Side) -> Iterator[Change]:
    if old.run.auditor_version != new.run.auditor_version:
        yield Change("auditor", "version", old.run.auditor_version, new.run.auditor_version)


def text_of(value: Any) -> str:
    """Give a value of a spec or run in a line."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
