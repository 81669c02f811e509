"""Runs at rest: a folder of Parquet files, the input files as they were, and a `run.json`.

`writing` writes a run aside and renames it whole; `reading` finds, lists and opens runs. A crash never leaves half a
run, and readers need no lock.
"""
