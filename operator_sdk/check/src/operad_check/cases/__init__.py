"""Cases that an operator accepts: kinds, goals, values, and the Hypothesis strategies that draw them.

Parameters, shapes and types follow from what the operator declares; a case can be cast to another element
type, or perturbed.
"""
