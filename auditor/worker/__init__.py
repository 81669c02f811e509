"""What runs inside a consumer's process: the standard library only, nothing of ours, Python 3.8 and newer.

Never imported by the auditor: `main.py` is run by its path with the consumer's own interpreter, and says there how an
adapter is written.
"""
