"""A model run whole on one row, and the expression that discovery takes out of it, give the same in DuckDB."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.rooms.discovered_models import MODELS, differences, engine, model_in

STRINGS = [
    *("2024-03-01", "2024-3-1", " 2024-03-01 ", "01/03/2024", "March 1, 2024", "2024-02-30", "", "N/A", "x", "y"),
    *("12", "007", "-5", "1,234.50", "USD 1,234.50", "3.5", "yes", "No", "TRUE", "1", "it's", "\x1e", "١٢", "1e5"),
]


@pytest.mark.parametrize("name", MODELS)
def test_the_expression_reads_what_the_model_reads(tmp_path: Path, name: str) -> None:
    model = model_in(tmp_path, MODELS[name])
    assert differences(engine(), MODELS[name], model, STRINGS) == []
    assert bool(model.filters) == name.startswith("filter")


#: Expressions over one column, by which steps are made: calls, operators, postfix casts, conditions.
EXPRESSIONS = [
    *("trim({})", "{} || '1'", "{}::varchar", "lower({})", "coalesce({}, 'none')", "nullif({}, '1')"),
    *("case when {} = '1' then 'one' else {} end", "({})", "replace({}, '(', ')')", "{} -- as it is\n"),
    *("cast(length({}) - 1 as varchar)", "{} /* ) */", 'concat({}, \'"\', "{}")'.replace('"{}"', "{}")),
]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.sampled_from(EXPRESSIONS), min_size=1, max_size=5), last=st.sampled_from(["int", "varchar"]))
def test_steps_put_into_each_other_mean_the_same(tmp_path: Path, steps: list[str], last: str) -> None:
    ctes = [
        f"c{number} as (select {step.replace('{}', f'c{number - 1}')} as c{number} from {source})"
        for number, step in enumerate(steps, 1)
        for source in [f"c{number - 1}" if number > 1 else "(select d as c0 from raw.src)"]
    ]
    sql = f"with {', '.join(ctes)} select try_cast(c{len(steps)} as {last}) as x from c{len(steps)}"
    assert differences(engine(), sql, model_in(tmp_path, sql), ["1", "12", " 1 ", "", "a(b", "it's"]) == []
