"""`_contrib_index_array`: the position of every element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from operad_sdk import Array, Contract, OpContext, OperatorProperty, Shape, ShapeError, operator, param


def _count(shape: Shape, axes: Sequence[int] | None) -> tuple[int, ...]:
    """Shape of one element's coordinates: the number of axes that are listed."""
    chosen = range(len(shape)) if axes is None else axes
    if wrong := [axis for axis in chosen if not -len(shape) <= axis < len(shape)]:
        raise ShapeError(f"axes has {wrong[0]}, expected numbers of the {len(shape)} axes of data")
    return (len(chosen),)


def _reference(data: Array, axes: Sequence[int] | None) -> Any:
    places = np.array(list(np.ndindex(data.shape)), "int64").reshape(*data.shape, data.ndim)
    return places if axes is None else places[..., list(axes)]


@operator("_contrib_index_array")
class IndexArray(OperatorProperty):
    """The indices of every element along all axes, or along some.

    Shapes:
        data: (...)
        output: (..., n), int64, where n is the number of axes, or of `axes`

    Example:
        >>> import operad as od
        >>> od.nd._contrib_index_array(od.nd.zeros((2, 2))).asnumpy().tolist()
        [[[0, 0], [0, 1]], [[1, 0], [1, 1]]]

    Source: IndexArrayParam, src/operator/contrib/index_array-inl.h. Differs: axes out of range are refused.
    """

    axes = param("indices", None, doc="The axes, by number; negative ones count from the last. None: all.")
    has_gradient = False
    spec = "data:any(*S) -> output:int64(*S, *count(S, axes))"
    functions = {"count": _count}
    contract = Contract(reference=_reference)

    def forward(output: Array, op_ctx: OpContext, axes: Sequence[int] | None) -> None:
        """One `arange` for each axis, along that axis."""
        shape = output.shape[:-1]
        for place, axis in enumerate(range(len(shape)) if axes is None else axes):
            along = [1] * len(shape)
            along[axis] = shape[axis]
            output[..., place] = op_ctx.xp.arange(shape[axis]).reshape(along)
