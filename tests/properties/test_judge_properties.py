"""Two roads to one key: SQL and Python must agree on every value, and keys must respect what types mean."""

from __future__ import annotations

import json
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal

import duckdb
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from auditor.judge.keys import KEY_OF_TYPE, fast_key_sql, grain_key
from auditor.judge.shapes import shape_of
from auditor.judge.typed import fast_typed_sql, read_typed
from auditor.spec.models import FieldSpec

CONNECTION = duckdb.connect()

NUMBERS = st.one_of(
    st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**6), max_value=10**6).map(str),
    st.integers().map(str),
    st.from_regex(r"\A-?[0-9]{1,25}(\.[0-9]{0,25})?\Z"),
    st.sampled_from(["0", "-0", "0.00", "-0.00", "007.50", "1e3", "1E-7", "NaN", "Infinity", "", "12.", ".5", "+1"]),
)
TAGGED = st.one_of(
    st.builds("{}:{}".format, st.sampled_from(["decimal", "int", "money", "quantity"]), NUMBERS),
    st.builds("money:{} {}".format, NUMBERS, st.sampled_from(["EUR", "USD", "eur", "€", "E R"])),
    st.builds("quantity:{} {}".format, NUMBERS, st.sampled_from(["g", "kg"])),
    st.dates().map("date:{}".format),
    st.datetimes().map(lambda moment: f"datetime:{moment.isoformat()}"),
    st.sampled_from(
        ["bool:true", "bool:false", "bool:True", "date:2024-02-30", "time:12:30:00", "text:", "date:24-03-01"]
    ),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8).map("text:{}".format),
)
FIELDS = st.builds(
    FieldSpec,
    name=st.just("x"),
    type=st.sampled_from(sorted(KEY_OF_TYPE)),
    currency=st.sampled_from([None, "compared", "ignored"]),
)
GRAINED = st.builds(
    FieldSpec,
    name=st.just("x"),
    type=st.sampled_from(["decimal", "money", "integer"]),
    grain=st.sampled_from(["0.01", "0.010", "1", "10", "0.05", "3", "0.001"]),
    rounding=st.sampled_from(["half_up", "half_even", "down"]),
    currency=st.sampled_from([None, "ignored"]),
)


def sql_value(expression: str, value: str) -> str | None:
    return CONNECTION.execute(f"SELECT {expression} FROM (SELECT $v::VARCHAR AS v)", {"v": value}).fetchall()[0][0]


@settings(max_examples=600, deadline=None)
@given(field=st.one_of(FIELDS, GRAINED), tagged=TAGGED)
@example(field=FieldSpec(name="x", type="integer"), tagged=f"int:{'1' * 20_000}")
@example(field=FieldSpec(name="x", type="decimal"), tagged=f"decimal:1.{'0' * 20_000}")
@example(field=FieldSpec(name="x", type="money"), tagged=f"money:1.{'0' * 20_000} EUR")
def test_the_key_in_sql_is_the_key_in_python(field: FieldSpec, tagged: str) -> None:
    """Where SQL answers at all, the judge gives the same key."""
    fast = sql_value(fast_key_sql(field, "v"), tagged)
    assert fast is None or fast == grain_key(field, tagged)


@settings(max_examples=600, deadline=None)
@given(field=FIELDS, content=st.one_of(NUMBERS, TAGGED.map(lambda t: t.partition(":")[2])), quoted=st.booleans())
def test_a_typed_reference_in_sql_is_the_one_in_python(field: FieldSpec, content: str, quoted: bool) -> None:
    """Where SQL reads a canonical reference, the typed reader reads the same value."""
    token = f'"{content}"' if quoted and '"' not in content and "\\" not in content else content or "null"
    if token.startswith('"') and any(mark < " " for mark in token):
        return
    fast = sql_value(fast_typed_sql(field, "v"), token)
    if fast is not None and grain_key(field, fast) is not None:
        assert read_typed(field, token) == (fast, None)


@settings(max_examples=300, deadline=None)
@given(
    number=st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.decimals("-1e50", "1e50")),
    kind=st.sampled_from(["decimal", "money", "quantity"]),
)
def test_every_json_number_is_a_typed_reference(number: float | Decimal, kind: str) -> None:
    """However a writer spells a number, the typed reader gives the number itself."""
    token = json.dumps(number) if isinstance(number, float) else f"{number:e}"
    text, error = read_typed(FieldSpec(name="x", type=kind), token)
    assert error is None
    assert text is not None
    assert Decimal(text.removeprefix("decimal:")) == Decimal(token)
    assert sql_value(fast_typed_sql(FieldSpec(name="x", type=kind), "v"), token) in (None, text)


@pytest.mark.parametrize(
    ("rounding", "mode"), [("half_up", ROUND_HALF_UP), ("half_even", ROUND_HALF_EVEN), ("down", ROUND_DOWN)]
)
@settings(max_examples=200, deadline=None)
@given(value=st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=6))
def test_rounding_to_a_grain_is_decimal_quantize(rounding: str, mode: str, value: Decimal) -> None:
    """The standard library's own rounding is the reference."""
    field = FieldSpec(name="x", type="decimal", grain="0.01", rounding=rounding)
    key = grain_key(field, f"decimal:{value}")
    assert key is not None
    assert Decimal(key) == value.quantize(Decimal("0.01"), rounding=mode)


@settings(max_examples=200, deadline=None)
@given(left=TAGGED, right=TAGGED)
def test_values_of_two_types_are_never_equal_by_accident(left: str, right: str) -> None:
    """True is not 1, text "1" is not 1, an aware moment is not a naive one."""
    for kind in ("category", "identifier", "boolean"):
        field = FieldSpec(name="x", type=kind)
        keys = grain_key(field, left), grain_key(field, right)
        if None not in keys and left.partition(":")[0] != right.partition(":")[0]:
            assert keys[0] != keys[1]


@settings(max_examples=300, deadline=None)
@given(token=st.text(st.characters(exclude_categories=["Cs"]), max_size=100).filter(bool), field=FIELDS)
def test_every_text_has_a_shape_that_is_short(token: str, field: FieldSpec) -> None:
    """A shape is never longer than what it abbreviates by more than its fixed words."""
    assert 0 < len(shape_of(field, json.dumps(token, ensure_ascii=False))) <= 80
