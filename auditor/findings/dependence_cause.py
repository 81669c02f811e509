"""Why a value moves: what its code tells, the line whose clock it is, and what the text of an SQL consumer hints at."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from auditor.findings.dependence_words import WORDS
from auditor.model.dependence import Mover, Site
from auditor.model.run import Location

#: Two digits of a year that the clock puts into a century are a cause of their own.
CENTURY = "century"

#: Lines that a cause names.
SITES = 3

#: Where the libraries of an interpreter lie; what comes before differs from machine to machine.
_LIBRARIES = re.compile(r".*/(?:site|dist)-packages/|.*/(?=lib/python3\.\d+/)")


def cause_of(mover: Mover) -> str:
    """Say why a string moves, as far as its code and what moves in it tell."""
    words = WORDS[mover.code]
    return words.century if kind_of(mover) == CENTURY else words.cause


def kind_of(mover: Mover) -> str:
    """Tell apart causes of one code."""
    return CENTURY if mover.components == (CENTURY,) else ""


def cause_text(movers: Sequence[Mover], hints: Sequence[str], folder: Path) -> str:
    """Say why strings of one kind move; `folder` is that of the spec."""
    said = [cause_of(movers[0])]
    sites = Counter(site_text(mover.site, folder) for mover in movers if mover.site is not None)
    candidates = Counter(site_text(site, folder) for mover in movers if mover.site is None for site in mover.candidates)
    if sites:
        places = ", ".join(place for place, _ in sites.most_common(SITES))
        said.append(f"Proven by changing the clock of this line alone: {places}.")
    elif candidates:
        places = ", ".join(place for place, _ in candidates.most_common(SITES))
        said.append(f"Candidate lines, which read the clock (one alone could not be changed here): {places}.")
    if hints:
        said.append(f"Its SQL hints at it: {'; '.join(hints)}.")
    return " ".join(said)


def site_text(site: Site, folder: Path) -> str:
    """Name a line that reads the clock: ``dateutil/parser/_parser.py:637 in parse``; a compiled library has none."""
    file = file_text(site.file, folder)
    place = f"{file}:{site.line} in {site.function}" if site.line else file
    return f"{place}, while importing" if site.at_import else place


def location_of(movers: Sequence[Mover], folder: Path) -> Location | None:
    """Give the line that most of the strings owe their value to, where one is proven."""
    sites = Counter((mover.site.file, mover.site.line) for mover in movers if mover.site is not None)
    if not sites:
        return None
    file, line = sites.most_common(1)[0][0]
    return Location(file_text(file, folder), line)


def file_text(file: str, folder: Path) -> str:
    """Write a file as it is named on every machine: from its library on, or from the spec's folder on.

    >>> file_text("/opt/venv/lib/python3.11/site-packages/dateutil/parser/_parser.py", Path("/srv"))
    'dateutil/parser/_parser.py'
    >>> file_text("/srv/billing/ingest.py", Path("/srv"))
    'billing/ingest.py'
    """
    if short := _LIBRARIES.sub("", file) if _LIBRARIES.match(file) else "":
        return short
    path = Path(file)
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else file
