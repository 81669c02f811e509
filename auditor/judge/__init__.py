"""Maps a decoding to a grain key: two values are equal iff their keys are.

`keys` the key of any field; `numbers`, `moments`, `texts` one file per family of types; `typed` the reader of
references that are already canonical; `shapes` the written shape of a raw value. All pure; SQL compares keys only.
"""
