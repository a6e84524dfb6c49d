"""Modules that need PyTorch or JAX are not collected where these are not installed."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore = [f"{framework}_sweep.py" for framework in ("torch", "jax") if find_spec(framework) is None]
