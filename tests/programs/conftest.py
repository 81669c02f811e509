"""The programs here are consumers: importing them for doctests would wait for lines on stdin."""

collect_ignore_glob = ["*.py"]
