"""Two runs, case by case: which may be compared, what flipped, and what of it the parsers and the predictions did.

Reads stored runs alone and decodes nothing; everything per case is set-based SQL.
"""
