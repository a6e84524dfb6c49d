"""Maxima of windows of 2 x 2 by compiled loops, which leave for the gradient where they were.

The gradient then reads a byte for each window, and neither data nor output; finding the places once more
would take it three times as long.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Final

import numpy as np

from operad_sdk import Array, Cost, DType, KernelCall, OpContext, Shape
from operad_sdk.loops import CompiledLoops

LOOPS: Final = CompiledLoops("operad_pooling.max_loops")
_PART_ELEMENTS: Final = 1 << 15
"""Elements of data that are worth handing to another thread."""
_MOST_PARTS: Final = 16


def _has_pairs(call: KernelCall) -> bool | str:
    """Return whether each window is two whole pairs of elements, one below the other."""
    prop, data = call.prop, call.shape("data")
    if prop.pool_type != "max":
        return f"the loops compute maxima, and pool_type is {prop.pool_type!r}"
    if prop.global_pool or prop.kernel != (2, 2) or prop.stride != (2, 2) or any(prop.pad):
        return "the loops know windows of 2 x 2 side by side, without padding"
    if prop.is_channels_last:
        return f"the loops know images with channels first, and layout is {prop.layout!r}"
    counts = call.shape("output")[2:]
    is_whole = all(2 * count <= size for count, size in zip(counts, data[2:], strict=True))
    return is_whole or "the last windows are not whole"


BY_LOOP: Final = LOOPS.when(lambda call: call.size("data"), _has_pairs)
"""The condition of both kernels."""


def places(call: KernelCall) -> tuple[Shape, DType]:
    """Array that is kept: for each window which of its elements is the first largest one, in a byte."""
    return call.shape("output"), np.dtype(np.uint8)


def loop_cost(call: KernelCall) -> Cost:
    """One pass over data, or its gradient, and over what there is for each window."""
    moved = (call.size("data") + call.size("output")) * call.dtype("data").itemsize + call.size("output")
    return Cost(0.5 * call.size("data"), size_bytes=moved, beside_us=10)


def pool_by_loop(op_ctx: OpContext, data: Array, output: Array, places: Array | None) -> None:
    """The largest element of each window, and where it is."""
    found = np.empty(output.shape, np.uint8) if places is None else places
    _by_parts(op_ctx, LOOPS.pool, data, output, found)


def spread_by_loop(op_ctx: OpContext, output_grad: Array, places: Array, data_grad: Array) -> None:
    """`dy/dx = 1` for the first largest element of each window, else 0."""
    rows, columns = output_grad.shape[2:]
    data_grad[:, :, 2 * rows :] = 0
    data_grad[:, :, :, 2 * columns :] = 0
    _by_parts(op_ctx, LOOPS.spread, output_grad, places, data_grad)


def _by_parts(op_ctx: OpContext, function: Callable[..., object], *arrays: Array) -> None:
    """Call a loop for parts of the planes of all arrays, side by side in threads."""
    planes = [array.reshape(prod(array.shape[:2]), *array.shape[2:]) for array in arrays]
    most, length = max(array.size for array in arrays), len(planes[0])
    count = max(1, min(length, _MOST_PARTS, most // _PART_ELEMENTS))

    def part(number: int, _: int) -> None:
        own = slice(length * number // count, length * (number + 1) // count)
        function(*[array[own] for array in planes])

    op_ctx.parallel(part, count, min(op_ctx.num_threads, count))
