"""Nodes that only say where elements are: slices, reshapes, transposes.

What such a node does with an array of the elements' numbers is what it does with any array. If the result's
numbers rise by the same steps along each axis, its output is a view of its input.
"""

from __future__ import annotations

from math import prod
from typing import Any, Final

import numpy as np

from operad.context import Context
from operad.graph import OpNode
from operad.operator import KernelCall, OpContext, OpReq, Shape, choose
from operad_sdk.form_kernels import View

OPERATORS: Final = frozenset(
    ("SliceChannel", "slice_axis", "slice", "Reshape", "Flatten", "expand_dims", "squeeze", "transpose")
) | {"SwapAxis", "reverse"}
"""Names of operators that move elements, whatever these are, and have one argument."""
_MOST_ELEMENTS: Final = 1 << 17
"""Elements of an array up to which its numbers are looked at."""
_NUMBERS: Final = np.dtype(np.int64)


def may_be_view(node: OpNode, shape: Shape) -> bool:
    """Return whether a node, whose argument has this shape, may give views of it."""
    return node.op.name in OPERATORS and node.num_args == 1 and 0 < prod(shape) <= _MOST_ELEMENTS


def moved(node: OpNode, numbers: Any, ctx: Context) -> list[Any] | None:
    """What a node makes of an array of numbers; None if it does not take it."""
    shapes: list[Any] = node.op.infer_shape([numbers.shape])[1]
    outputs = [np.empty(shape, _NUMBERS) for shape in shapes]
    try:
        operator = choose(KernelCall(node.op, ctx, [numbers.shape], [_NUMBERS], False)).operator()
        operator.forward(OpContext(ctx, False, ()), [numbers], [OpReq.WRITE] * len(outputs), outputs, [])
    except Exception:  # noqa: BLE001 - the author's function; then it is no view
        return None
    return outputs


def view_of(numbers: Any, itemsize: int) -> View | None:
    """The view whose elements have these numbers; None if no steps lead from each to the next."""
    if not numbers.size:
        return None
    first = int(numbers.flat[0])
    steps = [
        int(numbers[tuple(int(axis == own) for axis in range(numbers.ndim))]) - first if length > 1 else 0
        for own, length in enumerate(numbers.shape)
    ]
    expected = np.full(numbers.shape, first)
    for axis, (step, length) in enumerate(zip(steps, numbers.shape, strict=True)):
        expected += (np.arange(length) * step).reshape([-1 if axis == i else 1 for i in range(numbers.ndim)])
    if not np.array_equal(numbers, expected):
        return None
    return View(first * itemsize, numbers.shape, tuple([step * itemsize for step in steps]))
