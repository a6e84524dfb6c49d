"""Modules that need PyTorch or JAX are not collected where these are not installed."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore_glob = [
    f"*/{pattern}"
    for framework, pattern in (
        ("torch", "torch_operators.py"),
        ("torch", "torch_arrays.py"),
        ("torch", "torch_gradients.py"),
        ("jax", "jax_operators.py"),
    )
    if find_spec(framework) is None
]
