"""Matrix products and linear algebra.

Each family is a module of its own, imported when one of its operators is first used.
"""
