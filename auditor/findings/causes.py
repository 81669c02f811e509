"""What each way in which two values differ says, what is likely behind it, and how to fix it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cause:
    """A way in which two readings of one string differ, in words for the owners of the consumers."""

    says: str
    likely: str
    fixes: tuple[str, ...]


_CANONICAL = "Normalise the field once, before the consumers, and hand all of them the same canonical text."

CAUSES: dict[str, Cause] = {
    "day-month": Cause(
        "day and month swapped",
        "One parser takes the day first and the other the month first, and the string does not say which.",
        (
            "Ask the model for ISO dates (YYYY-MM-DD), which have one reading.",
            "Set the same day order in both parsers, the one that the documents use.",
        ),
    ),
    "iso-order": Cause(
        "day and month of an ISO date swapped",
        "One parser takes the day first even where the year comes first: dateutil with dayfirst=True does.",
        ("Read YYYY-MM-DD as the standard has it in that parser, and the day first in other forms only.",),
    ),
    "part-order": Cause(
        "year, month and day taken in a different order",
        "The parsers assume different orders of the three parts of a short date.",
        ("Ask the model for ISO dates (YYYY-MM-DD).", "Give both parsers an explicit format."),
    ),
    "century": Cause(
        "the century differs",
        "A two-digit year is completed by different pivots, or by one that slides with the clock.",
        ("Ask the model for four-digit years.", "Give both parsers the same fixed pivot."),
    ),
    "year": Cause(
        "the year differs",
        "One parser fills in a missing or partly read year, from the clock or from a constant.",
        ("Refuse dates without a year.", "Ask the model for full dates."),
    ),
    "month": Cause(
        "the month differs",
        "One parser fills in a missing month, or rolls an impossible date over into the next one.",
        ("Refuse partial and impossible dates.", "Ask the model for full dates."),
    ),
    "day": Cause(
        "only the day differs",
        "The string has no day, or one that does not exist; each parser fills in its own: the first, the last, today.",
        ("Refuse partial dates.", "Agree on one day for partial dates and fix it in both parsers."),
    ),
    "filled-in": Cause(
        "missing parts are filled in differently",
        "The string states no full date, and each parser fills in its own year, month or day.",
        ("Refuse partial dates.", "Ask the model for full dates.", "Fix one rule for partial dates in both parsers."),
    ),
    "zone": Cause(
        "same clock reading or instant, different time zone",
        "One parser takes the time as the string states it; the other adds, drops or converts a zone.",
        ("Keep the offset that the string states.", "Convert to one agreed zone in one place."),
    ),
    "time": Cause(
        "same day, different time",
        "One parser drops, fills in or shifts the time of day.",
        ('Declare grain = "day" if the time does not count.', "Refuse strings without a time where it counts."),
    ),
    "separators": Cause(
        "the same digits, the decimal mark elsewhere",
        "One parser takes a comma or point as the decimal mark, the other as a mark between groups of digits.",
        (
            "Set the same decimal and grouping marks in both parsers, those that the documents use.",
            "Ask the model for plain numbers without grouping marks.",
        ),
    ),
    "scale": Cause(
        "one is a power of ten times the other",
        "One parser applies a percent sign, a word such as thousand, or a smaller unit (cents); the other does not.",
        ("Read percent signs and multipliers in both parsers, or refuse them.", "Ask the model for plain numbers."),
    ),
    "currency": Cause(
        "the currency differs",
        "One parser drops or assumes a currency that the other takes from the string.",
        ("Read the currency from the string in both parsers.", 'Declare currency = "ignored" if it does not count.'),
    ),
    "sign": Cause(
        "the sign differs",
        "Parentheses, a trailing minus or a Unicode minus mean a negative number to one parser only.",
        ("Handle every way of writing a negative number, or refuse it.", _CANONICAL),
    ),
    "zero": Cause(
        "one of them reads zero",
        "One parser returns zero for what it cannot read.",
        ("Make that parser refuse what it cannot read.", _CANONICAL),
    ),
    "unit": Cause(
        "the unit differs",
        "One parser ignores the unit in the string, or assumes another one.",
        ("Read the unit from the string in both parsers.", "Refuse quantities without a unit."),
    ),
    "rounding": Cause(
        "one of them rounds or drops the fraction",
        "One parser keeps fewer digits than the other.",
        (
            "Keep all digits, and round once where the value is used.",
            "Declare the coarser grain if the fraction does not count.",
        ),
    ),
    "precision": Cause(
        "digits lost in a long number",
        "One parser passes the number through binary floating point.",
        ("Use a decimal or integer type from end to end.",),
    ),
    "cut-off": Cause(
        "one of them stops reading early",
        "One parser takes the start of the string and ignores the rest.",
        ("Refuse strings that are not read to their end.", _CANONICAL),
    ),
    "case": Cause(
        "upper and lower case",
        "One parser folds the case that the other keeps.",
        ("Fold in both or in neither.", "Compare without case in the system that receives it."),
    ),
    "leading-zeros": Cause(
        "leading zeros kept or dropped",
        "One parser treats the identifier as a number.",
        ("Treat identifiers as text from end to end.",),
    ),
    "punctuation": Cause(
        "spaces or punctuation kept or dropped",
        "One parser strips characters that the other keeps.",
        ("Strip the same characters in both, or none.", _CANONICAL),
    ),
    "as-number": Cause(
        "text read as a number",
        "One parser treats the text as a number and writes it anew.",
        ("Treat identifiers as text from end to end.",),
    ),
    "accents": Cause(
        "accents kept or dropped",
        "One parser folds accents, or the two use different Unicode forms.",
        ("Normalise to one Unicode form (NFC) in both.",),
    ),
    "inverted": Cause(
        "true for one, false for the other",
        "One parser has a map of words; the other takes truth from something else, such as text that is not empty.",
        ("Use one explicit list of words for true and one for false, and refuse everything else.",),
    ),
    "kind": Cause(
        "values of different kinds",
        "The parsers return different types for one string.",
        ("Make both parsers return the type that the field declares.",),
    ),
    "other": Cause(
        "no simple relation between the values",
        "The parsers follow different rules for strings like these.",
        (
            "Compare the decodings of the witnesses with the documents, and correct the parser that is wrong.",
            _CANONICAL,
        ),
    ),
}
