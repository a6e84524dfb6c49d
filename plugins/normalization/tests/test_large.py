"""Standardized data near the limits of their type, where squares, sums and differences are beyond it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od

PATTERNS = {
    "one against three": [1, -1, -1, -1],
    "both ends": [1, -1, 1, -1],
    "one": [1, 0, 0, 0],
    "between": [1, 0.5, -0.25, -1],
    "nearly alike": [1, 0.9, 0.8, 1],
}
LAYERS: dict[str, tuple[tuple[int, ...], dict[str, Any]]] = {
    "LayerNorm": ((2, -1), {"eps": 1e-5}),
    "BatchNorm": ((2, -1), {"eps": 2e-5, "fix_gamma": False, "axis": 0}),
    "GroupNorm": ((1, 2, -1), {"eps": 1e-5, "num_groups": 1}),
    "InstanceNorm": ((1, 2, -1), {"eps": 1e-5}),
    "L2Normalization": ((2, -1), {"eps": 1e-10}),
}
"""Shape of two rows as the operator takes them, and its parameters."""


def vectors(name: str, length: int) -> list[Any]:
    count = {"LayerNorm": length, "BatchNorm": 2, "GroupNorm": 1, "InstanceNorm": 2}.get(name, 0)
    ones_and_zeros = [np.ones(count), np.zeros(count)] if count else []
    return [*ones_and_zeros, *([np.zeros(2), np.ones(2)] if name == "BatchNorm" else [])]


def exact(name: str, rows: Any, heads: Any, eps: float) -> tuple[Any, Any]:
    """Output and gradient in extended precision, of rows times a power of two."""
    scale = np.ldexp(np.longdouble(1), -int(np.frexp(np.abs(rows).max())[1]))
    x, g, small = rows.astype(np.longdouble) * scale, heads.astype(np.longdouble), eps * scale * scale
    if name == "L2Normalization":
        norm = np.sqrt((x * x).sum(1, keepdims=True) + small)
        return x / norm, (g - x / norm * (g * x / norm).sum(1, keepdims=True)) / norm * scale
    d = x - x.mean(1, keepdims=True)
    deviation = np.sqrt((d * d).mean(1, keepdims=True) + small)
    y = d / deviation
    gradient = g - g.mean(1, keepdims=True) - y * (g * y).mean(1, keepdims=True)
    return y, gradient / deviation * scale


@pytest.mark.parametrize("repeats", [1, 256], ids=["short", "long"])  # by NumPy, and in vector code
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", LAYERS)
def test_what_is_finite_is_found_of_data_near_the_limits(name: str, dtype: str, repeats: int) -> None:
    limits = np.finfo(dtype)
    most = float(limits.max)
    for size in (most, most / 2, most / 64, most**0.75, most**0.5, most**0.5 / 4):
        for pattern in PATTERNS.values():
            row = np.repeat(np.array(pattern), repeats) * size
            rows = np.stack([row, row[::-1]]).astype(dtype)
            heads = np.random.default_rng(5).uniform(-1, 1, rows.shape).astype(dtype)
            shape, params = LAYERS[name]
            data = od.nd.array(rows.reshape(shape), dtype=dtype)
            data.attach_grad()
            wide = "float32" if name == "BatchNorm" and dtype == "float16" else dtype
            beside = [od.nd.array(vector, dtype=wide) for vector in vectors(name, len(row))]
            with od.autograd.record():
                output = getattr(od.nd, name)(data, *beside, **params)
            output.backward(od.nd.array(heads.reshape(shape), dtype=dtype))
            groups = 1 if name == "GroupNorm" else 2
            want = exact(name, rows.reshape(groups, -1), heads.reshape(groups, -1), params["eps"])
            for found, expected in zip((output, data.grad), want, strict=True):
                error = np.abs(found.asnumpy().reshape(groups, -1) - expected)
                allowed = 16 * limits.eps * np.abs(expected).max() + 8 * limits.tiny
                assert (error <= allowed).all(), (size, pattern)
