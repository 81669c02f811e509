"""What every report says of environments: the range beside a rate, what was varied, and what that does not prove."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from auditor.model.dependence import ProbedEnvironment
from auditor.model.environment import FACTORS
from auditor.model.figures import NO_RATE, percent_of, plural
from auditor.model.run import Column, ConsumerSummary, Run
from auditor.report.movement import dependences, environment_name, mover

_NOUNS: Final = {
    "clock": "clocks",
    "zone": "time zones",
    "locale": "locales",
    "hash_seed": "hash seeds",
    "order": "orders of the strings",
    "network": "networks, one of them none",
    "elsewhere": "folders and HOMEs",
}
_SINGULAR: Final = {"zone": "time zone", "elsewhere": "folder and HOME"}

#: Factors whose values are chosen by the strings of each consumer.
_CHOSEN: Final = ("zone", "locale")

_KEYS: Final = frozenset({"environment", "varied", "ok", "judged", "content_rate", "flips"})

#: What a run that was not probed leaves open.
_OPEN: Final = (
    "every string was read in the base environment only, so that it is not known whether a value depends on the "
    "clock, the time zone, the locale, the hash seed or the order of the strings"
)


@dataclass(frozen=True)
class Spread:
    """How a column moves with one factor: lowest and highest rate in percent, environments tried with the base.

    `mover` is the reader of the references where its values move and the consumer's own do not.
    """

    factor: str
    low: str
    high: str
    tried: int
    flips: int
    mover: str = ""

    @property
    def text(self) -> str:
        """Say it: ``85.0–93.0 % over 7 clocks, 14 verdicts flip``."""
        over = f"over {self.tried} {_NOUNS.get(self.factor, self.factor.replace('_', ' '))}"
        moves = f"{self.mover}'s reading of the references moves" if self.mover else ""
        if not self.flips:
            return f"{moves} {over}; no verdict flips" if moves else f"no verdict flips {over}, though values move"
        flips = f"{plural(self.flips, 'verdict')} {'flips' if self.flips == 1 else 'flip'}"
        said = f"{flips} {over}" if self.low == NO_RATE else f"{self.range} % {over}, {flips}"
        return f"{said}, as {moves}" if moves else said

    @property
    def range(self) -> str:
        """Give lowest and highest rate: ``85.0–93.0``."""
        return self.low if self.low == self.high else f"{self.low}–{self.high}"


@dataclass(frozen=True)
class EnvironmentRow:
    """One line of a column's table by environment."""

    where: str
    is_base: bool
    rate: str
    right_of: str
    flips: int


def entries(column: Column) -> list[dict[str, Any]]:
    """Give what is known of a column by environment; what a later version writes otherwise is left to it."""
    return [entry for entry in column.by_environment if entry.keys() >= _KEYS]


def spreads(run: Run, column: Column) -> tuple[Spread, ...]:
    """Give the range of a column for each factor that moves it."""
    found = []
    for factor, tried in _by_factor(column).items():
        rates = sorted((entry["ok"] / entry["judged"], _rate(entry)) for entry in tried if _rate(entry) != NO_RATE)
        low, high = (rates[0][1], rates[-1][1]) if rates else (NO_RATE, NO_RATE)
        most = max(entry["flips"] for entry in tried)
        found.append(Spread(factor, low, high, len(tried), column.flips.get(factor, most), mover(run, column, factor)))
    return tuple(found)


def range_text(run: Run, column: Column) -> str:
    """Say how a column moves, or nothing where it does not."""
    return "; ".join(spread.text for spread in spreads(run, column))


def widest_range(column: Column) -> str:
    """Give the lowest and the highest rate over all environments: ``85.0–93.0``; nothing where no rate moves."""
    rated = [entry for entry in entries(column) if _rate(entry) != NO_RATE]
    ordered = sorted(rated, key=lambda entry: entry["ok"] / entry["judged"])
    if not ordered or _rate(ordered[0]) == _rate(ordered[-1]):
        return ""
    return f"{_rate(ordered[0])}–{_rate(ordered[-1])}"


def tables(column: Column) -> tuple[tuple[str, tuple[EnvironmentRow, ...]], ...]:
    """Give, for each factor that moves a column, a heading and a row per environment; days in calendar order."""
    found = []
    for factor, tried in _by_factor(column).items():
        rows = [(str(entry.get(factor, entry["environment"])), not entry["varied"], entry) for entry in tried]
        if factor == "clock":
            rows.sort(key=lambda row: row[0])
        heading = "the day it runs" if factor == "clock" else _SINGULAR.get(factor, factor.replace("_", " "))
        found.append((heading, tuple(_row(factor, *row) for row in rows)))
    return tuple(found)


def _row(factor: str, value: str, is_base: bool, entry: Mapping[str, Any]) -> EnvironmentRow:
    where = _short(factor, value)
    # Where the rate is withheld, nobody is to work it out again.
    is_withheld = entry["judged"] and entry["content_rate"] is None
    right_of = NO_RATE if is_withheld else f"{entry['ok']:,} of {entry['judged']:,}"
    return EnvironmentRow(where, is_base, _rate(entry), right_of, entry["flips"])


def _by_factor(column: Column) -> dict[str, list[dict[str, Any]]]:
    """Give the base and the environments of each factor that moves the column."""
    known = entries(column)
    base = [entry for entry in known if not entry["varied"]]
    found: dict[str, list[dict[str, Any]]] = {}
    for entry in known:
        if len(entry["varied"]) == 1:
            found.setdefault(entry["varied"][0], base[:1]).append(entry)
    return found


def _rate(entry: Mapping[str, Any]) -> str:
    return NO_RATE if entry["content_rate"] is None else percent_of(entry["ok"], entry["judged"])


def is_probed(run: Run) -> bool:
    """Say whether anything was decoded in other environments."""
    return run.probe is not None and run.probe.level != "off"


def probe_line(run: Run) -> str:
    """Say how far a run was probed, what that found, and what it does not prove."""
    probe = run.probe
    if probe is None:
        return f"not probed, this run was stored before there were probes: {_OPEN}"
    if probe.level == "off":
        return f"not probed (--probe off): {_OPEN}"
    moved = {(column.field, column.consumer) for column in run.columns if dependences(run, column)}
    found = (
        f"{plural(len(moved), 'column')} {'depends' if len(moved) == 1 else 'depend'} on more than the string"
        if moved
        else "no value was observed to depend on more than its string"
    )
    fewer = ", a quick look in fewer environments (--probe full tries all)" if probe.level == "quick" else ""
    return f"{probe.level}{fewer}: {found}. Tested: {tested(run)}.{_and_not_varied(run)}"


def tested(run: Run) -> str:
    """Name what was varied for every consumer: clocks, zones, locales, seeds, orders, network, folder.

    Of zones and locales, which the strings of a consumer choose, those of some follow.
    """
    environments = run.probe.environments if run.probe else ()
    consumers = [consumer.name for consumer in run.consumers]
    parts = []
    for factor in FACTORS:
        by_consumer = {name: _values(factor, name, environments) for name in consumers}
        seen = [values for values in by_consumer.values() if values]
        if not seen:
            continue
        shared = sorted(set.intersection(*seen), key=_natural)
        others = sorted(set.union(*seen).difference(shared)) if factor in _CHOSEN else ()
        lacking = [name for name, values in by_consumer.items() if not values]
        known = "no network" if factor == "network" else "another folder and HOME"
        some = f" (for some {', '.join(others)})" if others else ""
        text = f"{_NOUNS[factor]} {', '.join(shared)}{some}" if factor not in ("network", "elsewhere") else known
        parts.append(text + (f" (not for {', '.join(lacking)})" if lacking else ""))
    return "; ".join(parts) or "nothing"


def _values(factor: str, consumer: str, environments: Iterable[ProbedEnvironment]) -> set[str]:
    return {
        _short(factor, str(getattr(one, factor)))
        for one in environments
        if consumer in one.consumers and factor in one.varied
    }


def _natural(text: str) -> tuple[int, str]:
    return (int(text) if text.isdecimal() else 0, text)


def _short(factor: str, value: str) -> str:
    """Shorten a value as people write it: an instant to the minute, a locale without its encoding."""
    if factor == "clock":
        return value[:16].replace("T", " ")
    if factor == "order":
        return value.replace("-", " ")
    return value.removesuffix(".UTF-8") if factor == "locale" else value


def _and_not_varied(run: Run) -> str:
    """Say what was not varied, each reason once with its consumers."""
    by_text: dict[str, list[str]] = {}
    for consumer in run.consumers:
        for text in not_varied(run, consumer):
            by_text.setdefault(text, []).append(consumer.name)
    said = [
        text if len(names) == len(run.consumers) else f"{', '.join(names)}: {text}" for text, names in by_text.items()
    ]
    return f" Not tested: {'; '.join(said)}." if said else ""


def not_varied(run: Run, consumer: ConsumerSummary) -> tuple[str, ...]:
    """Say what was not varied: ``locale not varied (de_DE, tr_TR could not be set on this machine)``."""
    return unvaried_texts(consumer.not_varied, _varied(run, consumer))


def not_varied_badges(run: Run, consumer: ConsumerSummary) -> tuple[str, ...]:
    """Say the same short: ``locale not varied``."""
    found = (part.short for part in _unvaried(consumer.not_varied, _varied(run, consumer)))
    return tuple(dict.fromkeys(found))


def unvaried_texts(notes: Iterable[str], varied: Collection[str] = ()) -> tuple[str, ...]:
    """Say what the notes of a consumer's probes hold; the factors `varied` were so in part."""
    return tuple(
        f"{part.short} ({' '.join(text for text in (part.values, part.why) if text)})"
        for part in _unvaried(notes, varied)
    )


def _varied(run: Run, consumer: ConsumerSummary) -> set[str]:
    environments = run.probe.environments if run.probe else ()
    return {factor for one in environments if consumer.name in one.consumers for factor in one.varied}


@dataclass(frozen=True)
class _Unvaried:
    """Notes of one part with one reason."""

    short: str
    values: str
    why: str


def _unvaried(notes: Iterable[str], varied: Collection[str]) -> list[_Unvaried]:
    grouped: dict[tuple[str, str], list[str]] = {}
    for note in notes:
        what, _, why = note.partition(": ")
        factor = next((name for name in FACTORS if f"{what} ".startswith(f"{name.replace('_', ' ')} ")), "")
        value = what[len(factor) :].strip() if factor else ""
        grouped.setdefault((factor or what, why), []).append(_short(factor, value))
    found = []
    for (what, why), values in grouped.items():
        listed = ", ".join(dict.fromkeys(value for value in values if value))
        name = _SINGULAR.get(what, environment_name(what).replace("_", " "))
        short = f"{name} partly not varied" if what in varied else f"{name} not varied"
        found.append(_Unvaried(short, listed, why.removeprefix("it ") if listed else why))
    return found


def no_proof(run: Run) -> str:
    """Say what a run without bugs does not prove."""
    where = "in one environment (clock, zone, locale)"
    if is_probed(run):
        where = f"in the base environment and in these: {tested(run)}.{_and_not_varied(run)} At other instants, zones "
        where += "and locales a value may be another, and what chance seldom does, or a rare order, may not have shown"
    return (
        f"That does not prove the parsers right. Only the strings of this run were read, {where}: a shape that is not "
        "among them may be rejected or misread, and a parser that misreads what a document means agrees with itself, "
        "on the prediction and on the reference."
    )
