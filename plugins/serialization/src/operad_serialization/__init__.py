"""MXNet 1.x's files: arrays, and symbols."""
