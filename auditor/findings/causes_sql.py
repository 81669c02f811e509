"""How two decodings of one string differ, in SQL over `differences.py`; each answer is a word of `causes.CAUSES`.

A row has the tags `l_tag`, `r_tag` and contents `l_text`, `r_text` of two decodings of one `token`.
"""

from __future__ import annotations

from auditor.spec.models import FieldType

_ZONE = r"'(Z|[+-][0-9:.]+)$'"


def _both(expression: str) -> str:
    """Write an expression for the left and for the right decoding; `@` stands for l or r."""
    return ", ".join(expression.replace("@", side) for side in "lr")


#: What a string states of a date, without its time of day: numbers, of which a long one is a whole date, and a word
#: that may name a month.
_WITHOUT_TIME = r"regexp_replace(lower(token), '[0-9]{1,2}:[0-9]{2}(:[0-9]{2})?([.,][0-9]+)?', '', 'g')"
_NO_MONTH = (
    r"'\b(mon(day)?|tues?(day)?|wed(nesday)?|thu(rs?)?(day)?|fri(day)?|sat(urday)?|sun(day)?"
    r"|today|now|of|the|in|utc|gmt|am|pm)\b|([0-9])(st|nd|rd|th)\b'"
)
_STATED = (
    rf"CASE WHEN regexp_matches(token, '[0-9]{{6}}') THEN 3 ELSE len(regexp_extract_all({_WITHOUT_TIME}, '[0-9]+'))"
    rf" + regexp_matches(regexp_replace({_WITHOUT_TIME}, {_NO_MONTH}, '\9', 'g'), '\pL')::INTEGER END"
)

_DATE_PARTS = ", ".join(
    [
        _both("substr(@_text, 1, 10) AS @_date"),
        _both("try_cast(substr(@_text, 1, 4) AS INTEGER) AS @_year"),
        _both("try_cast(substr(@_text, 6, 2) AS INTEGER) AS @_month"),
        _both("try_cast(substr(@_text, 9, 2) AS INTEGER) AS @_day"),
        _both(f"regexp_replace(substr(@_text, 11), {_ZONE}, '') AS @_clock"),
        _both(f"regexp_matches(substr(@_text, 11), {_ZONE}) AS @_aware"),
        f"{_STATED} AS stated",
    ]
)

_SAME_PARTS = "list_sort([l_year % 100, l_month, l_day]) = list_sort([r_year % 100, r_month, r_day])"

_ISO = r"""regexp_matches(token, '^"\s*[0-9]{4}-[0-9]{2}-[0-9]{2}')"""

_DATE_WORD = f"""CASE
    WHEN l_tag NOT IN ('date', 'datetime') OR r_tag NOT IN ('date', 'datetime') THEN 'kind'
    WHEN l_date = r_date AND l_clock = r_clock THEN 'zone'
    WHEN l_date = r_date THEN 'time'
    WHEN l_aware AND r_aware AND try_cast(l_text AS TIMESTAMPTZ) = try_cast(r_text AS TIMESTAMPTZ) THEN 'zone'
    WHEN stated < 3 AND l_date <> r_date THEN 'filled-in'
    WHEN abs(date_diff('day', try_cast(l_date AS DATE), try_cast(r_date AS DATE))) = 1
        AND (l_aware OR r_aware OR regexp_matches(token, '[0-9]:[0-9][0-9]') AND (l_clock <> r_clock OR l_clock = ''))
        THEN 'zone'
    WHEN l_year = r_year AND l_month = r_day AND l_day = r_month
        THEN CASE WHEN {_ISO} THEN 'iso-order' ELSE 'day-month' END
    WHEN least(l_year, r_year) < 100 AND greatest(l_year, r_year) >= 100 AND {_SAME_PARTS} THEN 'part-order'
    WHEN l_month = r_month AND l_day = r_day AND abs(l_year - r_year) % 100 = 0 THEN 'century'
    WHEN l_month = r_month AND l_day = r_day THEN 'year'
    WHEN l_year = r_year AND l_month = r_month THEN 'day'
    WHEN l_year = r_year AND l_day = r_day THEN 'month'
    WHEN {_SAME_PARTS} THEN 'part-order'
    ELSE 'other' END"""

#: What may stand between the digits of one number.
MARK = "[.,·٬٫_ \u00a0\u2009\u202f''’]"

_MULTIPLIER = r"'%|[0-9]\s*(per ?cent|k|m|mm|mn|mio|bn|b|thousand|million|billion|lakh|crore)\b'"

_NUMBER_PARTS = ", ".join(
    [
        _both("try_cast(split_part(@_text, ' ', 1) AS DOUBLE) AS @_number"),
        _both("substr(@_text, length(split_part(@_text, ' ', 1)) + 2) AS @_unit"),
        _both("regexp_replace(split_part(@_text, ' ', 1), '\\.0+$', '') AS @_short"),
        _both("ltrim(regexp_replace(@_short, '[^0-9]', '', 'g'), '0') AS @_digits"),
        f"regexp_matches(token, '[0-9]{MARK}[0-9]') AS has_mark",
        f"regexp_extract(token, '([0-9]+)({MARK})[0-9]', ['start', 'mark']) AS gap",
        f"regexp_matches(token, '[0-9]{MARK}[0-9]+{MARK}[0-9]') AS has_marks",
        f"regexp_matches(lower(token), {_MULTIPLIER}) AS has_multiplier",
    ]
)

#: How many times larger the larger number is; NULL beside a zero.
_RATIO = "greatest(abs(l_number), abs(r_number)) / nullif(least(abs(l_number), abs(r_number)), 0) AS ratio"

_POWER = "abs(ratio / pow(10, round(log10(ratio))) - 1) < 1e-9 AND round(log10(ratio)) BETWEEN 1 AND 12"

#: The smaller number is what stands before the first mark, and its mark or its text say that it is all that was read.
_STOPPED = (
    "has_mark AND least(abs(l_number), abs(r_number)) = try_cast(gap['start'] AS DOUBLE)"
    " AND (gap['mark'] NOT IN ('.', ',') OR has_marks OR NOT contains(CASE WHEN abs(l_number) < abs(r_number)"
    " THEN l_text ELSE r_text END, '.'))"
)

#: The same digits with the mark elsewhere; zeros at the end may be of the fraction.
_SAME_DIGITS = "has_mark AND NOT has_multiplier AND rtrim(l_digits, '0') = rtrim(r_digits, '0')"

#: Factors between units that a parser may take one for the other: pounds, ounces, inches, feet, miles, hours.
_UNIT_FACTORS = (453.59237, 2.2046226, 28.349523125, 2.54, 25.4, 30.48, 3.2808399, 1.609344, 16, 12, 60, 3600, 24)

_UNIT_FACTOR = " OR ".join(f"abs(ratio / {factor} - 1) < 1e-4" for factor in _UNIT_FACTORS)


def _rounds_to(rounded: str, exact: str) -> str:
    steps = ", ".join(f"round({exact}, {digits})" for digits in range(5))
    return f"{rounded} IN (floor({exact}), ceil({exact}), {steps})"


_DISTANCE = "abs(l_number - r_number)"

#: One is the other rounded, or both are whole numbers beside a fraction in the string.
_ROUNDED = (
    f"({_DISTANCE} < 1 AND ({_rounds_to('l_number', 'r_number')} OR {_rounds_to('r_number', 'l_number')})"
    f" OR {_DISTANCE} <= 1 AND has_mark AND l_text NOT LIKE '%.%' AND r_text NOT LIKE '%.%')"
)


def _number_word(unit_word: str) -> str:
    return f"""CASE
    WHEN l_number IS NULL OR r_number IS NULL THEN 'kind'
    WHEN l_number = r_number THEN CASE WHEN l_unit <> r_unit THEN '{unit_word}' ELSE 'precision' END
    WHEN l_unit <> '' AND r_unit <> '' AND l_unit <> r_unit THEN '{unit_word}'
    WHEN l_number = -r_number THEN 'sign'
    WHEN ratio IS NULL AND NOT ({_ROUNDED}) THEN CASE WHEN {_STOPPED} THEN 'cut-off' ELSE 'zero' END
    WHEN '{unit_word}' = 'unit' AND ({_UNIT_FACTOR} OR {_POWER} AND NOT has_mark) THEN 'unit'
    WHEN {_ROUNDED} THEN 'rounding'
    WHEN {_STOPPED} THEN 'cut-off'
    WHEN {_POWER} AND sign(l_number) = sign(r_number) THEN CASE WHEN {_SAME_DIGITS} THEN 'separators' ELSE 'scale' END
    WHEN starts_with(l_digits, r_digits) OR starts_with(r_digits, l_digits) THEN 'cut-off'
    ELSE 'other' END"""


_TEXT_PARTS = ", ".join(
    [
        _both("lower(@_text) AS @_lower"),
        _both(r"regexp_replace(lower(@_text), '[^\pL\pN]', '', 'g') AS @_letters"),
        _both("try_cast(@_text AS DOUBLE) AS @_number"),
    ]
)

_TEXT_WORD = """CASE
    WHEN l_tag <> r_tag AND 'bool' IN (l_tag, r_tag) THEN 'kind'
    WHEN l_lower = r_lower AND l_text <> r_text THEN 'case'
    WHEN ltrim(l_lower, '0') = ltrim(r_lower, '0') AND l_lower <> r_lower THEN 'leading-zeros'
    WHEN l_letters <> '' AND l_letters = r_letters AND l_lower <> r_lower THEN 'punctuation'
    WHEN l_number = r_number AND l_text <> r_text THEN 'as-number'
    WHEN l_text = r_text THEN 'kind'
    WHEN strip_accents(l_lower) = strip_accents(r_lower) THEN 'accents'
    WHEN l_text <> '' AND r_text <> '' AND (starts_with(l_text, r_text) OR starts_with(r_text, l_text)) THEN 'cut-off'
    ELSE 'other' END"""

_FAMILY: dict[FieldType, tuple[str, str]] = {
    "date": (_DATE_PARTS, _DATE_WORD),
    "datetime": (_DATE_PARTS, _DATE_WORD),
    "money": (_NUMBER_PARTS, _number_word("currency")),
    "quantity": (_NUMBER_PARTS, _number_word("unit")),
    "decimal": (_NUMBER_PARTS, _number_word("kind")),
    "integer": (_NUMBER_PARTS, _number_word("kind")),
    "ordinal": (_NUMBER_PARTS, _number_word("kind")),
    "boolean": ("1", "CASE WHEN l_tag = r_tag THEN 'inverted' ELSE 'kind' END"),
    "category": (_TEXT_PARTS, _TEXT_WORD),
    "identifier": (_TEXT_PARTS, _TEXT_WORD),
}


def factor_of(pairs: str) -> str:
    """Write the query that gives (unit, factor) for pairs of numbers of which one is a power of ten times the other."""
    split = f"SELECT *, {_RATIO} FROM (SELECT *, {_NUMBER_PARTS} FROM ({pairs}))"
    return f"SELECT unit, token, pow(10, round(log10(ratio)))::BIGINT AS factor FROM ({split})"


def words_of(field_type: FieldType, pairs: str) -> str:
    """Write the query that gives (unit, l, r, word) for the rows of a query of pairs."""
    parts, word = _FAMILY[field_type]
    split = f"SELECT *, {parts} FROM ({pairs})"
    if parts is _NUMBER_PARTS:
        split = f"SELECT *, {_RATIO} FROM ({split})"
    return f"SELECT unit, l, r, {word} AS word FROM ({split})"
