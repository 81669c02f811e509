"""Agreement of predictions with references, by the type of the field: what people report of judges.

Reads ``judged`` and ``outcomes``. A pair is a case that the consumer reads on both sides; values are those at the
field's grain, as equality has them. Pairs are counted before they are fetched, so that a million cases are a few
distinct ones. scikit-learn and SciPy take seconds to import, and only a spec that asks for them needs them.
"""

from __future__ import annotations

import importlib.util
import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from duckdb import DuckDBPyConnection

from auditor.errors import AuditorError
from auditor.model.agreement import Agreement
from auditor.model.run import Column
from auditor.score.columns import where_sql
from auditor.score.verdict_table import number_of
from auditor.spec.models import AuditSpec

NOMINAL: Final = ("boolean", "category")
NUMERIC: Final = ("ordinal", "integer", "decimal")

#: More categories than this make a matrix that no memory holds: they have no kappa.
MOST_CATEGORIES: Final = 2_000

#: A pair of values, and the number of cases that have it.
_Pairs = Sequence[tuple[Any, Any, int]]


def require_agreement(spec: AuditSpec) -> None:
    """Refuse to begin an audit that asks for agreement where what computes it is not installed."""
    missing = [name for name in ("sklearn", "scipy") if importlib.util.find_spec(name) is None]
    if spec.cases.agreement and missing:
        raise AuditorError(
            f"{spec.file.name}: [cases] agreement: {' and '.join(missing)} cannot be imported\n"
            "  cause: scikit-learn and SciPy compute it, and are not part of a plain installation\n"
            "  next:  pip install 'fidelity-auditor[agreement]', in the auditor's own environment"
        )


def with_agreement(
    connection: DuckDBPyConnection,
    spec: AuditSpec,
    columns: Iterable[Column],
    readers: Mapping[str, Sequence[str]],
    index: Mapping[str, int],
) -> tuple[Column, ...]:
    """Give the columns with their agreement, where the spec asks for it; it is withheld with the rates."""
    found = []
    for column in columns:
        kind = spec.fields[column.field].type
        if spec.cases.agreement and kind in NOMINAL + NUMERIC and not _is_withheld(column):
            pairs = _pairs(connection, spec, column, readers, index)
            column = replace(column, agreement=_nominal(pairs) if kind in NOMINAL else _numeric(pairs))
        found.append(column)
    return tuple(found)


def _is_withheld(column: Column) -> bool:
    return column.judged > 0 and column.content_rate is None


def _pairs(
    connection: DuckDBPyConnection,
    spec: AuditSpec,
    column: Column,
    readers: Mapping[str, Sequence[str]],
    index: Mapping[str, int],
) -> _Pairs:
    """Count the cases of a column by the values of prediction and reference."""
    field = spec.fields[column.field]
    position = list(readers[column.field]).index(column.consumer) + 1
    given, asserted = f"u.k{index[column.consumer]}", f"t.k{number_of(field.decoder_for(column.consumer), index)}"
    chosen = where_sql(split=None if column.split == "all" else column.split, arm=column.arm)
    return connection.execute(
        f"SELECT {given}, {asserted}, sum(j.n)::BIGINT FROM (FROM judged {chosen}) j "
        "JOIN outcomes u ON u.unit = j.p_unit JOIN outcomes t ON t.unit = j.r_unit "
        f"WHERE j.field = $field AND substr(j.pattern, {position}, 1) IN ('o', 'w') GROUP BY ALL ORDER BY ALL",
        {"field": column.field},
    ).fetchall()


def _nominal(pairs: _Pairs) -> Agreement:
    """Give accuracy and Cohen's kappa."""
    if not pairs:
        return Agreement(0)
    from sklearn.metrics import accuracy_score, cohen_kappa_score

    given, asserted, counts = zip(*pairs, strict=True)
    categories = {category: number for number, category in enumerate(sorted({*given, *asserted}))}
    sides = [[categories[value] for value in side] for side in (given, asserted)]
    kappa = None
    if 1 < len(categories) <= MOST_CATEGORIES:
        kappa = _defined(lambda: cohen_kappa_score(*sides, sample_weight=counts))
    accuracy = _defined(lambda: accuracy_score(*sides, sample_weight=counts))
    return Agreement(sum(counts), accuracy=accuracy, kappa=kappa)


def _numeric(pairs: _Pairs) -> Agreement:
    """Give the mean absolute error and Spearman's rank correlation.

    Values are exact: floats would take neighbours beyond 2^53 for one number. The error is rounded once, at the end,
    and ranks are of the values' order.
    """
    if not pairs:
        return Agreement(0)
    import numpy
    from scipy.stats import spearmanr

    exact = [(Fraction(given), Fraction(asserted), n) for given, asserted, n in pairs]
    count = sum(n for *_, n in exact)
    mae = _defined(lambda: sum((abs(one - other) * n for one, other, n in exact), Fraction()) / count)
    given, asserted, counts = zip(*exact, strict=True)
    spearman = None
    if len({*given}) > 1 and len({*asserted}) > 1:  # one value has no ranks
        sides = [numpy.repeat(_places(side), counts) for side in (given, asserted)]
        spearman = _defined(lambda: spearmanr(*sides).statistic)
    return Agreement(count, mae=mae, spearman=spearman)


def _places(values: Sequence[Fraction]) -> list[int]:
    """Give the place of each value in their order, the same for the same value."""
    places = {value: place for place, value in enumerate(sorted(set(values)))}
    return [places[value] for value in values]


def _defined(compute: Callable[[], Any]) -> float | None:
    """Give a figure, None where it is undefined; that a library warns of it is no news."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            figure = float(compute())
        except OverflowError:  # an exact figure beyond any float
            return None
    return figure if math.isfinite(figure) else None
