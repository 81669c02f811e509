"""A run as a pull-request comment: fits in one, bugs folded, and data in it can be no markup, mention or link."""

from __future__ import annotations

import re
from typing import Final

from auditor.model import figures
from auditor.model.figures import plural
from auditor.model.run import Column, Finding, Run, Share
from auditor.report import environments, view
from auditor.report.agreement import agreement_text
from auditor.report.broken import broken_groups
from auditor.report.groups import Group, grouped
from auditor.report.text import visible
from auditor.report.view import FieldView
from auditor.report.witnesses import WitnessView, witness_views

#: GitHub refuses a comment beyond 65,536 characters.
LIMIT: Final = 65_000
_BROKEN: Final = 100
_IDS: Final = 30
_WITNESSES: Final = 3
_FIXES: Final = 6
_SHAPES: Final = 8
_NOTES: Final = 12
_PAIRS: Final = 30
_CODE_LIMIT: Final = 160
_TITLE_LIMIT: Final = 300
_DETAIL_LIMIT: Final = 800
_NO_PROOF_LIMIT: Final = 2000

_HEAD: Final = (
    "field",
    "consumer",
    "right",
    "ok/judged",
    "95 %",
    "ceiling",
    "blocked",
    "lost to shape",
    "lost to value",
    "usable",
    "notes",
)

#: A zero-width space, as an entity, breaks what a forge would link after rendering: mentions, issues, addresses.
_BREAK: Final = "&#8203;"
_MARKUP: Final = re.compile(r"[\\`*_{}\[\]()|~$!]")
_LINKED: Final = re.compile(r"@|#|://|www\.|\bGH-", re.IGNORECASE)
_LIST: Final = re.compile(r"^ *(?:(?=[-+=])|(\d+)(?=[.)]))")
_ENTITIES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_SEVERITY: Final = {"high": "🔴 high", "medium": "🟠 medium", "low": "🔵 low", "info": "⚪ info"}


def markdown_text(run: Run) -> str:
    """Give the comment; what does not fit is counted, worst bugs are kept."""
    head, foot = _head(run), _foot(run)
    room = LIMIT - size(head) - size(foot)
    broken = _broken_references(run, room // 4)
    columns = _columns(run, room // 2)
    bugs = _bugs(run, room - size(broken) - size(columns))
    return "\n".join(block for block in (head, broken, columns, bugs, foot) if block)


def code(text: str, limit: int = _CODE_LIMIT) -> str:
    """Give data as a code span, fenced by more backticks than it holds."""
    shown = visible(text, limit)
    if not shown.strip():
        return "(blanks)" if shown else "(empty)"
    fence = "`" * (max((len(ticks) for ticks in re.findall("`+", shown)), default=0) + 1)
    pad = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def cell(text: str, limit: int = _CODE_LIMIT) -> str:
    """Give data as a code span inside a table, where a pipe would end the cell even in code."""
    return code(text, limit).replace("|", "\\|")


def prose(text: str, limit: int = _DETAIL_LIMIT) -> str:
    """Give a sentence that may quote data: no markup, no HTML, no mention, no link comes of it."""
    escaped = _MARKUP.sub(r"\\\g<0>", visible(text, limit).strip()).translate(_ENTITIES)
    return _unlinked(_LIST.sub(lambda match: (match[1] or "") + "\\", escaped))


def html_prose(text: str) -> str:
    """Give a sentence for an HTML line, where a backslash would escape nothing."""
    return _unlinked(visible(text, _TITLE_LIMIT).translate(_ENTITIES))


def _unlinked(text: str) -> str:
    return _LINKED.sub(lambda match: match[0][0] + _BREAK + match[0][1:], text)


def size(text: str) -> int:
    """Count as JavaScript does, which is never less than what the forge counts."""
    return len(text.encode("utf-16-le")) // 2


def fitting(blocks: list[str], room: int) -> list[str]:
    """Give the first blocks that fit into `room` characters."""
    for count, block in enumerate(blocks):
        room -= size(block) + 1
        if room < 0:
            return blocks[:count]
    return blocks


def _head(run: Run) -> str:
    blocked = view.blocked_cases(run)
    classes = view.counted(blocked)
    cases = (
        f"{plural(run.cases.expected, 'case')}, {run.cases.judged:,} judged, {sum(blocked.values()):,} blocked"
        f"{f' ({classes})' if classes else ''}, {run.cases.unrelated:,} unrelated.\n"
    )
    lines = [
        f"## {prose(run.name, 200) or 'Audit'}: {prose(view.bugs_line(run))}\n",
        *([*(f"- {prose(line)}" for line in view.case_lines(run)), ""] if run.arms else [cases]),
    ]
    if run.rates_withheld:
        lines.append(f"**{prose(view.WITHHELD)}**\n")
    elif not any(column.judged for column in run.columns):
        lines.append(f"{view.NO_CASES}\n")
    if not environments.is_probed(run):
        lines.append(f"Probes: {prose(environments.probe_line(run), _NO_PROOF_LIMIT)}\n")
    lines += [f"- **note** {prose(note)}" for note in run.notes[:_NOTES]]
    if len(run.notes) > _NOTES:
        lines.append(f"- {view.more(len(run.notes) - _NOTES, 'note')} in the json and html reports")
    return "\n".join(lines) + ("\n" if run.notes else "")


def _foot(run: Run) -> str:
    parts = ", ".join(f"{name} {code(part)}" for name, part in view.environment_parts(run).items())
    made = f"run {code(run.run_id)}, auditor {code(run.auditor_version)}, {parts}"
    probes = prose(environments.probe_line(run), _NO_PROOF_LIMIT) if environments.is_probed(run) else ""
    return f"<sub>{made}</sub>\n" + (f"\n<sub>Probes: {probes}</sub>\n" if probes else "")


def _broken_references(run: Run, room: int) -> str:
    if not run.broken_references:
        return ""
    groups = broken_groups(run.broken_references)
    rows = [
        f"| {cell(item.field)} | {cell(item.raw)} | {len(group.cases):,} | {cell(group.ids(_IDS), _DETAIL_LIMIT)} "
        f"| {cell(item.decoder)} | {cell(item.status)} | {cell(item.error)} |"
        for group in groups[:_BROKEN]
        for item in [group.first]
    ]
    head = f"### {figures.plural(len(run.broken_references), 'broken reference')}\n"
    table = ["| field | reference | cases | ids | decoder | status | error |", "|---|---|--:|---|---|---|---|"]
    shown = fitting(rows, room - 300)
    left = sum(len(group.cases) for group in groups[len(shown) :])
    more = f"\n{view.more(left)} in the json and html reports.\n" if left else ""
    return "\n".join([head, *table, *shown, more])


def _columns(run: Run, room: int) -> str:
    if not run.columns:
        return ""
    rows: list[str] = []
    for field in view.field_views(run):
        rows += [_row(column, run) for column in field.columns]
        rows += _joint_rows(field)
    table = [f"| {' | '.join(_HEAD)} |", "|---|---|--:|--:|--:|--:|--:|---|--:|--:|---|"]
    shown = fitting(rows, room - 500)
    left = len(rows) - len(shown)
    more = f"\n{view.more(left, 'row')} in the csv report.\n" if left else ""
    return "\n".join([*table, *shown, more])


def _row(column: Column, run: Run) -> str:
    rate = _unit(figures.rate(column))
    notes = [cell(note) for note in view.badges(column, run)]
    agreement = agreement_text(run, column)
    if column.untrusted:
        rate = f"~~{rate}~~"
        notes.insert(0, f"**untrusted**: {', '.join(cell(reason) for reason in column.untrusted)}")
    if moves := environments.range_text(run, column):
        rate = f"{rate} ({prose(moves)})"
    cells = (
        cell(view.of_arm(column.field, column.arm)),
        cell(column.consumer),
        rate,
        figures.right_of(column),
        figures.interval(column.interval),
        _unit(figures.ceiling(column)),
        view.blocked(column),
        view.shape_loss(column),
        figures.scored(column, column.lost_to_value),
        f"{_unit(figures.usable(column))} of {column.support:,}",
        "; ".join(filter(None, [*notes, view.other_verdicts(column), agreement])),
    )
    return f"| {' | '.join(cells)} |"


def _joint_rows(field: FieldView) -> list[str]:
    if field.summary is None:
        return []

    def row(name: str, part: Share) -> str:
        rate, count = _unit(figures.share(part)), figures.part_of(part)
        return f"| {cell(field.name)} | *{name}* | {rate} | {count} | {figures.interval(part.interval)} | | | | | | |"

    return [row(view.EVERYWHERE, field.summary.usable_everywhere), row(view.EQUALITY, field.summary.string_equality)]


def _unit(rate: str) -> str:
    return rate if rate == figures.NO_RATE else f"{rate} %"


def _bugs(run: Run, room: int) -> str:
    """Give the worst bugs whole, the next as a line each, and the number of those beyond."""
    if not run.findings:
        return f"**{prose(view.no_bugs(run))}** {prose(environments.no_proof(run), _NO_PROOF_LIMIT)}\n"
    groups = grouped(run.findings)
    shown = fitting([_bug(run, group) for group in groups], room * 3 // 4)
    rest = groups[len(shown) :]
    lines = fitting([_bug_line(group) for group in rest], room - sum(map(size, shown)) - len(shown) - 200)
    left = sum(len(group.findings) for group in rest[len(lines) :])
    more = [f"\n{figures.plural(left, 'more bug')} in the json and html reports.\n"] if left else []
    return "\n".join([*shown, *lines, *more])


def _bug_line(group: Group) -> str:
    finding = group.lead
    place = f"{code(finding.field)}, {view.affected(finding)}"
    return f"- {_SEVERITY[finding.severity]} **{prose(finding.code)}**: {prose(group.title, _TITLE_LIMIT)} ({place})"


def _bug(run: Run, group: Group) -> str:
    finding = group.lead
    severity = _SEVERITY[finding.severity]
    parts = (
        f"<details><summary>{severity} <b>{html_prose(finding.code)}</b>: {html_prose(group.title)}</summary>",
        *_said(run, group, _WITNESSES),
        "</details>\n",
    )
    return "\n\n".join(part for part in parts if part)


def issue_text(run: Run, finding: Finding) -> str:
    """Give a bug as the text of an issue, with every witness: no markup, mention or link comes of its data."""
    group = Group(finding)
    head = f"**{prose(finding.code)}** ({finding.severity}): {prose(finding.title, _TITLE_LIMIT)}"
    seen = f"Run {code(run.run_id)} of {code(run.name)}, created {code(run.created_at)}"
    parts = (head, *_said(run, group, len(finding.witnesses)), f"{seen}, auditor {code(run.auditor_version)}.\n")
    return "\n\n".join(part for part in parts if part)


def _said(run: Run, group: Group, witnesses: int) -> tuple[str, ...]:
    finding = group.lead
    return (
        _place(group),
        prose(finding.detail),
        f"Cause: {prose(finding.cause)}" if finding.cause else "",
        f"At {code(finding.location.place)}" if finding.location else "",
        "\n".join(f"- {prose(kind)}: {_shapes(counts)}" for kind, counts in view.shape_lists(finding).items()),
        *(_witness(witness) for witness in witness_views(run, finding)[:witnesses]),
        "\n".join(f"{number}. {prose(fix)}" for number, fix in enumerate(finding.fixes[:_FIXES], 1)),
    )


def _place(group: Group) -> str:
    finding = group.lead
    owners = ", ".join(map(code, group.owners))
    more = f"; {len(group.listed) - _PAIRS:,} more" if len(group.listed) > _PAIRS else ""
    consumers = "; ".join(map(code, group.listed[:_PAIRS])) + more or ", ".join(map(code, finding.consumers))
    parts = (
        f"field {code(finding.field)}",
        f"consumers {consumers}" if consumers else "",
        f"owner {owners}" if owners else "",
        view.affected(finding),
        f"fingerprint {code(finding.fingerprint[:8])}",
    )
    return ", ".join(part for part in parts if part)


def _shapes(counts: dict[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    more = f" and {len(ordered) - _SHAPES:,} more" if len(ordered) > _SHAPES else ""
    return ", ".join(f"{code(shape)} {count:,}" for shape, count in ordered[:_SHAPES]) + more


def _witness(witness: WitnessView) -> str:
    rows = [
        f"| {cell(reading.consumer)} | {cell(view.decoded(reading.decoding))} |"
        + (f" {cell(reading.where) if reading.where else ''} |" if witness.moves else "")
        for reading in witness.readings
    ]
    head = f"{code(witness.raw)} ({prose(witness.place, _TITLE_LIMIT)})"
    named, line = "| consumer | reads it as |", "|---|---|"
    if witness.moves:
        named, line = f"{named} in |", f"{line}---|"
    return "\n".join([head, "", named, line, *rows])
