"""Densities of probability distributions: `_random_pdf_normal` and others.

Each module is imported when one of its operators is first used.
"""
