"""Reads a warehouse's own SQL and says, for each output column, which coercions a source column passes through.

It locates and quotes; nothing is run here, and no text is regenerated. What it proposes is a fragment of a spec.
"""

from auditor.discover.found import Discovery
from auditor.discover.search import DiscoverError, discover

__all__ = ["DiscoverError", "Discovery", "discover"]
