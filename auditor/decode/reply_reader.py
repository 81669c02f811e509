"""The spec's own function that takes the payload out of a reply, called in a worker like any parser."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from types import TracebackType
from typing import Final, Self

from auditor.decode.clock import CLOCKS
from auditor.decode.launches import launches
from auditor.decode.plan import make_plan
from auditor.decode.session import Session
from auditor.decode.stop import Stop
from auditor.spec.models import AuditSpec, ConsumerSpec, FieldSpec

#: The file of a stored run with what its own reader of replies gave: [text, payload or null, why] a line.
READINGS: Final = "readings.jsonl"
_NAME: Final = "[cases] payload"
_FIELD: Final = "payload"
_TAG: Final = "text:"


class ReplyReader(AbstractContextManager["ReplyReader"]):
    """A worker with the function, in the base environment; `read` takes texts, each of which is read once."""

    def __init__(self, spec: AuditSpec, stop: Stop | None = None) -> None:
        """Start the worker; ConsumerError says why it cannot be started."""
        consumer = ConsumerSpec(
            name=_NAME, adapter="python", root=spec.cases.payload_root, reads={_FIELD: spec.cases.payload}
        )
        fields = {_FIELD: FieldSpec(name=_FIELD, type="identifier")}
        plan = make_plan(spec, consumer, spec.environment.environment(), fields, None)
        plan = replace(plan, config=plan.config | {"adapter": "payload"})
        self.session = Session(plan, stop, launches(plan, None, CLOCKS))
        self._known: dict[str, tuple[str | None, str]] = {}

    def kept(self) -> dict[str, str]:
        """Give what a stored run needs to read the same replies again: a file of texts and what came of each."""
        lines = (json.dumps([text, *read]) + "\n" for text, read in self._known.items())
        return {READINGS: "".join(lines)}

    def read(self, texts: Sequence[str]) -> list[tuple[str | None, str]]:
        """Give for each text the JSON text of its payload, or None and why there is none."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            found = self.session.decode(_FIELD, [json.dumps(text, ensure_ascii=False) for text in new])
            for index, text in enumerate(new):
                fault = found.faults.get(index)
                given = found.texts[index]
                if fault is not None or given is None:
                    said = "" if fault is None else fault.error or fault.status
                    self._known[text] = (None, said or "the reader gave nothing")
                else:
                    self._known[text] = (given.removeprefix(_TAG), "")
        return [self._known[text] for text in texts]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.session.close()

    def __enter__(self) -> Self:
        return self
