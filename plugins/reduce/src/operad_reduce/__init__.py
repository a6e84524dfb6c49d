"""Reductions along axes: sums, means, products, norms, extrema and where they are.

Each family is a module of its own, imported when one of its operators is first used.
"""
