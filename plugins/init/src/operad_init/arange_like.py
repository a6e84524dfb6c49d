"""`_contrib_arange_like`: evenly spaced numbers in the shape of another array."""

from __future__ import annotations

import numpy as np

from operad_init.sequences import fill_spaced
from operad_sdk import Array, Contract, OperatorProperty, Shape, ShapeError, operator, param


def _reference(data: Array, start: float, step: float, repeat: int, axis: int | None) -> Array:
    if data.dtype.kind in "iu":
        start, step = int(start), int(step)
    positions = np.arange(data.size).reshape(data.shape) if axis is None else np.arange(data.shape[axis])
    return np.asarray(start + step * (positions // repeat))


def _along(shape: Shape, axis: int) -> Shape:
    if not -len(shape) <= axis < len(shape):
        raise ShapeError(f"axis is {axis}, expected one of the {len(shape)} axes of data")
    return (shape[axis],)


@operator("_contrib_arange_like")
class ArangeLike(OperatorProperty):
    """Numbers from `start`, `step` apart, each `repeat` times, as many as `data` has.

    Of an integer type `start` and `step` are cut off first, as MXNet does it: 0.5 is 0.

    Shapes:
        data: (...)
        output: the shape of `data`; with `axis` the length of that axis alone

    Example:
        >>> import operad as od
        >>> od.nd._contrib_arange_like(od.nd.ones((2, 3)), start=1).asnumpy()
        array([[1., 2., 3.], [4., 5., 6.]], dtype=float32)

    Source: RangeLikeParam, src/operator/tensor/init_op.h.
    """

    start = param(float, 0.0, doc="First number.")
    step = param(float, 1.0, doc="Distance of two numbers.")
    repeat = param(int, 1, ge=1, doc="Number of repetitions of each number.")
    ctx = param(str, "", ignored="Accepted for MXNet's files; the call or the binding says where.")
    axis = param(int, None, doc="Count along this axis only; negative ones count from the last.")

    spec = "data:(*S) -> output:(*S) if axis is None, output:(*along(S, axis)) if axis is not None"
    functions = {"along": _along}
    contract = Contract(reference=_reference)

    def forward(output: Array, start: float, step: float, repeat: int) -> None:
        """Compute each number from its position; `data` gives only its shape."""
        fill_spaced(output, start, step, repeat)
