"""Decoding statuses, verdicts and case outcomes: public names, and the one-letter codes that SQL groups by."""

from __future__ import annotations

from typing import Final, Literal

#: What a parser made of one raw value; of a recorded consumer also that nobody asked it.
DecodingStatus = Literal["value", "null", "rejected", "dropped", "crashed", "timed_out", "not_recorded"]

#: Field-level verdicts of a judged case; their counts sum to `judged`.
FIELD_VERDICTS: Final = ("ok", "wrong", "rejected", "null", "dropped", "crashed", "timed_out", "absent", "abstained")

#: Case-level outcomes that block every field of the case.
BLOCKED_VERDICTS: Final = ("missing", "transport", "truncated", "refused", "malformed", "unknown")

#: What blocks one column of a judged case: its consumer answers from records, and they lack the string. It is never
#: guessed, so it has no verdict.
NOT_RECORDED: Final = "not_recorded"

#: All that blocks a column; their counts sum to `blocked`.
BLOCKING: Final = (*BLOCKED_VERDICTS, NOT_RECORDED)

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
    "not_recorded": "N",
    "unreferenced": "-",
    "unexpected": "x",
    "broken_reference": "!",
}

VERDICT_OF: Final[dict[str, str]] = {letter: verdict for verdict, letter in LETTER_OF.items()}

#: The letters outside support: a case is in the support of a field where some reader of it has another one.
OUTSIDE_SUPPORT: Final = "".join(LETTER_OF[name] for name in UNSUPPORTED_VERDICTS)

#: One letter per decoding status, as stored in the outcome table.
STATUS_LETTER: Final[dict[str, str]] = {
    "value": "v",
    "null": "n",
    "rejected": "r",
    "dropped": "d",
    "crashed": "c",
    "timed_out": "t",
    "not_recorded": "N",
}

STATUS_OF: Final[dict[str, str]] = {letter: status for status, letter in STATUS_LETTER.items()}
