"""Places that move: packed, and sampled alike by every launch."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.audit.environments import Rows
from auditor.model.dependence import Answer
from auditor.model.environment import Environment
from auditor.probe import places as limits
from auditor.probe.changes import Changes, Moved
from auditor.probe.places import packed, sample

LAUNCHES = st.lists(st.sets(st.tuples(st.integers(0, 2), st.integers(0, 300))), min_size=1, max_size=4)


def launched(moved: set[tuple[int, int]]) -> Changes:
    changes = Changes(capped=True)
    for chunk in sorted({chunk for chunk, _ in moved}, reverse=True):
        found = [(at, Answer("v", str(at), str(at))) for one, at in sorted(moved) if one == chunk]
        changes.add("day", chunk, found)
    return changes


@given(LAUNCHES)
def test_every_launch_keeps_the_answers_of_all_that_is_isolated(launches: list[set[tuple[int, int]]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "MOST_ISOLATED", 7)
        moved = Moved()
        for number, one in enumerate(launches):
            moved.add(Environment(name=f"everything {number}"), launched(one), is_repeat=False)
        every = {("day", *place) for one in launches for place in one}
        assert set(moved.places.of("day")) == every
        isolated = sample(moved.places).get("day", [])
        assert len(isolated) == min(7, len(every))
        assert set(isolated) <= every
        for number, one in enumerate(launches):
            _, answers = moved.launches[f"everything {number}"]
            assert len(answers) <= 7
            for place in isolated:
                assert (place in answers) is (place[1:] in one)


def test_what_is_isolated_lies_evenly_over_the_data_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_ISOLATED", 1000)
    taken = sample(packed(("day", 0, at) for at in range(10_000)))["day"]
    for tenth in range(10):
        assert 90 <= sum(tenth * 1000 <= at < (tenth + 1) * 1000 for _, _, at in taken) <= 110


@given(st.sets(st.tuples(st.sampled_from("ab"), st.integers(0, 2), st.integers(0, 30))))
def test_packed_places_are_those_that_were_packed(places: set[tuple[str, int, int]]) -> None:
    found = packed(places)
    assert {place for name in found.fields for place in found.of(name)} == places
    for name in "ab":
        for chunk in range(3):
            for at in range(31):
                assert ((name, chunk, at) in found) is ((name, chunk, at) in places)


@given(st.lists(st.none() | st.integers(0, 9)))
def test_packed_rows_are_those_that_each_string_answers(asked: list[int | None]) -> None:
    rows = Rows.of(10, asked)
    for string in range(10):
        assert list(rows[string]) == [row for row, one in enumerate(asked) if one == string]
