"""MXNet 1.x test_utils."""
