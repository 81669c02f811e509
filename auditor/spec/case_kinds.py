"""The kinds of keys that say what completions are: finish reasons, the payload's reader, shares and counts."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final, get_args

from auditor.spec.kinds import Kind
from auditor.spec.mistakes import Complain, shown, suggest
from auditor.spec.models import FinishOutcome

_OUTCOMES: Final = tuple(get_args(FinishOutcome))

#: Three rows never open the content gate, whatever a spec says.
LEAST_JUDGED: Final = 4
_TARGET: Final = re.compile(r"[^:\s]+:[^:\s]+")


def _finish_reasons(value: object, complain: Complain) -> dict[str, str] | None:
    if not isinstance(value, Mapping):
        complain(f"must be a table of finish reasons, not {shown(value)}", 'such as { pause_turn = "truncated" }')
        return None
    wrong = [reason for reason, outcome in value.items() if outcome not in _OUTCOMES]
    for reason in wrong:
        hint = suggest(str(value[reason]), _OUTCOMES) if isinstance(value[reason], str) else ""
        complain(f"must be one of {', '.join(_OUTCOMES)}, not {shown(value[reason])}", hint, reason)
    lowered = [reason.lower() for reason in value]
    twice = [reason for reason in value if lowered.count(reason.lower()) > 1]
    for reason in twice:
        complain("is the same reason as another key: capital letters do not count", "keep one of them", reason)
    return None if wrong or twice else dict(value)


def _payload(value: object, complain: Complain) -> str | None:
    if isinstance(value, str) and (value in ("strict", "fenced") or _TARGET.fullmatch(value)):
        return value
    hint = suggest(value, ("strict", "fenced")) if isinstance(value, str) else ""
    complain(f"must be strict, fenced or module:function, not {shown(value)}", hint)
    return None


def _words(value: object, complain: Complain) -> tuple[str, ...] | None:
    words = [value] if isinstance(value, str) else value
    if isinstance(words, list | tuple) and all(isinstance(word, str) for word in words):
        return tuple(words)
    complain(f"must be a list of texts, not {shown(value)}", 'such as ["N/A", "not stated"]')
    return None


def _columns(value: object, complain: Complain) -> tuple[str, ...] | None:
    names = [value] if isinstance(value, str) else value
    if (
        isinstance(names, list | tuple)
        and names
        and all(isinstance(name, str) and name for name in names)
        and len(set(names)) == len(names)
    ):
        return tuple(names)
    complain(f"must be a column or a list of columns, not {shown(value)}", 'such as ["model", "model_version"]')
    return None


def _enough(value: object, complain: Complain) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool) and value >= LEAST_JUDGED:
        return value
    complain(f"must be a whole number from {LEAST_JUDGED}, not {shown(value)}", "fewer cases compare with nothing")
    return None


def _is_share(value: object) -> bool:
    is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and 0 <= value <= 1  # type: ignore[arg-type,operator]


def _share(value: object, complain: Complain) -> float | None:
    if _is_share(value):
        return float(value)  # type: ignore[arg-type]
    complain(f"must be a share from 0 to 1, not {shown(value)}", "a fifth is 0.2")
    return None


def _shares(value: object, complain: Complain) -> dict[str, float] | None:
    if not isinstance(value, Mapping):
        complain(f"must be a table of shares, not {shown(value)}", "such as { effective_date = 0.9 }")
        return None
    wrong = False
    for name, share in value.items():
        if not _is_share(share):
            complain(f"must be a share from 0 to 1, not {shown(share)}", "90 % is 0.9", name)
            wrong = True
    return None if wrong else {name: float(share) for name, share in value.items()}


_TEXT: Final[dict[str, Any]] = {"type": "string"}
_NAME: Final[dict[str, Any]] = {"type": "string", "minLength": 1}

FINISH_REASONS = Kind(
    _finish_reasons,
    {"type": "object", "additionalProperties": {"enum": list(_OUTCOMES)}, "examples": [{"pause_turn": "truncated"}]},
)
PAYLOAD = Kind(
    _payload, {"anyOf": [{"enum": ["strict", "fenced"]}, {"type": "string", "pattern": r"^[^:\s]+:[^:\s]+$"}]}
)
WORDS = Kind(_words, {"anyOf": [_TEXT, {"type": "array", "items": _TEXT}], "examples": [["N/A", "not stated"]]})
COLUMNS = Kind(
    _columns,
    {
        "anyOf": [_NAME, {"type": "array", "items": _NAME, "minItems": 1, "uniqueItems": True}],
        "examples": [["model", "model_version"]],
    },
)
ENOUGH = Kind(_enough, {"type": "integer", "minimum": LEAST_JUDGED})
SHARES = Kind(
    _shares,
    {
        "type": "object",
        "additionalProperties": {"type": "number", "minimum": 0, "maximum": 1},
        "examples": [{"effective_date": 0.9}],
    },
)
SHARE = Kind(_share, {"type": "number", "minimum": 0, "maximum": 1})
