"""Gradients in half precision beside those in single precision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import operad as od


def assert_gradients_near_in_half(function: Callable[..., Any], values: Sequence[Any]) -> None:
    """Gradients of `function` by all arguments are of their type, and alike in both."""
    found = []
    for dtype in ("float32", "float16"):
        inputs: list[Any] = [od.nd.array(value, dtype=dtype) for value in values]
        for array in inputs:
            array.attach_grad()
        with od.autograd.record():
            output = function(*inputs)
        output.backward()
        found.append([array.grad.asnumpy() for array in inputs])
        assert {str(grad.dtype) for grad in found[-1]} == {dtype}
    for single, half in zip(*found, strict=True):
        np.testing.assert_allclose(half, single, rtol=5e-3, atol=5e-3)
