"""Operators that make arrays from nothing: zeros, ones, ranges, identity matrices.

Each family is a module of its own, imported when one of its operators is first used.
"""
