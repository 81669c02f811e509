"""Audits of submitted predictions: a folder on disk for each, and a process of its own.

What a job is can be read off its folder, so that no memory of the service has to be right: `result.json` is there when
it has ended, and appears whole; its lock is held while a process works on it, and the kernel lets go of it when that
process dies; else it waits. A job that was interrupted is begun again, unless its run is there: a run names its job,
and both appear by one rename.
"""
