"""How far a consumer's values agree with the references, beside how often they are equal."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Agreement:
    """What suits the type of a field, over `n` pairs of a prediction and a reference that both have a value.

    Accuracy and Cohen's kappa are of booleans and categories, the mean absolute error and Spearman's rank correlation
    of ordinals, integers and decimals; the other two are None, and so is what is undefined: no pairs, one value only.

    >>> Agreement(2, accuracy=0.5, kappa=0.0).mae is None
    True
    """

    n: int
    accuracy: float | None = None
    kappa: float | None = None
    mae: float | None = None
    spearman: float | None = None
