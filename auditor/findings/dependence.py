"""A parser's value depends on something other than the string: the clock, the zone, the locale, the order, chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from auditor.findings import sql
from auditor.findings.census import SUPPORTED, Census
from auditor.findings.dependence_cause import cause_text, kind_of, location_of
from auditor.findings.dependence_title import distinct_readings, title_of, value_of
from auditor.findings.dependence_words import COMPONENTS, WORDS
from auditor.findings.draft import Draft, fingerprint
from auditor.findings.witnesses import shortened
from auditor.model.dependence import Mover, Probed
from auditor.model.environment import Environment
from auditor.model.figures import percent, plural
from auditor.model.run import Column, Witness

#: Strings that a finding shows, each in the base and in another environment.
SHOWN = 2


@dataclass(frozen=True)
class _Group:
    """The strings of one column that move for one cause."""

    field: str
    consumer: str
    code: str
    cause: str
    movers: tuple[Mover, ...]


def find_dependences(census: Census) -> Iterator[Draft]:
    """Give a draft per (field, consumer, code); a two-digit year that is put into a century is a cause of its own."""
    for probed in census.context.probed:
        groups: dict[tuple[str, str, str], list[Mover]] = {}
        for mover in probed.movers:
            groups.setdefault((mover.place[0], mover.code, kind_of(mover)), []).append(mover)
        largest = _largest(groups)
        for (field, code, cause), movers in sorted(groups.items()):
            group = _Group(field, probed.consumer, code, cause, tuple(movers))
            apart = [
                mover for key, some in groups.items() if key[:2] == (field, code) and key[2] != cause for mover in some
            ]
            yield _draft(census, probed, group, apart if largest[field, code] == cause else None)


def _largest(groups: Mapping[tuple[str, str, str], list[Mover]]) -> dict[tuple[str, str], str]:
    """Give the cause with the most strings of each (field, code): what was not isolated is counted there."""
    found: dict[tuple[str, str], str] = {}
    for field, code, cause in sorted(groups, key=lambda key: (-len(groups[key]), key)):
        found.setdefault((field, code), cause)
    return found


def _draft(census: Census, probed: Probed, group: _Group, apart: Sequence[Mover] | None) -> Draft:
    words = WORDS[group.code]
    strings, affected, outside = _extent(census, group, apart)
    shown = _shortest(group.movers)
    base, folder = census.context.spec.environment.environment(), census.context.spec.folder
    units = tuple(dict.fromkeys(_unit(census, group.consumer, mover) for mover in shown))
    rows = census.query(f"SELECT unit, token, role_prediction FROM outcomes WHERE unit IN {sql.numbers(units)}")
    strings_of = {unit: (token, "prediction" if is_given else "reference") for unit, token, is_given in rows}
    raws = [strings_of[_unit(census, group.consumer, mover)] for mover in shown]
    return Draft(
        code=group.code,
        severity="high",
        field=group.field,
        consumers=(group.consumer,),
        title=title_of(group.consumer, raws[0][0], shown[0], words, base),
        detail=" ".join(_sentences(census, group, probed)),
        cause=cause_text(group.movers, census.context.column(group.field, group.consumer).hints, folder),
        fixes=words.fixes,
        fingerprint=fingerprint(group.code, group.field, (group.consumer,), group.cause),
        units=units,
        affected=affected,
        affected_outside=outside,
        strings=strings,
        witnesses=_moved_witnesses(group.consumer, list(zip(raws, shown, strict=True)), base),
        location=location_of(group.movers, folder),
    )


def _shortest(movers: Sequence[Mover]) -> list[Mover]:
    """Choose what is shown: the shortest strings, each once, though it may move in many payloads."""
    first: dict[str, Mover] = {}
    for mover in movers:
        first.setdefault(mover.string, mover)
    return sorted(first.values(), key=lambda mover: (len(mover.string), mover.string))[:SHOWN]


def _unit(census: Census, consumer: str, mover: Mover) -> int:
    return census.context.units_of_movers[consumer, mover.place][0]


def _extent(census: Census, group: _Group, apart: Sequence[Mover] | None) -> tuple[int, int, int]:
    """Count strings and cases; with `apart` all that moved with this code, but for those of other causes.

    A reference that the consumer does not read is no case of it: nothing in the run rests on what it is there.
    """
    context = census.context
    number = context.index[group.consumer]
    of_group = [unit for mover in group.movers for unit in context.units_of_movers[group.consumer, mover.place]]
    where = f"unit IN {sql.numbers(of_group)}"
    if apart is not None:
        others = [unit for mover in apart for unit in context.units_of_movers[group.consumer, mover.place]]
        where = f"unit NOT IN {sql.numbers(others)}" if others else "true"
    moved = (
        f"SELECT unit FROM movers JOIN outcomes USING (unit) WHERE consumer = {number} "
        f"AND code = {sql.text(group.code)} AND field = {sql.text(group.field)} AND {where}"
    )
    is_decoder = context.spec.fields[group.field].is_decoded_by(group.consumer)
    reads_references = " OR r_unit IN (FROM m)" if is_decoder else ""
    [(strings,)] = census.query(f"SELECT count(DISTINCT token) FROM outcomes WHERE unit IN ({moved})")
    [(affected, inside)] = census.query(
        f"WITH m AS ({moved}) SELECT coalesce(sum(n), 0), coalesce(sum(n) FILTER ({SUPPORTED}), 0) FROM judged "
        f"WHERE p_unit IN (FROM m){reads_references}"
    )
    return int(strings), int(affected), int(affected) - int(inside)


def _moved_witnesses(
    consumer: str, shown: Sequence[tuple[tuple[str, str], Mover]], base: Environment
) -> tuple[Witness, ...]:
    """Give each string as it is elsewhere: first one reading of every string, then further ones that differ."""
    readings = [distinct_readings(mover, base) for _, mover in shown]
    return tuple(
        shortened(Witness(raw=raw, decodings={consumer: some[rank][1].decoding(some[rank][0])}, role=role))
        for rank in range(max(map(len, readings)))
        for ((raw, role), _), some in zip(shown, readings, strict=True)
        if rank < len(some)
    )


def _sentences(census: Census, group: _Group, probed: Probed) -> Iterator[str]:
    yield WORDS[group.code].varied
    tried = _tried(group, probed, census.context.spec.environment.environment())
    if tried:
        yield f"Tried beside the base: {', '.join(tried)}."
    components = Counter(name for mover in group.movers for name in mover.components)
    if components:
        listed = ", ".join(COMPONENTS.get(name, name) for name, _ in _most_first(components))
        yield f"What comes from the clock: {listed}."
    together = next((mover.together for mover in group.movers if mover.together), ())
    if together:
        yield f"No factor alone moves some of them, only together: {', '.join(together)}."
    for column in census.context.arm_columns(group.field, group.consumer):
        yield from _score(group, column)


def _tried(group: _Group, probed: Probed, base: Environment) -> list[str]:
    """Name the environments in which only the factor of the finding was another."""
    factor = WORDS[group.code].factor
    values = {value_of(one, factor) for one in probed.launched if one.differs_in(base) == (factor,)}
    return sorted(values, key=lambda value: (len(value), value) if value.isdecimal() else (0, value))


def _most_first(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _score(group: _Group, column: Column) -> Iterator[str]:
    """Say what it does to the score: the range over the environments of this factor, and the cases that flip."""
    factor = WORDS[group.code].factor
    entries = [one for one in column.by_environment if one["varied"] in ([], [factor])]
    rates = [one["content_rate"] for one in entries if one["content_rate"] is not None]
    if len(entries) < 2 or not rates:
        return
    arm = "" if column.arm is None else f" of {column.arm}"
    if flips := column.flips.get(factor, 0):
        yield (
            f"The column{arm} reads {percent(column.content_rate)} % in the base and {percent(min(rates))} % to "
            f"{percent(max(rates))} % over what was tried: the verdict of {plural(flips, 'case')} flips with no change "
            "of prediction or reference."
        )
        if factor == "clock":
            yield _calendar(entries)
    else:
        yield (
            f"No verdict{arm} flips on these cases, so that no score shows it: the references move along, or the "
            "answers are wrong either way."
        )


def _calendar(entries: Sequence[Mapping[str, object]]) -> str:
    days = sorted(
        (str(one["clock"])[:10], str(percent(float(str(one["content_rate"])))))
        for one in entries
        if one["content_rate"] is not None
    )
    return "Run on " + ", ".join(f"{day}: {rate} %" for day, rate in days) + "."
