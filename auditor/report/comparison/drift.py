"""`Drift` → `Sheet`."""

from __future__ import annotations

from collections.abc import Iterator

from auditor.model.drift import SIGNIFICANT, ColumnDrift, ColumnKey, Drift, Flip, RunHead
from auditor.model.figures import NO_RATE, plural
from auditor.report.comparison.figures import moved, p_value, points, points_between, rate
from auditor.report.comparison.sheet import Data, Fact, Section, Sheet, Table, Tone, listed

_ARROW = " → "


def drift_sheet(drift: Drift, limit: int) -> Sheet:
    """Give what is shown of two runs: all columns in a table, then each that moved or is not compared."""
    sections = [_overview(drift)] if drift.columns else []
    sections += _split_sections(drift)
    sections += [_section(column, limit) for column in drift.columns if column.flips or column.suppressed]
    headline, tone = _headline(drift)
    return Sheet(
        kind="Drift between two runs",
        title=drift.new.name or "drift",
        headline=headline,
        tone=tone,
        facts=tuple(_facts(drift)),
        sections=tuple(sections),
        auditor_version=drift.new.auditor_version,
    )


def _split_sections(drift: Drift) -> list[Section]:
    if not drift.split:
        return []
    from auditor.report.comparison.split import split_section

    return [split_section(drift.split)]


def _headline(drift: Drift) -> tuple[str, Tone]:
    """Say what it comes to; a column that could not be compared is never counted as one that did not fall."""
    drops = sum(column.is_drop for column in drift.columns)
    fewer = sum(column.paired is not None and column.paired.difference < 0 for column in drift.columns) - drops
    suppressed = sum(bool(column.suppressed) for column in drift.columns)
    flips = sum(column.flipped for column in drift.columns if column.key.is_whole)
    columns = plural(len(drift.columns), "column")
    parts = [f"{plural(drops, 'drop') if drops else 'no drop'} in {columns}"]
    if suppressed == len(drift.columns):
        parts = [f"the content of {columns} is not compared"]
    elif suppressed:
        parts.append(f"{suppressed:,} not compared")
    if fewer:
        parts.append(f"{fewer:,} lower, not beyond chance")
    if drift.not_compared:
        parts.append(f"{plural(len(drift.not_compared), 'more column')} with another contract")
    if drift.only_old:
        parts.append(f"{plural(len(drift.only_old), 'column')} gone")
    parts.append(f"{plural(flips, 'verdict')} flipped" if flips else "no verdict flipped")
    if drift.split:
        from auditor.report.comparison.split import split_headline

        parts.insert(0, split_headline(drift.split))
    tone: Tone = "bad" if drops else "note" if suppressed or drift.only_old or drift.not_compared or fewer else "good"
    return "; ".join(parts), tone


def _facts(drift: Drift) -> Iterator[Fact]:
    yield Fact("old", run_line(drift.old))
    yield Fact("new", run_line(drift.new))
    if drift.same_manifest:
        yield Fact("cases", f"{plural(drift.shared, 'case')}, the same in both runs")
    else:
        yield Fact("cases", f"the runs are not of the same cases; compared are the {drift.shared:,} in both", "note")
    for dropped in drift.dropped:
        yield Fact("left out", str(dropped), "note")
    if drift.instrument:
        for change in drift.instrument:
            yield Fact("instrument", f"changed: {change}", "note")
    else:
        yield Fact("instrument", "the same consumers, versions, settings and environment")
    for name, keys in (("old", drift.only_old), ("new", drift.only_new)):
        if keys:
            yield Fact("columns", f"in the {name} run only: {'; '.join(map(_named, keys))}", "note")
    for note in drift.notes:
        yield Fact("note", note, "note")


def run_line(run: RunHead) -> str:
    """Name a run by id, time and build."""
    again = f" · redecoded from {run.redecoded_of}" if run.redecoded_of else ""
    cases = plural(run.cases, "case") + (f" in each of {plural(run.arms, 'arm')}" if run.arms else "")
    return f"{run.run_id} · {run.created_at} · {cases} · auditor {run.auditor_version}{again}"


def _named(key: ColumnKey) -> str:
    return str(key)


def _overview(drift: Drift) -> Section:
    head = ("column", "old %", "new %", "points", "95 %", "exact p", "flipped", "")
    return Section(
        "Columns",
        tables=(
            Table(
                f"Difference new minus old over the cases judged in both; a drop has fewer right answers and an exact p"
                f" below {SIGNIFICANT}",
                head,
                tuple(_row(column) for column in drift.columns),
                frozenset({1, 2, 3, 5, 6}),
            ),
        ),
    )


def _row(column: ColumnDrift) -> tuple[str, ...]:
    rates = (Data(column.key), rate(column.old), rate(column.new))
    paired = column.paired
    if paired is None:
        figures = (NO_RATE, "", NO_RATE)
    else:
        figures = (points(paired.difference), points_between(paired.interval), p_value(paired.exact_p))
    return (*rates, *figures, f"{column.flipped:,}", _remark(column))


def _remark(column: ColumnDrift) -> str:
    said = ["not compared"] if column.suppressed else ["drop"] if column.is_drop else []
    if column.paired is not None and column.paired.difference > 0 and column.paired.exact_p < SIGNIFICANT:
        said.append("rise")
    if column.untrusted:
        said.append(f"untrusted: {', '.join(column.untrusted)}")
    return ", ".join(said)


def _section(column: ColumnDrift, limit: int) -> Section:
    return Section(str(column.key), facts=tuple(_column_facts(column, limit)))


def _column_facts(column: ColumnDrift, limit: int) -> Iterator[Fact]:
    old, new, paired = column.old, column.new, column.paired
    if column.suppressed:
        yield Fact("content", f"not compared: {column.suppressed}", "bad")
    elif paired is not None:
        tone: Tone = "bad" if column.is_drop else ""
        yield Fact(
            "right",
            f"{rate(old)} % → {rate(new)} % ({old.ok:,}/{old.judged:,} → {new.ok:,}/{new.judged:,}); over the"
            f" {paired.judged_in_both:,} judged in both {points(paired.difference)} points"
            f" (95 % {points_between(paired.interval)})",
            tone,
        )
        yield Fact(
            "test",
            f"{plural(paired.discordant, 'discordant pair')}: {paired.ok_in_old_only:,} right in the old run only,"
            f" {paired.ok_in_new_only:,} in the new one only; McNemar exact p {p_value(paired.exact_p)}, mid-p"
            f" {p_value(paired.mid_p)}",
        )
    yield Fact("cases", _counts(column))
    if column.untrusted:
        yield Fact("untrusted", f"{', '.join(column.untrusted)}: its rates mean nothing until that is fixed", "bad")
    for flip in column.flips:
        yield Fact(f"{flip.old}{_ARROW}{flip.new}", _flip(flip, limit))


def _counts(column: ColumnDrift) -> str:
    old, new = column.old, column.new
    classes = dict.fromkeys((*old.blocked_by, *new.blocked_by))
    by = ", ".join(f"{name} {moved(old.blocked_by.get(name, 0), new.blocked_by.get(name, 0))}" for name in classes)
    said = f"support {moved(old.support, new.support)}, judged {moved(old.judged, new.judged)}, blocked"
    said += f" {moved(old.blocked, new.blocked)}" + (f" ({by})" if by else "")
    if old.broken_references or new.broken_references:
        said += f", broken references {moved(old.broken_references, new.broken_references)}"
    if column.left_out:
        said += f"; {plural(column.left_out, 'case')} of this split in one run only, left out"
    return said


def _flip(flip: Flip, limit: int) -> str:
    kind = "" if flip.kind == "content" else f" ({flip.kind if flip.kind == 'operational' else 'outside support'})"
    return f"{flip.count:,}{kind}: {listed(flip.cases, flip.count, limit)}"
