"""Loops and branches in symbols: operators that run graphs of operators.

Their modules are imported when an operator or a function is first used.
"""
