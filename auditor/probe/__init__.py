"""Decode again in other circumstances; what changed, and what changed it?

`phase_one` starts each consumer in a few environments in which everything differs at once and asks it for all distinct
strings; where nothing moves it is done. `Isolation` takes the strings that moved, looks for noise first, and then
varies one factor at a time. What a probe could not vary is said, never taken for clean. `neighbours` gives a consumer
of batches the same rows alone, with other rows and in other orders; `injected` holds the other rows.
"""

from auditor.probe.environments import LEVELS, Level
from auditor.probe.questions import Question

__all__ = ["LEVELS", "Level", "Question"]
