"""Two runs of an audit compared, as `auditor drift` compares them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from auditor.errors import Refused, StoreError
from auditor.model.drift import Drift
from auditor.service.pages import OFFERED, named_run, said_in, whole_run, workspace
from auditor.service.problems import Refusal
from auditor.service.rendering import page
from auditor.service.runs import Entry, Mark
from auditor.service.turns import COMPARING
from auditor.service.workspace import Workspace
from auditor.store.reading import StoredRun

#: Comparisons that are kept, for whoever turns a page.
KEPT: Final = 8


@dataclass(frozen=True)
class _Question:
    old: tuple[str, Mark]
    new: tuple[str, Mark]
    common: bool
    split: bool


class _Answers:
    """The comparisons that were asked for last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[_Question, Drift] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, question: _Question) -> Drift | None:
        with self._lock:
            return self._kept.get(question)

    def keep(self, question: _Question, answer: Drift) -> None:
        with self._lock:
            self._kept[question] = answer
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)


_ANSWERS: Final = _Answers()


def drift(request: Request) -> Response:
    """Show what changed between two runs, or offer the runs of an audit."""
    asked = workspace(request)
    audit, old, new, common, split = said_in(request, "audit", "old", "new", "common", "split")
    shelf = asked.runs.look()
    before, after = (named_run(shelf, one) if one else None for one in (old, new))
    name = audit or (after or before or shelf.entries[0]).record.name if shelf.entries else audit
    offered, later = list(shelf.of(name)[:OFFERED]), shelf.series(name)
    offered += [one for one in (before, after) if one is not None and one not in offered]
    shown: dict[str, Any] = {
        "shelf": shelf,
        "audit": name,
        "offered": offered,
        "old": before or (later[1] if len(later) > 1 else None),
        "new": after or (later[0] if later else None),
        "common": bool(common),
        "split": bool(split),
        "refused": "",
        "found": None,
    }
    if before is None or after is None:
        return page("drift", shown)
    try:
        found = _compared(asked, before, after, common=bool(common), split=bool(split))
    except Refused as error:
        return page("drift", shown | {"refused": str(error)})
    except StoreError as error:
        raise Refusal(409, str(error)) from error
    from auditor.report.comparison import SHOWN_ON_PAGE, sheet_of
    from auditor.report.comparison.html import context

    return page("drift", shown | context(sheet_of(found, SHOWN_ON_PAGE)) | {"found": found})


def _compared(asked: Workspace, old: Entry, new: Entry, *, common: bool, split: bool) -> Drift:
    question = _Question((old.run_id, old.mark), (new.run_id, new.mark), common, split)
    found = _ANSWERS.get(question)
    if found is None:
        before, after = (StoredRun(whole_run(asked, one), one.path.parent) for one in (old, new))
        with COMPARING.one("compare runs"):
            found = _compare(asked, before, after, common=common, split=split)
        _ANSWERS.keep(question, found)
    return found


def _compare(asked: Workspace, old: StoredRun, new: StoredRun, *, common: bool, split: bool) -> Drift:
    """Compare them; with `split` by what the runs here have decoded: no consumer is started."""
    if not split:
        from auditor.drift.compare import compare

        return compare(old, new, common=common)
    from auditor.audit.split import decode_crossings

    *_, found = decode_crossings(old, new, asked.runs.folder, None, None, common=common)
    assert isinstance(found, Drift)
    return found


ROUTES: Final = (Route("/drift", drift),)
