"""Builds the findings of a run from its outcome tables: set-based SQL, Python on the few grouped rows.

`find.py` lists the kinds of finding and puts them together; `context.py` says what they are made from; each other
file with a `find_...` function is one kind. `census.py` groups strings that fared alike, so that every question
after it is about a few groups; `complete.py` counts cases and picks the shortest witnesses for all findings at once.
"""

from auditor.findings.find import find, untrusted_by

__all__ = ["find", "untrusted_by"]
