"""Whether a column is as right as its team asks for."""

from __future__ import annotations

from auditor.model.figures import percent, rate
from auditor.model.run import Column


def shortfall(column: Column) -> str:
    """Say why a column is not as its threshold asks, or nothing: one that cannot be judged does not pass.

    >>> counts = dict(support=10, judged=10, blocked=0, blocked_by={}, verdicts={"ok": 8, "wrong": 2})
    >>> others = dict(unreferenced=0, unexpected=0, broken_references=0, coverage=1.0, usable_rate=0.8, interval=None)
    >>> shortfall(Column("total", "billing", "native", **counts, **others, content_rate=0.8, ceiling=1.0,
    ...     ceiling_interval=None, recoverable=0, at_least=0.9))
    '80.0 % right, at least 90.0 % are asked for'
    """
    if column.at_least is None:
        return ""
    asked = f"at least {percent(column.at_least)} % are asked for"
    if column.content_rate is None:
        return f"no rate is known, {asked}"
    if column.untrusted:
        return f"its rate means nothing ({', '.join(column.untrusted)}), {asked}"
    if not column.comparable:
        return f"{column.not_comparable}, {asked}"
    # Both are the nearest floats: what is asked for exactly is met, and so is a rate that was copied from a report.
    if column.verdicts["ok"] / column.judged < column.at_least:
        return f"{rate(column)} % right, {asked}"
    return ""
