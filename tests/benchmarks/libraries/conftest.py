"""Files here that import a library which the tests' environment need not have."""

from __future__ import annotations

collect_ignore = [
    "jax_gpt.py",
    "jax_rows.py",
    "torch_authors.py",
    "torch_gpt.py",
    "torch_layers.py",
    "torch_rows.py",
]
