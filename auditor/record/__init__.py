"""Writes the SQL with which a warehouse out of reach says what it makes of the strings of a data set.

`strings` are what it is asked; `dialects` say how each product writes them and its own texts; `attempts` how it tries a
row without losing the others; `script` puts it together. The result is read by the adapter `recorded`.
"""
