"""Comparisons: bit for bit, within rounding, with a reference, and with derivatives taken numerically.

What differs raises `Violation`, which says where, what was expected and what was found.
"""
