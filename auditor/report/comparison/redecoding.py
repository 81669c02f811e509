"""`Redecoding` → `Sheet`, and a line of CSV per column."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from auditor.model.figures import NO_RATE, percent, plural
from auditor.model.redecoding import RedecodedColumn, Redecoding, Rereading
from auditor.report.comparison.drift import run_line
from auditor.report.comparison.figures import points, rate
from auditor.report.comparison.sheet import Data, Fact, Section, Sheet, Table, Tone, listed

_LISTS: Final = (
    ("regression", "regressions", "Accepted before, and not any more with the same value, which must not happen"),
    ("newly rejected junk", "intended", "Accepted before, rejected now, and taken for junk: check that it is"),
    ("newly accepted", "newly_accepted", "Not accepted before, accepted now"),
)

_STRINGS: Final = {
    "same": "as before",
    "finer": "the same at the grain, not to the letter",
    "changed": "with another value",
    "lost": "no longer accepted",
    "gained": "newly accepted",
    "never": "accepted neither time",
}


def redecoding_sheet(redecoding: Redecoding, limit: int) -> Sheet:
    """Give what is shown: all columns in a table, then the raw values of each that are read otherwise."""
    moved = [column for column in redecoding.columns if not column.is_same]
    sections = [_overview(moved)] if moved else []
    sections += [_section(column, limit) for column in redecoding.columns if not column.is_same or column.suppressed]
    headline, tone = _headline(redecoding)
    return Sheet(
        kind="A run’s raw outputs decoded again",
        title=redecoding.new.name or "redecoding",
        headline=headline,
        tone=tone,
        facts=tuple(_facts(redecoding)),
        sections=tuple(sections),
        auditor_version=redecoding.new.auditor_version,
    )


def _headline(redecoding: Redecoding) -> tuple[str, Tone]:
    junk, gained = (sum(one.counts[name] for one in redecoding.columns) for name in ("intended", "newly_accepted"))
    parts = [plural(redecoding.regressions, "regression") if redecoding.regressions else "no regression"]
    if junk:
        parts.append(f"{plural(junk, 'string')} newly rejected as junk")
    if gained:
        parts.append(f"{plural(gained, 'string')} newly accepted")
    if redecoding.only_old:
        parts.append(f"{plural(len(redecoding.only_old), 'column')} gone")
    worst = max((one.of_error_bar for one in redecoding.columns if one.of_error_bar is not None), default=None)
    if worst:
        parts.append(f"up to {of_bar(worst)} of a column’s error bar used up by the parsers")
    tone: Tone = "bad" if redecoding.regressions else "note" if len(parts) > 1 else "good"
    return "; ".join(parts), tone


def _facts(redecoding: Redecoding) -> Iterator[Fact]:
    yield Fact("decoded", run_line(redecoding.old))
    yield Fact("again as", run_line(redecoding.new))
    for change in redecoding.instrument:
        yield Fact("changed", str(change), "note")
    if not redecoding.instrument:
        said = "no version and no setting; what differs all the same depends on more than parser and string"
        yield Fact("changed", said if any(not one.is_same for one in redecoding.columns) else "nothing")
    same = sum(one.is_same for one in redecoding.columns)
    if same:
        yield Fact("as before", f"{plural(same, 'column')} of {len(redecoding.columns):,}: every raw value is read so")
    for name, keys in (("in the old run only", redecoding.only_old), ("in the new run only", redecoding.only_new)):
        if keys:
            yield Fact("columns", f"{name}: {'; '.join(map(str, keys))}", "note")
    for note in redecoding.notes:
        yield Fact("note", note, "note")


def _overview(columns: Sequence[RedecodedColumn]) -> Section:
    lists = ("regressions", "junk", "accepted now")
    head = ("column", "before %", "now %", "points", "error bar", *lists)
    return Section(
        "Columns",
        tables=(
            Table(
                "How much of the error bar (half of the 95 % interval before) is used up; then distinct strings",
                head,
                tuple(_row(column) for column in columns),
                frozenset(range(1, len(head))),
            ),
        ),
    )


def _row(column: RedecodedColumn) -> tuple[str, ...]:
    return (
        Data(column.key),
        rate(column.old),
        rate(column.new),
        NO_RATE if column.difference is None else points(column.difference),
        NO_RATE if column.of_error_bar is None else of_bar(column.of_error_bar),
        *(f"{column.counts[name]:,}" for _, name, _ in _LISTS),
    )


def _section(column: RedecodedColumn, limit: int) -> Section:
    facts = []
    if column.suppressed:
        facts.append(Fact("content", f"rates are not compared: {column.suppressed}", "bad"))
    elif column.difference is not None and column.half_width is not None:
        bar = points(column.half_width, 1 if column.half_width >= 0.001 else 3).lstrip("+")
        used = f", {of_bar(column.of_error_bar or 0)} of the error bar of ±{bar} points"
        facts.append(
            Fact("right", f"{rate(column.old)} % → {rate(column.new)} %, {points(column.difference)} points{used}")
        )
    same = column.old_version == column.new_version
    facts.append(
        Fact("version", f"the same, {column.new_version}" if same else f"{column.old_version} → {column.new_version}")
    )
    counts = (f"{count:,} {_STRINGS[name]}" for name, count in column.strings.items() if count)
    facts.append(Fact("strings", ", ".join(counts) or "none"))
    tables = tuple(
        _table(label, caption, getattr(column, name), column.counts[name], column.rows[name], limit)
        for label, name, caption in _LISTS
        if getattr(column, name)
    )
    return Section(str(column.key), tuple(facts), tables)


def of_bar(part: float) -> str:
    """Give a part of an error bar: in percent, or how many bars."""
    return f"{percent(part)} %" if part < 10 else f"{part:,.0f} times the whole"


def _table(label: str, caption: str, rows: Sequence[Rereading], strings: int, count: int, limit: int) -> Table:
    """Give a row for each role of a string: `count` of them, of which `rows` are known and `limit` are shown."""
    in_json = "all" if count == len(rows) else f"the first {len(rows):,}"
    listed_as = f"; {count:,} rows, one for each role of a string" if count != strings else ""
    more = f"; the first {limit:,}, {in_json} are in the json report" if count > limit else ""
    return Table(
        f"{strings:,} × {label}. {caption}{listed_as}{more}",
        (label, "role", "before", "now", "cases", "verdicts", "why"),
        tuple(
            (
                Data(one.raw),
                one.role,
                Data(one.old_value or one.old),
                Data(_now(one)),
                f"{one.count:,}: {listed(one.cases, one.count, 5)}",
                ", ".join(f"{turn.replace(' to ', ' → ')} {count:,}" for turn, count in one.turns.items()),
                one.why,
            )
            for one in rows[:limit]
        ),
    )


def _now(one: Rereading) -> str:
    if one.new == "value":
        return one.new_value or ""
    return f"{one.new}: {one.error}" if one.error else one.new


CSV_HEAD: Final = (
    *("field", "consumer", "arm", "old_version", "new_version", "suppressed"),
    *("old_judged", "old_ok", "old_content_rate", "new_judged", "new_ok", "new_content_rate"),
    *("difference", "half_width", "of_error_bar", "regressions", "intended", "newly_accepted"),
    *(f"strings_{name}" for name in _STRINGS),
    "turns",
)


def csv_row(column: RedecodedColumn) -> dict[str, Any]:
    """Give the cells of a column by name."""
    row = {name: getattr(column, name) for name in CSV_HEAD[:6]}
    for name, side in (("old", column.old), ("new", column.new)):
        row |= {f"{name}_{key}": getattr(side, key) for key in ("judged", "ok", "content_rate")}
    row |= {name: getattr(column, name) for name in ("difference", "half_width", "of_error_bar")}
    row |= column.counts
    row |= {f"strings_{name}": count for name, count in column.strings.items()}
    return row | {"turns": json.dumps(column.turns)}
