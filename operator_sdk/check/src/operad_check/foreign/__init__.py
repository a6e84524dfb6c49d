"""The same checks for functions of other libraries: what a library has to offer, and functions as subjects.

A function of PyTorch or JAX, or of NumPy with a gradient beside it, becomes an operator's property for the
time of a check, read off a shape line and an expression. So all that makes cases, runs, compares and reports
is the harness's own. A `Backend` is a few functions of the library, found by an entry point of a plugin; it
adds checks of what only such a library can be asked.
"""
