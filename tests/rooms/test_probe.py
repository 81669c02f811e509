"""The environments of the probes, and what is read out of two answers."""

from __future__ import annotations

import random
from datetime import datetime
from itertools import combinations, pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.model.decoding import Decodings, Fault
from auditor.model.dependence import Answer
from auditor.model.environment import FACTORS, Environment
from auditor.probe.components import moving_components
from auditor.probe.environments import course_of
from auditor.probe.questions import differences
from auditor.probe.zones import ZONES, zones_for
from auditor.spec.models import FieldSpec

BASE = Environment()
DAY = FieldSpec(name="day", type="date")


def test_phase_one_changes_every_factor_in_every_launch_but_those_that_only_one_needs() -> None:
    for environment in course_of(BASE, {}, "full").everything:
        assert set(environment.differs_in(BASE)) >= {"clock", "zone", "locale", "hash_seed", "order"}
    changed = {factor for one in course_of(BASE, {}, "full").everything for factor in one.differs_in(BASE)}
    assert changed == set(FACTORS)


def test_a_single_factor_launch_changes_that_factor_alone() -> None:
    for factor, environments in course_of(BASE, {}, "full").singles.items():
        for environment in environments:
            assert environment.differs_in(BASE) == (factor,)


def test_names_of_environments_are_distinct() -> None:
    course = course_of(BASE, {}, "full")
    environments = [
        *course.everything,
        *course.repeats,
        *course.rest,
        *(e for some in course.singles.values() for e in some),
    ]
    assert len({one.name for one in environments}) == len(environments)


@pytest.mark.parametrize(
    ("env", "pinned"),
    [
        ({"TZ": "UTC"}, {"zone"}),
        ({"LC_NUMERIC": "de_DE.UTF-8"}, {"locale"}),
        ({"LANG": "C"}, {"locale"}),
        ({"PYTHONHASHSEED": "0"}, {"hash_seed"}),
        ({"HOME": "/x"}, set()),
    ],
)
def test_what_the_consumer_pins_is_never_varied(env: dict[str, str], pinned: set[str]) -> None:
    course = course_of(BASE, env, "full")
    assert set(course.pinned) == pinned
    launched = [*course.everything, *course.rest, *(one for some in course.singles.values() for one in some)]
    assert not any(set(one.differs_in(BASE)) & pinned for one in launched)


def test_of_a_service_nothing_is_varied_but_the_order() -> None:
    course = course_of(BASE, {}, "full", is_service=True)
    assert {factor for factor, environments in course.singles.items() if environments} == {"order"}
    assert {one.differs_in(BASE) for one in course.everything} == {("order",)}
    assert set(course.pinned) == {"clock", "zone", "locale", "hash_seed", "network", "elsewhere"}
    assert not course.attributes


def test_the_first_two_zones_never_share_a_calendar_day() -> None:
    for instant in (951804367, 1709888707, 1945968307):
        days = {datetime.fromtimestamp(instant, ZoneInfo(zone)).date() for zone in ZONES[:2]}
        assert len(days) == 2


def test_zones_that_the_strings_abbreviate_are_among_those_tried() -> None:
    assert "America/Los_Angeles" in zones_for(['"2016-05-08 03:10:20 PST"'])
    assert zones_for(['"2016-05-08"']) == ZONES


@given(st.integers(0, 200), st.sampled_from(["given", "reversed", "shuffled-1", "shuffled-3"]))
def test_an_order_is_a_permutation_and_the_same_every_time(count: int, order: str) -> None:
    environment = Environment(order=order)
    assert sorted(environment.ordered(count)) == list(range(count))
    assert list(environment.ordered(count)) == list(environment.ordered(count))


@pytest.mark.parametrize("count", [10_001, 20_000, 100_003])
def test_the_shuffles_of_many_strings_bring_any_three_into_every_order_as_often(count: int) -> None:
    places = []
    for number in (1, 2, 3):
        order = Environment(order=f"shuffled-{number}").ordered(count)
        assert sorted(order) == list(range(count))
        place = [0] * count
        for at, position in enumerate(order):
            place[position] = at
        places.append(place)
    drawn = random.Random(1)
    near = [sorted(drawn.sample(range(start, start + 40), 3)) for start in range(0, count - 40, 7)]
    far = [sorted(drawn.sample(range(count), 3)) for _ in range(3000)]
    for triples in (near, far):
        missed = sum(
            all(place[middle] < max(place[low], place[high]) for place in places) for low, middle, high in triples
        )
        assert missed / len(triples) == pytest.approx((2 / 3) ** 3, abs=0.05)  # what three random orders miss


@pytest.mark.parametrize("count", [10_001, 100_003])
def test_no_two_strings_are_next_to_each_other_in_two_shuffles(count: int) -> None:
    pairs = []
    for number in (1, 2, 3):
        order = list(Environment(order=f"shuffled-{number}").ordered(count))
        pairs.append({frozenset(pair) for pair in pairwise(order)})
    assert max(len(one & other) for one, other in combinations(pairs, 2)) <= 3


def decoded(*texts: str | None, status: str = "rejected") -> Decodings:
    faults = {at: Fault(status, "no") for at, text in enumerate(texts) if text is None}  # type: ignore[arg-type]
    return Decodings(list(texts), faults)


def test_a_difference_below_the_grain_is_none() -> None:
    base = decoded("datetime:2024-03-01T00:00:00", "date:2024-03-01")
    assert differences(DAY, base, decoded("datetime:2024-03-01T09:05:07", "date:2024-03-01")) == {}
    assert set(differences(DAY, base, decoded("datetime:2024-03-02T00:00:00", "date:2024-03-01"))) == {0}


def test_a_flip_of_acceptance_is_a_difference_and_another_error_is_none() -> None:
    base = Decodings([None, "date:2024-03-01"], {0: Fault("rejected", "one error")})
    other = Decodings([None, None], {0: Fault("rejected", "another"), 1: Fault("rejected", "no")})
    assert set(differences(DAY, base, other)) == {1}


def test_a_string_that_took_too_long_says_nothing() -> None:
    base = decoded("date:2024-03-01")
    assert differences(DAY, base, decoded(None, status="timed_out")) == {}


@pytest.mark.parametrize(
    ("texts", "components"),
    [
        (["date:2024-03-08", "date:2024-03-29", "date:2024-03-31"], ("day",)),
        (["date:2024-05-10", "date:2000-02-10"], ("year", "month")),
        (["date:1959-01-02", "date:2059-01-02"], ("century",)),
        (["datetime:2024-03-01T09:05:07", "datetime:2024-03-01T06:06:07"], ("time",)),
        (["datetime:2024-03-01T00:00:00-05:00", "datetime:2024-03-01T00:00:00"], ("offset",)),
        (["decimal:1.5", "decimal:15"], ("value",)),
        (["date:2024-02-29", None], ("acceptance",)),
    ],
)
def test_the_part_that_moves_is_named(texts: list[str | None], components: tuple[str, ...]) -> None:
    answers = [Answer("r") if text is None else Answer("v", text, text) for text in texts]
    assert moving_components(answers) == components
