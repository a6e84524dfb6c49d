"""Arrays made from the shape of another: zeros, ones, the shape itself, the size."""

from __future__ import annotations

import numpy as np

from operad_sdk import UNARY, Array, define, param

_LIKE = {"dtype": param("dtype", "float32", ignored="The element type is that of the data, as in MXNet.")}

zeros_like = define(
    "zeros_like", UNARY, lambda data, output: output.fill(0),
    summary="Zeros in the shape and element type of `x`.", example=("[1, 2]", "[0., 0.]"),
    inplace="data", params=_LIKE, reference=lambda data: np.zeros(data.shape),
)  # fmt: skip
ones_like = define(
    "ones_like", UNARY, lambda data, output: output.fill(1),
    summary="Ones in the shape and element type of `x`.", example=("[1, 2]", "[1., 1.]"),
    inplace="data", params=_LIKE, reference=lambda data: np.ones(data.shape),
)  # fmt: skip


def _write_lengths(data: Array, output: Array) -> None:
    for axis, length in enumerate(data.shape):
        output[axis] = length  # one by one, which arrays of every device take


shape_array = define(
    "shape_array", "data:(*S) -> output:int64(len(S))", _write_lengths,
    summary="The lengths of the axes of `x`.", example=("[[1, 2, 3]]", "array([1, 3])"),
    reference=lambda data: np.array(data.shape, int),
)  # fmt: skip
size_array = define(
    "size_array", "data:(...) -> output:int64(1)", lambda data, output: output.fill(data.size),
    summary="The number of elements of `x`.", example=("[[1, 2, 3]]", "array([3])"),
    reference=lambda data: np.array([np.prod(data.shape)]),
)  # fmt: skip
