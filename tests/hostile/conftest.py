"""The parsers here are for workers: importing them for doctests would end the test run."""

collect_ignore_glob = ["parsers/*"]
