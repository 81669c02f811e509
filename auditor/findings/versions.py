"""Which consumers are versions of one: beside other consumers the first that is listed stands for all of them.

Where another version reads a string otherwise than the first, that is `version-drift`; where it does not, it differs
from other consumers as the first does. So nothing is lost, and nothing is told twice.
"""

from __future__ import annotations

from auditor.findings.context import Context


def version_pairs(context: Context) -> list[tuple[int, int]]:
    """Give the numbers of the first version of a consumer and of each other one."""
    first: dict[str, int] = {}
    pairs = []
    for name, consumer in context.spec.consumers.items():
        if consumer.version_of is None or name not in context.index:
            continue
        number = context.index[name]
        standing = first.setdefault(consumer.version_of, number)
        if standing != number:
            pairs.append((standing, number))
    return pairs


def standing(context: Context) -> list[int]:
    """Give the numbers of the consumers that are compared with each other: of versions the first alone."""
    others = {number for _, number in version_pairs(context)}
    return sorted(number for number in context.index.values() if number not in others)


def siblings(context: Context, field: str) -> list[tuple[int, ...]]:
    """Give for each reader of a field the positions of the other versions of its consumer, which are no others."""
    families = [context.spec.consumers[name].version_of for name in context.readers[field]]
    return [
        tuple(at for at, other in enumerate(families) if own is not None and other == own and at != place)
        for place, own in enumerate(families)
    ]


def others_of(pattern: str, apart: tuple[int, ...]) -> str:
    """Give the letters of a pattern without those of some positions."""
    return "".join(letter for at, letter in enumerate(pattern) if at not in apart) if apart else pattern
