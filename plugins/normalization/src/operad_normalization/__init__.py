"""Normalization layers.

Their modules are imported when an operator is first used.
"""
