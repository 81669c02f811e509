"""What the team says of a bug from now on: the entry that `auditor findings accept` writes, in the same file."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Final

from auditor.errors import SpecError, StoreError
from auditor.model.baseline import SAID, Baseline, Entry, last_day
from auditor.model.run import Finding
from auditor.service.logs import LOGGER
from auditor.service.problems import Refusal
from auditor.service.runs import Shelf
from auditor.service.workspace import Workspace
from auditor.store.baseline import change_baseline

#: Characters of a reason.
LONGEST: Final = 2000


def accept(
    asked: Workspace, audit: str | None, fingerprint: str, state: str, reason: str, until: str | None, by: str
) -> Entry:
    """Say of a bug that it is known, accepted or fixed, for a reason, until a day; `by` is whose request it is."""
    finding = last_seen(asked, asked.runs.look(), audit, fingerprint)
    said = next((one for one in SAID if one == state), None)
    if said is None:
        raise Refusal(422, f"there is no state {state!r}; choose {', '.join(SAID)}")
    if not reason.strip():
        raise Refusal(422, "the reason is empty: say why, for whoever reads it later")
    if len(reason) > LONGEST:
        raise Refusal(422, f"the reason has {len(reason):,} characters; {LONGEST:,} are the most")
    today = datetime.now(UTC).date()
    entry = Entry("", said, reason, _day(until, today), today)
    changed = _change(asked, lambda baseline: baseline.saying(entry, [finding]))
    _log(f"bug {said}", fingerprint, by)
    return changed.entries[fingerprint]


def reopen(asked: Workspace, fingerprint: str, by: str) -> None:
    """Take back what was said of a bug; a refusal where nothing was."""

    def taken_back(baseline: Baseline) -> Baseline:
        if fingerprint not in baseline.entries:
            raise Refusal(
                404, f"nothing is said of a bug with the fingerprint {fingerprint}, so it is not to be reopened"
            )
        return baseline.without([fingerprint])

    _change(asked, taken_back)
    _log("bug reopened", fingerprint, by)


def last_seen(asked: Workspace, shelf: Shelf, audit: str | None, fingerprint: str) -> Finding:
    """Give a bug as of the latest run that has it, of any audit or of one."""
    listed = shelf.entries if audit is None else shelf.of(audit)
    # What a redecoding says of it counts where no other run has it.
    for entry in sorted(listed, key=lambda one: bool(one.record.redecoded_of)):
        if any(one.fingerprint == fingerprint for one in entry.record.findings):
            try:
                found = asked.runs.figures(entry).findings
            except StoreError as error:
                raise Refusal(409, f"run {entry.run_id} is damaged: {error}") from error
            return next(one for one in found if one.fingerprint == fingerprint)
    where = "no run" if audit is None else f"no run of {audit}"
    raise Refusal(404, f"{where} has a bug with the fingerprint {fingerprint}")


def _day(text: str | None, today: date) -> date | None:
    if not text:
        return None
    try:
        return last_day(text, today)
    except ValueError as error:
        # What is no day never will be one; a day that is over was one, and stands against today's.
        raise Refusal(409 if _is_day(text) else 422, f"until {text}: {error}") from error


def _is_day(text: str) -> bool:
    try:
        return bool(date.fromisoformat(text))
    except ValueError:
        return False


def _change(asked: Workspace, change: Callable[[Baseline], Baseline]) -> Baseline:
    try:
        return change_baseline(asked.baseline, change)
    except (SpecError, StoreError) as error:
        raise Refusal(503, str(error)) from error


def _log(event: str, fingerprint: str, by: str) -> None:
    LOGGER.info(event, extra={"facts": {"fingerprint": fingerprint[:64], "token": by or None}})
