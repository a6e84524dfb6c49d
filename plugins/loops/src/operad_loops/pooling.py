"""Kernels of operad-pooling's `Pooling`: maxima of windows of 2 x 2."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Final

from operad_sdk import Array, CompiledLoops, Cost, KernelCall, OpContext, kernel

LOOPS: Final = CompiledLoops("operad_loops.window_loops")
_PART_ELEMENTS: Final = 1 << 15
"""Elements of data that are worth handing to another thread."""
_MOST_PARTS: Final = 16


_PAYS: Final = LOOPS.when(
    lambda call: call.size("data"), lambda call: call.prop.has_places or "the loops know pairs of pairs alone"
)


def _cost(call: KernelCall) -> Cost:
    """One pass over data, or its gradient, and over what there is for each window."""
    moved = (call.size("data") + call.size("output")) * call.dtype("data").itemsize + call.size("output")
    return Cost(0.5 * call.size("data"), size_bytes=moved, beside_us=10)


@kernel("Pooling", "forward", name="max_by_loop", priority=1, when=_PAYS, cost=_cost)
def pool_by_loop(op_ctx: OpContext, data: Array, output: Array, places: Array) -> None:
    """The largest element of each window, and where it is."""
    _by_parts(op_ctx, LOOPS.pool, data, output, places)


@kernel("Pooling", "data_grad", name="max_gradient_by_loop", priority=1, when=_PAYS, cost=_cost)
def spread_by_loop(op_ctx: OpContext, output_grad: Array, places: Array, data_grad: Array) -> None:
    """`dy/dx = 1` for the first largest element of each window, else 0."""
    _, _, rows, columns = output_grad.shape
    data_grad[:, :, 2 * rows :] = 0  # in no window
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
