"""Decoding statuses, verdicts and case outcomes: public names, and the one-letter codes that SQL groups by."""

from __future__ import annotations

from typing import Final, Literal

DecodingStatus = Literal["value", "null", "rejected", "dropped", "crashed", "timed_out"]

#: What a parser made of one raw value.
DECODING_STATUSES: Final = ("value", "null", "rejected", "dropped", "crashed", "timed_out")

#: Field-level verdicts of a judged case; their counts sum to `judged`.
FIELD_VERDICTS: Final = ("ok", "wrong", "rejected", "null", "dropped", "crashed", "timed_out", "absent", "abstained")

#: Case-level outcomes that block every field of the case; their counts sum to `blocked`.
BLOCKED_VERDICTS: Final = ("missing", "transport", "truncated", "refused", "malformed", "unknown")

#: Verdicts outside support.
UNSUPPORTED_VERDICTS: Final = ("unreferenced", "unexpected", "broken_reference")

#: Verdicts in which the consumer took no value from a prediction that was given.
NOT_ACCEPTED: Final = ("rejected", "null", "dropped", "crashed", "timed_out")

#: One letter per verdict, so that the verdicts of all consumers of a pair make one short text.
LETTER_OF: Final[dict[str, str]] = {
    "ok": "o",
    "wrong": "w",
    "rejected": "r",
    "null": "n",
    "dropped": "d",
    "crashed": "c",
    "timed_out": "t",
    "absent": "a",
    "abstained": "b",
    "missing": "M",
    "transport": "T",
    "truncated": "U",
    "refused": "F",
    "malformed": "J",
    "unknown": "K",
    "unreferenced": "-",
    "unexpected": "x",
    "broken_reference": "!",
}

VERDICT_OF: Final[dict[str, str]] = {letter: verdict for verdict, letter in LETTER_OF.items()}

#: One letter per decoding status, as stored in the outcome table.
STATUS_LETTER: Final[dict[str, str]] = {
    "value": "v",
    "null": "n",
    "rejected": "r",
    "dropped": "d",
    "crashed": "c",
    "timed_out": "t",
}

STATUS_OF: Final[dict[str, str]] = {letter: status for status, letter in STATUS_LETTER.items()}
