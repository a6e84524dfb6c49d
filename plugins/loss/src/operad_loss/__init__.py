"""Output layers: operators that predict going forward and have the gradient of a loss going back.

Each is a module of its own, imported when the operator is first used.
"""
