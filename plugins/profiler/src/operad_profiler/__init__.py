"""MXNet 1.x's profiler: what ran, when and where, and what a program says of itself."""

from operad_profiler import trace as trace  # whatever is used first: it writes what is left at the end
