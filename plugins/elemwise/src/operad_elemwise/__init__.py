"""Elementwise operators: unary mathematics, arithmetic of equal shapes and with a scalar, comparisons.

Each family is a module of its own, imported when one of its operators is first used.
"""
