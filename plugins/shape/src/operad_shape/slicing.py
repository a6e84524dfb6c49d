"""Operators that take, or replace, a part of the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from operad.dtypes import DType
from operad.errors import ShapeError
from operad.operator import InferredTypes
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
from operad_shape.rearrange import Rearranged, expect_number, is_complete, normal_axis
from operad_shape.references import contract_of_part, leading_part, part, with_number, with_part

Slices = tuple[slice, ...]


def sliced_shape(shape: Shape, slices: Slices) -> Shape:
    """The shape of an array of `shape` indexed with `slices`."""
    lengths = [len(range(*s.indices(length))) for s, length in zip(slices, shape, strict=False)]
    return (*lengths, *shape[len(lengths) :])


class Part(OperatorProperty):
    """An operator on a part given by `begin`, `end` and `step`."""

    begin = param("indices", doc="First index on each leading axis; None: the beginning.")
    end = param("indices", doc="Index after the last on each leading axis; None: the end.")
    step = param("indices", (), doc="Step on each leading axis; None: 1.")
    contract = contract_of_part(part)

    def slices(self, shape: Shape) -> Slices:
        """The part as Python slices, one for each leading axis.

        Raises:
            ShapeError: `begin`, `end` and `step` differ in length, or name more axes than there are.
        """
        step = self.step or (None,) * len(self.begin)
        if not len(self.begin) == len(self.end) == len(step) <= len(shape):
            raise ShapeError(
                f"{self.name}: begin={self.begin}, end={self.end} and step={self.step} must be equally long, "
                f"and at most the {len(shape)} axes of data {shape}"
            )
        if 0 in step:
            raise ShapeError(f"{self.name}: step={self.step} has a 0")
        return tuple(map(slice, self.begin, self.end, step))

    def part(self, array: Array) -> Array:
        """The part, as a view."""
        return array[self.slices(array.shape)]


@operator("slice")
class slice_(Part, Rearranged):
    """A part of the data, by begin, end and step on the leading axes.

    Shapes:
        data: Any.
        output: The lengths of the part.

    Example:
        >>> import operad as od
        >>> od.nd.slice(od.nd.array([[1, 2, 3], [4, 5, 6]]), begin=(0, 1), end=(None, 3)).asnumpy()
        array([[2., 3.],
               [5., 6.]], dtype=float32)

    Source: SliceParam, src/operator/tensor/slice-inl.h. Differs: indices outside the data are
    clamped, as Python does.
    """

    is_bijective = False

    def out_shape(self, shape: Shape) -> Shape:
        """The part's shape."""
        return sliced_shape(shape, self.slices(shape))

    def view(self, array: Array) -> Array:
        """The part."""
        return self.part(array)


@operator("slice_axis")
class slice_axis(Rearranged):
    """A part of the data along one axis.

    Shapes:
        data: Any.
        output: As data, shorter on `axis`.

    Example:
        >>> import operad as od
        >>> od.nd.slice_axis(od.nd.array([[1, 2, 3]]), axis=1, begin=-2, end=None).asnumpy()
        array([[2., 3.]], dtype=float32)

    Source: SliceAxisParam, src/operator/tensor/matrix_op-inl.h.
    """

    is_bijective = False
    axis = param(int, doc="The axis.")
    begin = param(int, doc="First index; negative counts from the end.")
    end = param(int, None, doc="Index after the last; None: the end.")
    contract = Contract(
        reference=lambda data, axis, begin, end: data.swapaxes(0, axis)[begin:end].swapaxes(0, axis)
    )

    def _slices(self, shape: Shape) -> Slices:
        axis = normal_axis("slice_axis", self.axis, len(shape))
        return (slice(None),) * axis + (slice(self.begin, self.end),)

    def out_shape(self, shape: Shape) -> Shape:
        """Shorter on the axis."""
        return sliced_shape(shape, self._slices(shape))

    def view(self, array: Array) -> Array:
        """The part."""
        return array[self._slices(array.shape)]


@operator("slice_like")
class slice_like(OperatorProperty):
    """The leading part of the data that has another array's lengths.

    Shapes:
        data: Any.
        shape_like: Its shape counts, not its values; at most as long on each axis that counts.
        output: shape_like's lengths on `axes`, or on all its axes.

    Example:
        >>> import operad as od
        >>> od.nd.slice_like(od.nd.array([[1, 2, 3], [4, 5, 6]]), od.nd.array([[0, 0]])).asnumpy()
        array([[1., 2.]], dtype=float32)

    Source: SliceLikeParam, src/operator/tensor/matrix_op-inl.h.
    """

    axes = param("shape", (), doc="Axes whose length counts; all of shape_like's if empty.")
    contract = Contract(reference=leading_part)

    def list_arguments(self) -> list[str]:
        """Two."""
        return ["data", "shape_like"]

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> Any:
        """Needs both shapes."""
        data, like = in_shapes
        if not (is_complete(data) and is_complete(like)):
            return list(in_shapes), [None], []
        assert data is not None
        assert like is not None
        out: list[Any] = list(data)
        axes = [normal_axis("slice_like", axis, len(data)) for axis in self.axes] or range(len(like))
        if max(axes, default=-1) >= min(len(data), len(like)):
            raise ShapeError(
                f"slice_like: data {data} and shape_like {like} do not both have axes {tuple(axes)}"
            )
        for axis in axes:
            if like[axis] > data[axis]:  # type: ignore[operator]
                raise ShapeError(
                    f"slice_like: axis {axis} of shape_like {like} is longer than that of data {data}"
                )
            out[axis] = like[axis]
        return list(in_shapes), [tuple(out)], []

    def forward(self, data: Array, output: Output) -> None:
        """Copy the part."""
        output.assign(data[tuple(map(slice, output.shape))])

    @gradient
    def data_gradient(self, output_grad: Array, data_grad: Output) -> None:
        """Write the part; the rest is zero. shape_like has no gradient."""
        with data_grad.writing() as grad:
            grad[...] = 0
            grad[tuple(map(slice, output_grad.shape))] = output_grad


@operator("_slice_assign")
class slice_assign(Part):
    """A copy of lhs with a part replaced by rhs: `lhs[begin:end:step] = rhs`.

    Shapes:
        lhs: Any.
        rhs: The part's shape.
        output: As lhs.

    Example:
        >>> import operad as od
        >>> lhs, rhs = od.nd.array([1, 2, 3]), od.nd.array([9])
        >>> od.nd._slice_assign(lhs, rhs, begin=(1,), end=(2,)).asnumpy()
        array([1., 9., 3.], dtype=float32)

    Source: _slice_assign, src/operator/tensor/matrix_op.cc.
    """

    contract = contract_of_part(with_part)
    forward_inplace = (("lhs", "output"),)

    def list_arguments(self) -> list[str]:
        """Two."""
        return ["lhs", "rhs"]

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> Any:
        """Of rhs from lhs; the output is as lhs."""
        left, right = in_shapes
        if not is_complete(left):
            return [left, right], [left], []
        part = sliced_shape(left, self.slices(left))  # type: ignore[arg-type]
        if is_complete(right) and right != part:
            raise ShapeError(f"_slice_assign: rhs has shape {right}, expected {part}, the part of lhs {left}")
        return [left, part], [left], []

    def forward(self, lhs: Array, rhs: Array, output: Output) -> None:
        """Copy, then replace."""
        with output.writing() as out:
            if out is not lhs:
                out[...] = lhs
            self.part(out)[...] = rhs

    @gradient
    def lhs_gradient(self, output_grad: Array, lhs_grad: Output) -> None:
        """Zero where the part was replaced."""
        with lhs_grad.writing() as grad:
            grad[...] = output_grad
            self.part(grad)[...] = 0

    @gradient
    def rhs_gradient(self, output_grad: Array, rhs_grad: Output) -> None:
        """The part."""
        rhs_grad.assign(self.part(output_grad))


@operator("_slice_assign_scalar")
class slice_assign_scalar(Part):
    """A copy of the data with a part set to a number: `data[begin:end:step] = scalar`.

    Shapes:
        data: Any.
        output: As data.

    Example:
        >>> import operad as od
        >>> od.nd._slice_assign_scalar(od.nd.array([1, 2, 3]), scalar=7, begin=(0,), end=(2,)).asnumpy()
        array([7., 7., 3.], dtype=float32)

    Source: _slice_assign_scalar, src/operator/tensor/matrix_op.cc.
    """

    scalar = param(float, 0.0, doc="The number.")
    contract = contract_of_part(with_number)
    forward_inplace = (("data", "output"),)

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> Any:
        """The output is as the data, which must have the part."""
        shape = in_shapes[0]
        if is_complete(shape):
            self.slices(shape)  # type: ignore[arg-type]
        return [shape], [shape], []

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """The data's; the number must be of that type."""
        expect_number(self.name, in_types[0], scalar=self.scalar)
        return super().infer_type(in_types)

    def forward(self, data: Array, output: Output) -> None:
        """Copy, then set."""
        with output.writing() as out:
            if out is not data:
                out[...] = data
            self.part(out)[...] = self.scalar

    @gradient(inplace=[("output_grad", "data_grad")])
    def data_gradient(self, output_grad: Array, data_grad: Output) -> None:
        """Zero where the part was set."""
        with data_grad.writing() as grad:
            if grad is not output_grad:
                grad[...] = output_grad
            self.part(grad)[...] = 0
