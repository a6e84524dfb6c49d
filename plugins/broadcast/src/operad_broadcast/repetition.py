"""`broadcast_to`, `broadcast_axis` and `broadcast_like`: repeating axes of length 1."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from operad_sdk import (
    Array,
    Contract,
    InferredShapes,
    OperatorProperty,
    ParamError,
    PartialShape,
    Shape,
    ShapeError,
    operator,
    param,
)


def _repeated(shape: Sequence[Any], wanted: Sequence[Any], what: str) -> PartialShape:
    """`wanted`, if an array of `shape`, which is `what`, can be repeated to it; lengths may be unknown.

    Raises:
        ShapeError: An axis has another length, and that is not 1.
    """
    for axis, (length, target) in enumerate(zip(shape, wanted, strict=True)):
        if None not in (length, target) and length not in (1, target):
            raise ShapeError(
                f"{what} has shape {tuple(shape)}, which does not broadcast to {tuple(wanted)}: "
                f"axis {axis} is {length}, expected 1 or {target}"
            )
    return tuple(wanted)


def _lengthened(shape: Shape, axis: Sequence[int], size: Sequence[int]) -> Shape:
    """`shape` with the lengths `size` on the axes `axis`, which have length 1."""
    out = list(shape)
    for one, length in zip(axis, size, strict=True):
        if not -len(out) <= one < len(out):
            raise ShapeError(
                f"axis is {one}, expected {-len(out)} to {len(out) - 1} for data of shape {shape}"
            )
        if shape[one] != 1:
            raise ShapeError(f"data has shape {shape}, expected length 1 on axis {one}")
        out[one] = length
    return tuple(out)


def _like(lhs: Shape, rhs: Shape, lhs_axes: Shape | None, rhs_axes: Shape | None) -> PartialShape:
    """The shape of `rhs`; or, with axes of both, that of `lhs` with lengths of `rhs` on these."""
    if lhs_axes is None or rhs_axes is None:
        if len(lhs) != len(rhs):
            raise ShapeError(f"lhs has shape {lhs}, expected {len(rhs)} axes as in rhs {rhs}")
        return _repeated(lhs, rhs, "lhs")
    wanted = list(lhs)
    for left, right in zip(lhs_axes, rhs_axes, strict=True):
        if not (-len(lhs) <= left < len(lhs) and -len(rhs) <= right < len(rhs)):
            raise ShapeError(
                f"lhs_axes has {left} and rhs_axes {right}, expected axes of lhs {lhs} and of rhs {rhs}"
            )
        wanted[left] = rhs[right]
    return _repeated(lhs, wanted, "lhs")


def _plus_zeros(data: Array, axis: Iterable[int], size: Iterable[int]) -> Array:
    """The data added to zeros of the shape wanted, for the contract checks."""
    shape = list(data.shape)
    for one, length in zip(axis, size, strict=True):
        shape[one] = length
    return data + np.zeros(shape)


def _like_by_zeros(lhs: Array, rhs: Array, lhs_axes: Shape | None, rhs_axes: Shape | None) -> Array:
    if lhs_axes is None or rhs_axes is None:
        return lhs + np.zeros(rhs.shape)
    return _plus_zeros(lhs, lhs_axes, [rhs.shape[axis] for axis in rhs_axes])


def _repeatable(prop: BroadcastTo, choose: Callable[[Sequence[int]], int]) -> list[Shape]:
    """Data whose axes have the length wanted, or 1; any where a length is kept."""
    return [tuple(choose((1, target) if target else (1, 2, 3, 1, 2, 3, 0)) for target in prop.shape)]


class Repetition(OperatorProperty):
    """An operator that repeats its first argument along some axes; its gradient is summed over them."""

    compute_dtype = "float32"

    @property
    def broadcast_arguments(self) -> frozenset[int]:
        """The first."""
        return frozenset([0])


@operator("broadcast_to")
class BroadcastTo(Repetition):
    """The data with axes of length 1 repeated to a shape.

    Shapes:
        data: (...)
        output: `shape`, where 0 stands for the data's length.

    Example:
        >>> import operad as od
        >>> od.nd.broadcast_to(od.nd.array([[1, 2]]), shape=(2, 0)).asnumpy()
        array([[1., 2.],
               [1., 2.]], dtype=float32)

    Source: BroadcastToShape, src/operator/tensor/broadcast_reduce_op.h.
    """

    shape = param("shape", (), ge=0, doc="The output's shape; 0 keeps a length.")
    contract = Contract(
        shapes=_repeatable, reference=lambda data, shape: data + np.zeros([length or 1 for length in shape])
    )

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """Infer a shape of as many axes as the data has, of which some may be unknown."""
        (shape,) = in_shapes
        if shape is None:
            return [None], [None], []
        if len(shape) != len(self.shape):
            raise ShapeError(
                f"broadcast_to: data has shape {shape}, expected {len(self.shape)} axes as in "
                f"shape={self.shape}"
            )
        wanted = [target or length for target, length in zip(self.shape, shape, strict=True)]
        return [shape], [_repeated(shape, wanted, "broadcast_to: data")], []

    def forward(data: Array) -> Array:
        """The data, which is repeated where it is stored."""
        return data

    def data_grad(output_grad: Array) -> Array:
        """`dy/dx = 1` for each repetition."""
        return output_grad


@operator("broadcast_axis")
class BroadcastAxis(Repetition):
    """The data with given axes of length 1 repeated.

    Shapes:
        data: (...), with length 1 on each of `axis`.
        output: As data, with length `size` there.

    Example:
        >>> import operad as od
        >>> od.nd.broadcast_axis(od.nd.array([[1, 2]]), axis=0, size=2).asnumpy()
        array([[1., 2.],
               [1., 2.]], dtype=float32)

    Source: BroadcastAxesShape, src/operator/tensor/broadcast_reduce_op.h. Differs: axes may be
    counted from the end.
    """

    axis = param("shape", (), doc="The axes to repeat.")
    size = param("shape", (), ge=0, doc="New length of each of these axes.")
    functions = {"lengthened": _lengthened}
    spec = "data:(*S) -> output:(*lengthened(S, axis, size))"
    contract = Contract(reference=_plus_zeros)

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        if len(self.axis) != len(self.size):
            raise ParamError(
                f"broadcast_axis: axis is {self.axis} and size {self.size}, expected equally many"
            )

    forward, data_grad = BroadcastTo.forward, BroadcastTo.data_grad


@operator("broadcast_like")
class BroadcastLike(Repetition):
    """`lhs` with axes of length 1 repeated to the lengths of `rhs`, whose values do not count.

    Shapes:
        lhs: (...)
        rhs: As many axes; any number with `lhs_axes` and `rhs_axes`. Of any element type.
        output: As rhs; or as lhs, with the length of each of `rhs_axes` on that of `lhs_axes`.

    Example:
        >>> import operad as od
        >>> od.nd.broadcast_like(od.nd.array([[1, 2]]), od.nd.array([[0, 0], [0, 0]])).asnumpy()
        array([[1., 2.],
               [1., 2.]], dtype=float32)

    Source: BroadcastLikeShape, src/operator/tensor/broadcast_reduce_op.h.
    """

    lhs_axes = param("shape", None, doc="Axes of lhs to repeat; without it or `rhs_axes`, all.")
    rhs_axes = param("shape", None, doc="Axes of rhs whose lengths they take.")
    functions = {"like": _like}
    spec = "lhs:(*A), rhs:any(*B) -> output:(*like(A, B, lhs_axes, rhs_axes))"
    contract = Contract(
        reference=_like_by_zeros,
        param_sets=[
            {"lhs_axes": (0,), "rhs_axes": (0,)},
            {"lhs_axes": (-1,), "rhs_axes": (-2,)},
            {"lhs_axes": (0, 1), "rhs_axes": (1, 0)},
        ],
    )

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        if None not in (self.lhs_axes, self.rhs_axes) and len(self.lhs_axes) != len(self.rhs_axes):
            raise ParamError(
                f"broadcast_like: lhs_axes is {self.lhs_axes} and rhs_axes {self.rhs_axes}, "
                "expected equally many"
            )

    def forward(lhs: Array) -> Array:
        """`lhs`, which is repeated where it is stored."""
        return lhs

    def lhs_grad(output_grad: Array) -> Array:
        """`dy/dx = 1` for each repetition; `rhs` has no gradient."""
        return output_grad
