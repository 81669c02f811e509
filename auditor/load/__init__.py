"""Completions and references from CSV, JSONL and Parquet, without loss: the table `pairs` in DuckDB.

`files` finds and examines the files; `layout` decides what their headers mean; `columnar` (CSV, Parquet), `unfold`
(JSON lines) and `completions` open each as a `Part`; `identity` proves that every case occurs once and makes the
manifest; `pairs` groups. `cases.load` runs them in this order.
"""

from auditor.load.cases import load
from auditor.load.loaded import Loaded

__all__ = ["Loaded", "load"]
