"""Decode again in other circumstances; what changed, and what changed it?

`neighbours` gives a consumer of batches the same rows alone, with other rows and in other orders; `injected` holds the
other rows.
"""
