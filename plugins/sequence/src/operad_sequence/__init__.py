"""Operators on batches of sequences of unequal length.

Their modules are imported when an operator is first used.
"""
