"""Some consumers accept strings that others do not.

One finding per (accepting set, rejecting set). It is named after the rejecting consumers that matter: one that rejects
everything that an earlier consumer of the same set rejects adds nothing, and is left out of the name. So a new
consumer renames no known finding when it reads what others read, when it behaves like one that is there, or when it
is stricter than one that is there; and no two findings of a field share a name.

Of versions of one consumer the first takes part (`versions.py`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from auditor.findings import sql
from auditor.findings.census import Census
from auditor.findings.draft import Draft, fingerprint
from auditor.findings.words import listed, verb
from auditor.model.figures import plural

CODE = "acceptance-disagreement"

#: Per consumer A (accepts) or R (does not); what crashes or times out does not accept.
_SIDES = "translate(standing, 'vnrdct', 'ARRRRR')"

#: Somebody accepts and somebody refuses (a crash alone is its own finding) a string that all were given.
_SPLIT = "(contains(standing, 'v') AND regexp_matches(standing, '[nrd]') AND form <> 'null')"


@dataclass
class _Split:
    """The strings of a field that some consumers accept and some do not."""

    seen: set[str] = field(default_factory=set)
    splits: list[str] = field(default_factory=list)
    sound: set[str] = field(default_factory=set)  # splits of which a value is not one by accident
    lost: dict[str, int] = field(default_factory=lambda: defaultdict(int))


def find_acceptance_disagreements(census: Census) -> Iterator[Draft]:
    """Give one draft per field, set of consumers that accept, and set that do not."""
    fields: dict[str, _Split] = defaultdict(_Split)
    for name, sides, is_split, sounds in census.query(
        f"SELECT field, {_SIDES} AS sides, bool_or({_SPLIT}), list(DISTINCT sound) FILTER ({_SPLIT})"
        " FROM f_groups GROUP BY ALL ORDER BY ALL"
    ):
        fields[name].seen.add(sides)
        if is_split:
            fields[name].splits.append(sides)
            if any(_is_sound(sides, sound) for sound in sounds):
                fields[name].sound.add(sides)
    _count_lost(census, fields)
    for name, split in fields.items():
        for sides in split.splits:
            yield _draft(census, name, sides, split)


def _count_lost(census: Census, fields: dict[str, _Split]) -> None:
    """Count the cases that an accepting consumer has right, and not by accident, and a rejecting one loses."""
    for name, sides, pattern, sound, count in census.query(
        f"SELECT g.field, {_SIDES} AS sides, pattern, sound, sum(n) FROM f_cells JOIN f_groups g ON grp = p_grp"
        f" WHERE {_SPLIT} AND contains(pattern, 'o') GROUP BY ALL"
    ):
        letters = {
            census.context.index[reader]: letter
            for reader, letter in zip(census.readers(name), census.sound_pattern(name, pattern, sound), strict=True)
        }
        right = any(letters[number] == "o" for number in _numbers(sides, "A"))
        if right and any(letters[number] in "rndct" for number in _numbers(sides, "R")):
            fields[name].lost[sides] += int(count)


def _draft(census: Census, name: str, sides: str, split: _Split) -> Draft:
    accepting = census.numbered(_numbers(sides, "A"))
    rejecting = census.numbered(_numbers(sides, "R"))
    lost = split.lost[sides]
    does = verb(rejecting, "does", "do")
    is_sound = sides in split.sound
    says = f"{listed(accepting)} {verb(accepting, 'reads', 'read')} {name} strings that {listed(rejecting)} {does} not"
    return Draft(
        code=CODE,
        severity="high" if lost else "medium",
        field=name,
        consumers=(*accepting, *rejecting),
        title=says,
        detail=_loss(lost, rejecting),
        cause=f"The parsers know different written forms, {listed(rejecting)} fewer of them."
        if is_sound
        else f"{listed(accepting)} {verb(accepting, 'gives', 'give')} these strings a value that says nothing of them:"
        " junk has it as well, or everything has, or it is another one each time.",
        fixes=_fixes(rejecting) if is_sound else _mend(accepting, rejecting),
        fingerprint=fingerprint(CODE, name, census.numbered(name_of(sides, split.seen)), _unknown(census, sides)),
        groups=f"field = {sql.text(name)} AND {_SIDES} = {sql.text(sides)} AND {_SPLIT}",
        role=census.role_of(name, (*accepting, *rejecting)),
        shapes_as="accepted by some only",
        by_prediction=True,
    )


def _is_sound(sides: str, sound: str) -> bool:
    """Tell whether a consumer that accepts these strings takes a value from what they say."""
    return any(sound[number] == "v" for number in _numbers(sides, "A"))


def _fixes(rejecting: Sequence[str]) -> tuple[str, ...]:
    return (
        f"Teach {listed(rejecting)} the forms listed here.",
        "Ask the model for a form that every consumer reads (see the common shape of the field).",
        "Normalise the field once, before the consumers, and hand all of them the same canonical text.",
    )


def _mend(accepting: Sequence[str], rejecting: Sequence[str]) -> tuple[str, ...]:
    return (
        f"Mend {listed(accepting)} first: see what is found of its values of this field.",
        f"Leave {listed(rejecting)} as {verb(rejecting, 'it is', 'they are')}: nobody is shown to read these strings by"
        " what they say.",
    )


def _unknown(census: Census, sides: str) -> str:
    """Name the consumers whose records lack these strings, whatever they would make of them; as a rule nobody."""
    names = census.numbered(_numbers(sides, "N"))
    return f"not recorded: {', '.join(names)}" if names else ""


def name_of(sides: str, seen: set[str]) -> list[int]:
    """Give the rejecting consumers that name a finding: those not stricter than an earlier rejecting one."""
    rejecting = _numbers(sides, "R")
    return [
        number
        for at, number in enumerate(rejecting)
        if not any(_is_stricter(number, earlier, seen) for earlier in rejecting[:at])
    ]


def _is_stricter(consumer: int, other: int, seen: set[str]) -> bool:
    """Tell whether a consumer accepts nothing that another one refuses."""
    return not any(sides[consumer] == "A" and sides[other] == "R" for sides in seen)


def _numbers(sides: str, side: str) -> list[int]:
    return [number for number, seen in enumerate(sides) if seen == side]


def _loss(lost: int, rejecting: Sequence[str]) -> str:
    if not lost:
        return "No right answer is lost by it."
    return f"{plural(lost, 'right answer')} {'is' if lost == 1 else 'are'} lost to {listed(rejecting)}."
