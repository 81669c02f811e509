"""The contract of a field is what is in force, however it is written; every difference of it can change a verdict."""

from __future__ import annotations

from typing import Any

import pytest

from auditor.judge.keys import grain_key
from auditor.spec.contract import field_contract
from auditor.spec.models import FieldSpec

VALUES = {
    "date": ["date:2024-03-01", "date:2024-03-09", "datetime:2024-03-01T23:00:00"],
    "money": ["money:12.345 EUR", "money:12.345 USD", "decimal:12.35"],
    "integer": ["int:3", "int:14", "decimal:15"],
    "decimal": ["decimal:0.125", "decimal:0.135", "int:2"],
    "quantity": ["quantity:1.5 kg", "decimal:2.4", "int:1500"],
    "category": ["text:a", "int:1", "bool:true"],
}


def made(kind: str, **given: Any) -> FieldSpec:
    unit = {"unit": "g"} if kind == "quantity" else {}
    return FieldSpec(name="f", type=kind, **unit, **given)


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        ("date", {}, {"grain": "day"}),
        ("money", {}, {"currency": "compared"}),
        ("money", {"grain": "0.01"}, {"grain": "0.010"}),
        ("money", {}, {"rounding": "half_even"}),
        ("decimal", {"grain": "100"}, {"grain": "1E+2"}),
        ("integer", {}, {"grain": "1"}),
        ("quantity", {"grain": "1 g"}, {"grain": "1"}),
        ("category", {}, {"members": "text"}),
    ],
)
def test_two_ways_to_write_one_contract_are_one(kind: str, one: dict[str, str], other: dict[str, str]) -> None:
    left, right = made(kind, **one), made(kind, **other)
    for value in VALUES[kind]:
        assert grain_key(left, value) == grain_key(right, value)
    assert field_contract(left) == field_contract(right)


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        ("date", {}, {"grain": "month"}),
        ("money", {}, {"currency": "ignored"}),
        ("money", {"grain": "0.01"}, {"grain": "0.1"}),
        ("decimal", {"grain": "0.01"}, {"grain": "0.01", "rounding": "down"}),
        ("integer", {}, {"grain": "10"}),
        ("quantity", {"grain": "1 g"}, {"grain": "1000 g"}),
        ("category", {}, {"members": "integer"}),
    ],
)
def test_what_compares_otherwise_is_another_contract(kind: str, one: dict[str, str], other: dict[str, str]) -> None:
    left, right = made(kind, **one), made(kind, **other)
    assert any(grain_key(left, value) != grain_key(right, value) for value in VALUES[kind])
    assert field_contract(left) != field_contract(right)
