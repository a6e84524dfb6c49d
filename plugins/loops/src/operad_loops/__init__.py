"""Kernels of operators in loops that numba compiles; each module is imported with the operator it is for."""
