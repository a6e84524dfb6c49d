"""`broadcast_to`, `broadcast_axis` and `broadcast_like`: repeating axes of length 1."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from operad.errors import ParamError, ShapeError
from operad.operator import InferredShapes
from operad_broadcast.shapes import sum_to
from operad_sdk import (
    Array,
    Contract,
    OperatorProperty,
    Output,
    PartialShape,
    Shape,
    gradient,
    operator,
    param,
)


def _lengthened(data: Array, axis: Iterable[int], size: Iterable[int]) -> Array:
    """The data added to zeros of the shape wanted, for the contract checks."""
    shape = list(data.shape)
    for one, length in zip(axis, size, strict=True):
        shape[one] = length
    return data + np.zeros(shape)


def _like(lhs: Array, rhs: Array, lhs_axes: Shape | None, rhs_axes: Shape | None) -> Array:
    left = range(lhs.ndim) if lhs_axes is None else lhs_axes
    return _lengthened(lhs, left, [rhs.shape[axis] for axis in rhs_axes or left])


class Repetition(OperatorProperty):
    """An operator that repeats some axes of its data."""

    def repeated(self, shape: Sequence[Any], wanted: Sequence[Any]) -> PartialShape:
        """`wanted`, if `shape` can be repeated to it.

        Args:
            shape: The data's.
            wanted: As many axes, of which some may be unknown.
        Raises:
            ShapeError: An axis has another length, and that is not 1.
        """
        name = self.list_arguments()[0]
        for axis, (length, target) in enumerate(zip(shape, wanted, strict=True)):
            if None not in (length, target) and length not in (1, target):
                raise ShapeError(
                    f"{self.name}: {name} has shape {tuple(shape)}, which does not broadcast to "
                    f"{tuple(wanted)}: axis {axis} is {length}, expected 1 or {target}"
                )
        return tuple(wanted)


class UnaryRepetition(Repetition):
    """A repetition that parameters describe."""

    @abstractmethod
    def out_shape(self, shape: Sequence[Any]) -> PartialShape:
        """The output's shape for data of `shape`."""

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """The output's shape follows from the data's."""
        shape = in_shapes[0]
        return [shape], [None if shape is None else self.out_shape(shape)], []

    def forward(self, data: Array, output: Output) -> None:
        """One copy, which repeats."""
        output.assign(data)

    @gradient
    def data_gradient(self, output_grad: Array, data_grad: Output) -> None:
        """The sum over repetitions."""
        with data_grad.writing() as out:
            sum_to(output_grad, out)


def _repeatable(prop: BroadcastTo, choose: Callable[[Sequence[int]], int]) -> list[Shape]:
    """Data whose axes have the length wanted, or 1; any where a length is kept."""
    return [tuple(choose((1, target) if target else (1, 2, 3, 1, 2, 3, 0)) for target in prop.shape)]


@operator("broadcast_to")
class BroadcastTo(UnaryRepetition):
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

    def out_shape(self, shape: Sequence[Any]) -> PartialShape:
        """As many axes as the data has."""
        if len(shape) != len(self.shape):
            raise ShapeError(
                f"broadcast_to: data has shape {tuple(shape)}, expected {len(self.shape)} axes as in "
                f"shape={self.shape}"
            )
        return self.repeated(shape, [t or length for t, length in zip(self.shape, shape, strict=True)])


@operator("broadcast_axis")
class BroadcastAxis(UnaryRepetition):
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
    size = param("shape", (), ge=0, doc="How long each of them becomes.")
    contract = Contract(reference=_lengthened)

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        if len(self.axis) != len(self.size):
            raise ParamError(
                f"broadcast_axis: axis is {self.axis} and size {self.size}, expected equally many"
            )

    def out_shape(self, shape: Sequence[Any]) -> PartialShape:
        """The data's shape with lengths replaced."""
        out = list(shape)
        for axis, size in zip(self.axis, self.size, strict=True):
            if not -len(out) <= axis < len(out):
                raise ShapeError(f"broadcast_axis: data has shape {tuple(shape)}, which has no axis {axis}")
            if shape[axis] not in (1, None):
                raise ShapeError(
                    f"broadcast_axis: data has shape {tuple(shape)}, expected length 1 on axis {axis}"
                )
            out[axis] = size
        return tuple(out)


@operator("broadcast_like")
class BroadcastLike(Repetition):
    """`lhs` with axes of length 1 repeated to the lengths of `rhs`, whose values do not count.

    Shapes:
        lhs: (...)
        rhs: As many axes; any number with `lhs_axes` and `rhs_axes`.
        output: As rhs; or as lhs, with the length of each of `rhs_axes` on that of `lhs_axes`.

    Example:
        >>> import operad as od
        >>> od.nd.broadcast_like(od.nd.array([[1, 2]]), od.nd.array([[0, 0], [0, 0]])).asnumpy()
        array([[1., 2.],
               [1., 2.]], dtype=float32)

    Source: BroadcastLikeShape, src/operator/tensor/broadcast_reduce_op.h.
    """

    lhs_axes = param("shape", None, doc="Axes of lhs to repeat; left out: all.")
    rhs_axes = param("shape", None, doc="Axes of rhs whose lengths they take.")
    contract = Contract(reference=_like)

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        if len(self.lhs_axes or ()) != len(self.rhs_axes or ()):
            raise ParamError(
                f"broadcast_like: lhs_axes is {self.lhs_axes} and rhs_axes {self.rhs_axes}, "
                "expected equally many, or neither"
            )

    def list_arguments(self) -> list[str]:
        """Two."""
        return ["lhs", "rhs"]

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """The output's shape once both are known."""
        lhs, rhs = in_shapes
        if lhs is None or rhs is None:
            return [lhs, rhs], [None], []
        if self.lhs_axes is None and len(lhs) != len(rhs):
            raise ShapeError(f"broadcast_like: lhs has shape {lhs}, expected {len(rhs)} axes as in rhs {rhs}")
        wanted = list(rhs if self.lhs_axes is None else lhs)
        for left, right in zip(self.lhs_axes or (), self.rhs_axes or (), strict=True):
            if not (-len(lhs) <= left < len(lhs) and -len(rhs) <= right < len(rhs)):
                raise ShapeError(
                    f"broadcast_like: axis {left} of lhs {lhs} or {right} of rhs {rhs} is not there"
                )
            wanted[left] = rhs[right]
        return [lhs, rhs], [self.repeated(lhs, wanted)], []

    def forward(self, lhs: Array, output: Output) -> None:
        """One copy, which repeats."""
        output.assign(lhs)

    @gradient
    def lhs_gradient(self, output_grad: Array, lhs_grad: Output) -> None:
        """The sum over repetitions; `rhs` has no gradient."""
        with lhs_grad.writing() as out:
            sum_to(output_grad, out)
