"""Kernels of maxima of windows, and of their gradient, in vector code."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any, Final

import numpy as np

from operad_pooling.places_text import BYTES, PlacesTable, PlacesText, Windows
from operad_pooling.windows import Axis, spans
from operad_sdk import Array, Cost, KernelCall, OpContext
from operad_sdk.vector import LANES, BoundKernel, InVectorCode, Kernel, TableLayout
from operad_sdk.vector.form_calls import run_bound

_FROM_SIZE: Final = 1 << 9
"""Elements from which a kernel pays for its compilation, once for all sizes."""
_MOST_APART: Final = 8
"""Stride along a row up to which a kernel has each element of a block written out."""
_ONE_ROW: Final = Axis(2, 1, 1, 1, 1, 0)


@lru_cache(maxsize=64)
def _kernel(kind: str, down: Windows, along: Windows, by_strips: bool, is_gradient: bool) -> Kernel:
    name = "gradient of maxima of windows" if is_gradient else "maxima of windows"
    return Kernel(PlacesText(kind, down, along, by_strips, is_gradient).text, name)


@lru_cache(maxsize=256)
def _layout(kind: str, is_gradient: bool, planes: int, down: Axis, along: Axis) -> TableLayout:
    row, lanes = along.size * BYTES[kind], LANES[BYTES[kind]]
    begin, inner, outer, end = (_blocks if is_gradient else _windows)(along, lanes)
    table = PlacesTable(
        data=0, windows=0, places=0, plane=down.size * row, row=row, height=down.size, width=along.size,
        rows=down.count, columns=along.count, above=down.pad, before=along.pad,
        begin=begin, inner=inner, outer=outer, end=end,
    )  # fmt: skip
    windows = _of_text(down, is_gradient), _of_text(along, is_gradient)
    kernel = _kernel(kind, *windows, end - begin <= lanes, is_gradient)
    return TableLayout.of(kernel, planes, table, ("data", "windows", "places"))


def _of_text(axis: Axis, is_gradient: bool) -> Windows:
    are_whole = not axis.pad and (axis.count - 1) * axis.stride + axis.kernel <= axis.size
    return Windows(axis.kernel, axis.stride, are_whole or is_gradient)  # one kernel for all gradients


def _windows(axis: Axis, lanes: int) -> tuple[int, int, int, int]:
    """First window, the first of vectors of windows that reach nothing beside a row, and ends of both."""
    reach = axis.kernel + (axis.stride == 2 and axis.kernel % 2)  # of pairs of vectors
    last = min((axis.size - reach + axis.pad) // axis.stride, axis.count - 1) - (lanes - 1)
    return _inner(0, -(-axis.pad // axis.stride), last, axis.count, lanes)


def _blocks(axis: Axis, lanes: int) -> tuple[int, int, int, int]:
    """The same for blocks of elements: those that begin where a window does, and are as long as a stride."""
    first, end = axis.pad // axis.stride, -(-(axis.size + axis.pad) // axis.stride)
    low = max(-(-axis.kernel // axis.stride) - 1, -(-axis.pad // axis.stride))
    last = min(axis.count, (axis.size + axis.pad) // axis.stride) - lanes
    return _inner(first, low, last, end, lanes)


def _inner(begin: int, low: int, last: int, end: int, lanes: int) -> tuple[int, int, int, int]:
    """Vectors follow each other from `begin` on; inner ones begin from `low` to `last`."""
    inner = begin + max(0, -(-(low - begin) // lanes)) * lanes
    if inner > last:
        return begin, end, end, end
    return begin, inner, inner + ((last - inner) // lanes + 1) * lanes, end


def pool_in_vectors(self: Any, op_ctx: OpContext, data: Array, output: Array, workspace: Array) -> None:
    """Write the largest element of each window, and where it is."""
    found = [_without_gaps(each) for each in (output, workspace)]
    _run(self, op_ctx, False, np.ascontiguousarray(data), *found)
    for target, own in zip((output, workspace), found, strict=True):
        if own is not target:
            target[...] = own


def spread_in_vectors(
    self: Any, op_ctx: OpContext, output_grad: Array, workspace: Array, data_grad: Array
) -> None:
    """`dy/dx = 1` for the first largest element of each window, else 0."""
    target = _without_gaps(data_grad)
    _run(self, op_ctx, True, target, np.ascontiguousarray(output_grad), np.ascontiguousarray(workspace))
    if target is not data_grad:
        data_grad[...] = target


def _without_gaps(array: Array) -> Array:
    return array if array.flags.c_contiguous else np.empty(array.shape, array.dtype)


def _run(prop: Any, op_ctx: OpContext, is_gradient: bool, data: Array, windows: Array, places: Array) -> None:
    *down, along = prop.axes(data.shape, windows.shape)
    layout = _layout(data.dtype.name, is_gradient, prod(data.shape[:2]), *(down or [_ONE_ROW]), along)
    run_bound(op_ctx, BoundKernel(layout, [data, windows, places]), data.size)


def _refusal(call: KernelCall, is_large: bool) -> str | None:
    if not call.prop.has_places:
        return "it is for maxima of windows with few elements"
    if call.dtype("data").name not in BYTES:
        return f"data is {call.dtype('data')}, expected float32 or float64"
    axes = call.prop.axes(call.shape("data"), call.shape("output"))
    if axes[-1].stride > _MOST_APART:
        return f"windows are {axes[-1].stride} elements apart, expected {_MOST_APART} at most"
    if any(span.start == span.stop for axis in axes for span in spans(axis)):
        return "a window lies outside the data"
    size = call.size("data")
    return None if is_large or size >= _FROM_SIZE else f"{size} elements, it pays from {_FROM_SIZE}"


# mutant: equivalent, because an estimate is no result
def _cost(call: KernelCall) -> Cost:
    """One pass over data, or its gradient, and over the windows, with a look at each element of a window."""
    moved = (call.size("data") + call.size("output")) * call.dtype("data").itemsize + call.size("output")
    looks = call.size("output") * prod(call.prop.kernel)
    found = Cost(0.1 * max(call.size("data"), looks), size_bytes=moved, beside_us=10)
    return found._replace(pooled_us=found.work_us)


IN_VECTORS: Final[dict[str, Any]] = {
    "device": "cpu",
    "priority": 1,
    "when": InVectorCode(_refusal),
    "cost": _cost,
}
