"""The stored runs over HTTP: pages for a team, an API for pipelines, figures for a monitor.

The folder of runs is the store: nothing else is kept but what was read of it. `records` reads a run as far as a
history needs it, `runs` notices what changes in the folder, `history` puts runs of one audit in a row, `access` says
who may ask, `jobs` audits what is submitted, `pages` and `api` answer.
"""
