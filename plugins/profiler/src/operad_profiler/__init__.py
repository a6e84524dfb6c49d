"""MXNet 1.x's profiler: what ran, when and where, and what a program says of itself."""
