"""Operators that keep all elements in order and change the shape.

Their outputs may share the input's memory, so that a memory plan makes them free.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import ClassVar

import numpy as np

from operad_sdk import (
    Array,
    Contract,
    InferredShapes,
    OperatorProperty,
    PartialShape,
    Shape,
    ShapeError,
    gradient,
    operator,
    param,
)
from operad_shape.codes import partly_reshaped, reshaped
from operad_shape.linked import Link, LinkedAxes, as_many_elements
from operad_shape.rearrange import normal_axis
from operad_shape.references import partly_like, without_axes


class SameOrder(OperatorProperty):
    """The data's elements in order; assigning memory to itself costs nothing."""

    inplace = "data -> output"

    def forward(data: Array, output: Array) -> None:
        """Copy, or nothing where the memory is shared."""
        output[...] = data.reshape(output.shape)

    @gradient(inplace="output_grad -> data_grad")
    def data_grad(output_grad: Array, data_grad: Array) -> None:
        """`d/d data = output_grad`, in the shape of the data."""
        data_grad[...] = output_grad.reshape(data_grad.shape)

    def infer_shape_backward(
        self, in_shapes: Sequence[PartialShape], out_shapes: Sequence[PartialShape]
    ) -> list[PartialShape]:
        """The data has as many elements as the output, which gives an axis that is unknown alone."""
        (data,) = super().infer_shape_backward(in_shapes, out_shapes)
        return [as_many_elements(data, out_shapes[0])]


@operator("Reshape")
class Reshape(SameOrder):
    """The data in another shape.

    In `shape`, 0 keeps a length, -1 is what remains, -2 keeps all remaining lengths, -3 multiplies
    the next two, and -4 splits one into the two numbers that follow, of which one may be -1.

    Shapes:
        data: Any.
        output: As `shape` says.

    Example:
        >>> import operad as od
        >>> x = od.nd.array([[[1, 2], [3, 4], [5, 6]]])
        >>> od.nd.Reshape(x, shape=(0, -3)).shape, od.nd.Reshape(x, shape=(-4, 1, -1, -2)).shape
        ((1, 6), (1, 1, 3, 2))

    Source: InferReshapeShape, src/operator/tensor/matrix_op-inl.h.
    """

    shape = param("shape", (), doc="The shape, with MXNet's codes.")
    reverse = param(bool, False, doc="Read the codes from the last axis to the first.")
    target_shape = param("shape", (), doc="Older form: one length may be 0, and is what remains.")
    keep_highest = param(bool, False, doc="With `target_shape`: keep the first length.")
    spec = "data:(*S) -> output:(*reshaped(S, shape, reverse, target_shape, keep_highest))"
    functions: ClassVar = {"reshaped": reshaped}
    contract: ClassVar = Contract(
        params={
            "shape": [
                *[(), (-1,), (0, -1), (-1, 0), (-2,), (0, -2), (-3, -2), (1, -1, 1)],
                *[(-4, 1, -1, -2), (-4, -1, 1, -2), (-2, 1)],
            ]
        }
    )

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """Apply the codes to data without some lengths, too."""
        (data,), (output,), states = super().infer_shape(in_shapes)
        if output is None:
            output = partly_reshaped(data, self.shape, self.reverse)
        return [data], [output], states


@operator("Flatten")
class Flatten(SameOrder):
    """Each item of the data as one row.

    Shapes:
        data: (N, ...).
        output: (N, product of the other lengths).

    Example:
        >>> import operad as od
        >>> od.nd.Flatten(od.nd.array([[[1, 2], [3, 4]]])).asnumpy()
        array([[1., 2., 3., 4.]], dtype=float32)

    Source: Flatten, src/operator/tensor/matrix_op.cc.
    """

    spec = "data:(N, *S) -> output:(N, prod(S))"
    contract = Contract(reference=lambda data: data.reshape(data.shape[0], prod(data.shape[1:])))


def _expanded(shape: Shape, axis: int) -> Shape:
    position = normal_axis(axis, len(shape) + 1)
    return (*shape[:position], 1, *shape[position:])


@operator("expand_dims")
class expand_dims(LinkedAxes, SameOrder):
    """The data with a new axis of length 1.

    Shapes:
        data: Any.
        output: As data, with a 1 at `axis`.

    Example:
        >>> import operad as od
        >>> od.nd.expand_dims(od.nd.array([1, 2]), axis=-1).shape
        (2, 1)

    Source: expand_dims, src/operator/tensor/matrix_op.cc.
    """

    axis = param(int, doc="Position of the new axis in the output.")
    spec = "data:(*S) -> output:(*expanded(S, axis))"
    functions: ClassVar = {"expanded": _expanded}
    contract = Contract(reference=np.expand_dims)

    def added_axes(self) -> int:
        """The new one."""
        return 1

    def links(self, rank: int) -> Sequence[Link]:
        """The data's axes, and a 1 among them."""
        axes: list[Link] = [(axis, 1) for axis in range(rank)]
        axes.insert(normal_axis(self.axis, rank + 1), 1)
        return axes


def _squeezed(shape: Shape, axis: Shape | None) -> Shape:
    if axis is None:
        return tuple(length for length in shape if length != 1) or (1,)
    removed = {normal_axis(one, len(shape)) for one in axis}
    for one in removed:
        if shape[one] != 1:
            raise ShapeError(f"axis {one} of data {shape} has length {shape[one]}, expected 1")
    return tuple(length for position, length in enumerate(shape) if position not in removed) or (1,)


@operator("squeeze")
class squeeze(SameOrder):
    """The data without axes of length 1.

    Shapes:
        data: Any.
        output: As data, without the axes; (1,) where none would be left.

    Example:
        >>> import operad as od
        >>> x = od.nd.array([[[1], [2]]])
        >>> od.nd.squeeze(x).shape, od.nd.squeeze(x, axis=0).shape
        ((2,), (2, 1))

    Source: squeeze, src/operator/tensor/matrix_op.cc.
    """

    axis = param("shape", None, doc="Axes to remove, each of length 1; all such axes if None.")
    spec = "data:(*S) -> output:(*squeezed(S, axis))"
    functions: ClassVar = {"squeezed": _squeezed}
    contract = Contract(reference=without_axes)


def _partly(
    left: Shape,
    right: Shape,
    lhs_begin: int | None,
    lhs_end: int | None,
    rhs_begin: int | None,
    rhs_end: int | None,
) -> Shape:
    after = () if lhs_end is None else left[lhs_end:]
    out = (*left[: lhs_begin or 0], *right[rhs_begin:rhs_end], *after)
    if prod(out) != prod(left):
        raise ShapeError(
            f"lhs has shape {left}, {prod(left)} elements, expected {prod(out)} for the new shape {out}"
        )
    return out


@operator("reshape_like")
class reshape_like(OperatorProperty):
    """The data in the shape of another array, or with some axes taken from it.

    Shapes:
        lhs: Any.
        rhs: Its shape counts, not its values or their type.
        output: As rhs; with `lhs_begin` ... `rhs_end`, lhs with those axes replaced by those of rhs.

    Example:
        >>> import operad as od
        >>> od.nd.reshape_like(od.nd.array([1, 2, 3, 4]), od.nd.array([[0, 0], [0, 0]])).shape
        (2, 2)

    Source: reshape_like, src/operator/tensor/elemwise_unary_op_basic.cc.
    """

    lhs_begin = param(int, None, doc="First axis of lhs to replace.")
    lhs_end = param(int, None, doc="Axis of lhs after the last to replace.")
    rhs_begin = param(int, None, doc="First axis of rhs to take.")
    rhs_end = param(int, None, doc="Axis of rhs after the last to take.")
    spec = "lhs:(*L), rhs:any(*R) -> output:(*partly(L, R, lhs_begin, lhs_end, rhs_begin, rhs_end))"
    functions: ClassVar = {"partly": _partly}
    inplace = "lhs -> output"
    contract = Contract(reference=partly_like)

    def forward(lhs: Array, output: Array) -> None:
        """Copy, or nothing where the memory is shared."""
        output[...] = lhs.reshape(output.shape)

    @gradient(inplace="output_grad")
    def lhs_grad(output_grad: Array, lhs_grad: Array) -> None:
        """`d/d lhs = output_grad`, in the shape of lhs; rhs has none."""
        lhs_grad[...] = output_grad.reshape(lhs_grad.shape)
