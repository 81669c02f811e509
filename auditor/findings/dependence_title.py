"""The title of a dependence: one string, two environments, two values."""

from __future__ import annotations

from datetime import date

from auditor.findings.dependence_words import COMPONENTS, Words
from auditor.findings.words import listed
from auditor.judge.keys import refused_value
from auditor.model.dependence import Answer, Mover
from auditor.model.environment import Environment

#: Characters of a string in a title.
LONGEST = 80

#: What is said of runs that differ, in what they have of the machine: here, there, why.
OUTSIDE = {
    "no network": ("with a network", "without one", "it depends on the network"),
    "another folder and HOME": (
        "in the folder of the audit",
        "with another working folder, HOME and umask",
        "it depends on where it runs",
    ),
}

#: Zones that no machine of a reader is likely to be in.
_FAR = ("Etc/", "Pacific/Kiritimati")


def title_of(consumer: str, raw: str, mover: Mover, words: Words, base: Environment) -> str:
    """Say what two environments make of a string: the base, and the nearest that moves it."""
    name, answer = distinct_readings(mover, base)[0]
    here = words.here.format(value_of(base, words.factor)) if not mover.together else "in the base"
    outside = OUTSIDE.get(name) if not words.factor and not mover.together else None
    shown = raw if len(raw) <= LONGEST else raw[:LONGEST] + "…"
    moved = [COMPONENTS.get(part, part) for part in mover.components if part != "acceptance"]
    comes = "comes" if len(moved) == 1 else "come"
    why = f"the {listed(moved)} {comes} from the clock" if moved else words.depends
    there = _there(name, mover, words)
    if outside is not None:
        here, there, why = outside
    elif not words.factor and not name.startswith("base"):
        why = "identical runs do not always agree"
    return f"{consumer} reads {shown} as {_said(mover.readings[0][1])} {here}, and as {_said(answer)} {there}: {why}"


def value_of(environment: Environment, factor: str) -> str:
    """Give a factor of an environment as people write it: a day, a zone, a locale without its encoding."""
    value = str(getattr(environment, factor, ""))
    return value[:10] if factor == "clock" else value.removesuffix(".UTF-8") if factor == "locale" else value


def distinct_readings(mover: Mover, base: Environment) -> list[tuple[str, Answer]]:
    """Give the readings that differ from the base and from each other; those of the nearest environments first."""
    found: list[tuple[str, Answer]] = []
    for name, answer in sorted(mover.readings[1:], key=lambda reading: _distance(reading[0], base)):
        if not any(answer.is_as(known) for _, known in found):
            found.append((name, answer))
    return found


def _distance(name: str, base: Environment) -> int:
    """Order environments by how soon a reader may meet them; sorting keeps the order of those that are alike."""
    kind, _, value = name.partition(" ")
    if kind == "clock":
        return abs((date.fromisoformat(value[:10]) - date.fromisoformat(base.clock[:10])).days)
    return int(kind == "zone" and value.startswith(_FAR))


def _there(name: str, mover: Mover, words: Words) -> str:
    if mover.together:
        return f"where {' and '.join(mover.together)} differ"
    if not words.factor:
        return "in another, identical one" if name.startswith("base") else f"in another ({name})"
    value = name.removeprefix(words.factor.replace("_", " ")).strip()
    if words.factor == "clock":
        value = value[:10]
    elif words.factor == "order":
        value = "without the other strings" if "without" in name else f"in another one ({value})"
    return words.there.format(value.removesuffix(".UTF-8"))


def _said(answer: Answer) -> str:
    if answer.text is not None:
        text = answer.text.partition(":")[2] or "an empty text"
        return text if len(text) <= LONGEST else text[:LONGEST] + "…"
    refused = refused_value(answer.error)
    if refused is not None:
        return f"{refused}, which is none of the field's type,"
    return {"n": "no value", "r": "an error", "d": "a row filtered out", "c": "a crash"}[answer.letter]
