"""Arithmetic, comparison and logic of arrays whose shapes broadcast.

Each family is a module of its own, imported when one of its operators is first used.
"""
