"""Pooling of images.

Its module is imported when the operator is first used.
"""
