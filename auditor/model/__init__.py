"""The nouns: frozen, without I/O. Import each from its file; this page only names them.

`verdicts` the typed outcomes and their letters; `decoding` what a parser made of one raw value; `environment` what a
decoding may depend on; `run` columns, findings and the run that reports render.
"""
