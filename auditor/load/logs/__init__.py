"""Replies from the logs of eval tools and batch services, each log chosen by what it holds or named in the spec.

`recognise` chooses; a module per format gives its `Reply` objects; `part` makes them a `Part` like that of any file.
"""
