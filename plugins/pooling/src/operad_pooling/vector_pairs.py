"""Kernels of maxima of windows of 2 x 2 side by side in vector code."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any, Final

import numpy as np

from operad_pooling.pairs import clear_beside
from operad_pooling.pairs_text import BYTES, PairsTable, PairsText
from operad_sdk import Array, Cost, KernelCall, OpContext, Shape
from operad_sdk.vector import BoundKernel, InVectorCode, Kernel, TableLayout
from operad_sdk.vector.form_calls import run_bound

_FROM_SIZE: Final = 1 << 11
"""Elements from which a kernel pays for its compilation, once for all sizes."""


@lru_cache(maxsize=4)
def _kernel(kind: str, is_gradient: bool) -> Kernel:
    name = "gradient of maxima of pairs" if is_gradient else "maxima of pairs"
    return Kernel(PairsText(kind, is_gradient).text, name)


@lru_cache(maxsize=256)
def _layout(kind: str, is_gradient: bool, data: Shape, windows: Shape) -> TableLayout:
    row = data[3] * BYTES[kind]
    table = PairsTable(
        data=0, windows=0, places=0, plane=data[2] * row, row=row, rows=windows[2], columns=windows[3]
    )
    kernel = _kernel(kind, is_gradient)
    return TableLayout.of(kernel, prod(data[:2]), table, ("data", "windows", "places"))


def pool_in_vectors(op_ctx: OpContext, data: Array, output: Array, places: Array) -> None:
    """Write the largest element of each window, and where it is."""
    found = [_without_gaps(each) for each in (output, places)]
    _run(op_ctx, False, np.ascontiguousarray(data), *found)
    for target, own in zip((output, places), found, strict=True):
        if own is not target:
            target[...] = own


def spread_in_vectors(op_ctx: OpContext, output_grad: Array, places: Array, data_grad: Array) -> None:
    """`dy/dx = 1` for the first largest element of each window, else 0."""
    target = _without_gaps(data_grad)
    clear_beside(target, output_grad.shape)
    _run(op_ctx, True, target, np.ascontiguousarray(output_grad), np.ascontiguousarray(places))
    if target is not data_grad:
        data_grad[...] = target


def _without_gaps(array: Array) -> Array:
    return array if array.flags.c_contiguous else np.empty(array.shape, array.dtype)


def _run(op_ctx: OpContext, is_gradient: bool, data: Array, windows: Array, places: Array) -> None:
    layout = _layout(data.dtype.name, is_gradient, data.shape, windows.shape)
    run_bound(op_ctx, BoundKernel(layout, [data, windows, places]), data.size)


def _refusal(call: KernelCall, is_large: bool) -> str | None:
    if not call.prop.has_places:
        return "it is for maxima of 2 x 2 elements side by side"
    if call.dtype("data").name not in BYTES:
        return f"data is {call.dtype('data')}, expected float32 or float64"
    size = call.size("data")
    return None if is_large or size >= _FROM_SIZE else f"{size} elements, it pays from {_FROM_SIZE}"


# mutant: equivalent, because an estimate is no result
def _cost(call: KernelCall) -> Cost:
    """One pass over data, or its gradient, and over the windows."""
    moved = (call.size("data") + call.size("output")) * call.dtype("data").itemsize + call.size("output")
    found = Cost(0.1 * call.size("data"), size_bytes=moved, beside_us=10)
    return found._replace(pooled_us=found.work_us)


IN_VECTORS: Final[dict[str, Any]] = {
    "device": "cpu",
    "priority": 1,
    "when": InVectorCode(_refusal),
    "cost": _cost,
}
