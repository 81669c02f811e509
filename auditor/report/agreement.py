"""How far the values of a column agree with the references, as reports say it; nothing where no spec asked for it."""

from __future__ import annotations

from typing import Final

from auditor.model.agreement import Agreement
from auditor.model.figures import NO_RATE, plural
from auditor.model.run import Column, Run

#: Types whose agreement is that of categories; of others it is that of numbers.
_NOMINAL: Final = ("boolean", "category")

_NAMES: Final = {"accuracy": "accuracy", "kappa": "kappa", "mae": "mean absolute error", "spearman": "Spearman"}


def agreement_text(run: Run, column: Column) -> str:
    """Say it in a line: ``accuracy 0.912, kappa 0.803 over 234 pairs``."""
    if column.agreement is None:
        return ""
    kind = next((one.type for one in run.fields if one.field == column.field), "")
    names = ("accuracy", "kappa") if kind in _NOMINAL else ("mae", "spearman")
    listed = ", ".join(f"{_NAMES[name]} {_figure(column.agreement, name)}" for name in names)
    return f"{listed} over {plural(column.agreement.n, 'pair')}"


def agreement_rows(columns: tuple[Column, ...]) -> list[tuple[str, list[str]]]:
    """Give a row per figure, so that columns stand side by side; none where no column has any."""
    found = [column.agreement for column in columns]
    if not any(found):
        return []
    rows = [("agreement: pairs", [NO_RATE if one is None else f"{one.n:,}" for one in found])]
    rows += [(f"agreement: {said}", [_figure(one, name) for one in found]) for name, said in _NAMES.items()]
    return [(name, cells) for name, cells in rows if set(cells) != {NO_RATE}]


def _figure(found: Agreement | None, name: str) -> str:
    figure = None if found is None else getattr(found, name)
    return NO_RATE if figure is None else f"{figure:.3f}"
