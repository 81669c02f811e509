"""Verdicts → columns: `verdict_table` judges pairs in SQL, `columns` counts, `intervals` bounds the rates."""
