"""Operators that take, or replace, a part of the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from operad_sdk import Array, Contract, OperatorProperty, Shape, ShapeError, gradient, operator, param
from operad_shape.linked import Link, LinkedAxes
from operad_shape.rearrange import normal_axis
from operad_shape.references import contract_of_part, leading_part, part, with_number, with_part

Indices = Sequence[int | None]
Slices = tuple[slice, ...]


def _slices(begin: Indices, end: Indices, step: Indices) -> Slices:
    """The part as Python slices, one for each leading axis."""
    return tuple(map(slice, begin, end, step or (None,) * len(begin)))


def _part_shape(shape: Shape, begin: Indices, end: Indices, step: Indices) -> Shape:
    if not len(begin) == len(end) == len(step or begin) <= len(shape):
        raise ShapeError(
            f"{begin=}, {end=} and {step=} must be equally long, and at most the {len(shape)} axes of data "
            f"{shape}"
        )
    if 0 in step:
        raise ShapeError(f"{step=} has a 0")
    lengths = [len(range(n)[cut]) for cut, n in zip(_slices(begin, end, step), shape, strict=False)]
    return (*lengths, *shape[len(lengths) :])


def _whole(slices: Slices, rank: int) -> list[Link]:
    """Links of the axes that the slices of the leading ones take whole."""
    every = [*slices, *[slice(None)] * (rank - len(slices))]
    is_whole = [not cut.start and cut.stop is None and cut.step in (None, 1) for cut in every]
    return [(axis, 1) if whole else None for axis, whole in enumerate(is_whole)]


def _write_part(output_grad: Array, slices: Slices, data_grad: Array) -> None:
    """The gradient of a part: that of the output there, and 0 elsewhere."""
    data_grad[...] = 0
    data_grad[slices] = output_grad


_BEGIN = param("indices", doc="First index on each leading axis; None: the beginning.")
_END = param("indices", doc="Index after the last on each leading axis; None: the end.")
_STEP = param("indices", (), doc="Step on each leading axis; None: 1.")


@operator("slice")
class slice_(LinkedAxes):
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

    begin, end, step = _BEGIN, _END, _STEP
    spec = "data:(*S) -> output:(*part(S, begin, end, step))"
    functions: ClassVar = {"part": _part_shape}
    contract = contract_of_part(part)

    def links(self, rank: int) -> Sequence[Link]:
        """The axes that are taken whole."""
        _part_shape((0,) * rank, self.begin, self.end, self.step)  # refuses what does not fit the rank
        return _whole(_slices(self.begin, self.end, self.step), rank)

    def forward(data: Array, begin: Indices, end: Indices, step: Indices) -> Array:
        """The part."""
        return data[_slices(begin, end, step)]

    def data_grad(output_grad: Array, begin: Indices, end: Indices, step: Indices, data_grad: Array) -> None:
        """`d/d data` is `output_grad` in the part, and else 0."""
        _write_part(output_grad, _slices(begin, end, step), data_grad)


def _along(axis: int, ndim: int, begin: int, end: int | None) -> Slices:
    return (slice(None),) * normal_axis(axis, ndim) + (slice(begin, end),)


def _cut(shape: Shape, axis: int, begin: int, end: int | None) -> Shape:
    slices = _along(axis, len(shape), begin, end)
    position = len(slices) - 1
    return (*shape[:position], len(range(shape[position])[begin:end]), *shape[position + 1 :])


@operator("slice_axis")
class slice_axis(LinkedAxes):
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

    axis = param(int, doc="The axis.")
    begin = param(int, doc="First index; negative counts from the end.")
    end = param(int, optional=True, doc="Index after the last; None: the end.")
    spec = "data:(*S) -> output:(*cut(S, axis, begin, end))"
    functions: ClassVar = {"cut": _cut}
    contract = Contract(
        reference=lambda data, axis, begin, end: data.swapaxes(0, axis)[begin:end].swapaxes(0, axis)
    )

    def links(self, rank: int) -> Sequence[Link]:
        """Every axis but the one that is cut, unless it is taken whole."""
        return _whole(_along(self.axis, rank, self.begin, self.end), rank)

    def forward(data: Array, axis: int, begin: int, end: int | None) -> Array:
        """The part."""
        return data[_along(axis, data.ndim, begin, end)]

    def data_grad(output_grad: Array, axis: int, begin: int, end: int | None, data_grad: Array) -> None:
        """`d/d data` is `output_grad` in the part, and else 0."""
        _write_part(output_grad, _along(axis, data_grad.ndim, begin, end), data_grad)


def _leading(data: Shape, like: Shape, axes: Shape) -> Shape:
    if not axes and len(data) != len(like):
        raise ShapeError(
            f"shape_like has shape {like}, expected {len(data)} axes as in data {data}; or give axes"
        )
    named = [normal_axis(axis, len(data)) for axis in axes] or range(len(like))
    # mutant: 1 becomes 2: equivalent, because without axes any number below 0 will do
    if max(named, default=-1) >= min(len(data), len(like)):
        raise ShapeError(f"data {data} and shape_like {like} do not both have axes {tuple(named)}")
    for axis in named:
        if like[axis] > data[axis]:
            raise ShapeError(f"axis {axis} of shape_like {like} is longer than that of data {data}")
    return tuple(like[axis] if axis in named else length for axis, length in enumerate(data))


@operator("slice_like")
class slice_like(OperatorProperty):
    """The leading part of the data that has another array's lengths.

    Shapes:
        data: Any.
        shape_like: Its shape counts, not its values or their type; at most as long on each axis that counts.
        output: shape_like's lengths on `axes`, or on all its axes.

    Example:
        >>> import operad as od
        >>> od.nd.slice_like(od.nd.array([[1, 2, 3], [4, 5, 6]]), od.nd.array([[0, 0]])).asnumpy()
        array([[1., 2.]], dtype=float32)

    Source: SliceLikeParam, src/operator/tensor/matrix_op-inl.h.
    """

    axes = param("shape", (), doc="Axes whose length counts; all of shape_like's if empty.")
    spec = "data:(*S), shape_like:any(*L) -> output:(*leading(S, L, axes))"
    functions: ClassVar = {"leading": _leading}
    contract = Contract(reference=leading_part)

    def forward(data: Array, output: Array) -> None:
        """Copy the part."""
        output[...] = data[tuple(map(slice, output.shape))]

    def data_grad(output_grad: Array, data_grad: Array) -> None:
        """`d/d data` is `output_grad` in the part, and else 0; shape_like has no gradient."""
        _write_part(output_grad, tuple(map(slice, output_grad.shape)), data_grad)


@operator("_slice_assign")
class slice_assign(OperatorProperty):
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

    begin, end, step = _BEGIN, _END, _STEP
    spec = "lhs:(*S), rhs:(*part(S, begin, end, step)) -> output:(*S)"
    functions: ClassVar = {"part": _part_shape}
    inplace = "lhs -> output"
    contract = contract_of_part(with_part)

    def forward(lhs: Array, rhs: Array, begin: Indices, end: Indices, step: Indices, output: Array) -> None:
        """Copy, then replace."""
        output[...] = lhs
        output[_slices(begin, end, step)] = rhs

    def lhs_grad(output_grad: Array, begin: Indices, end: Indices, step: Indices, lhs_grad: Array) -> None:
        """`d/d lhs = output_grad`, and 0 where the part was replaced."""
        lhs_grad[...] = output_grad
        lhs_grad[_slices(begin, end, step)] = 0

    def rhs_grad(output_grad: Array, begin: Indices, end: Indices, step: Indices) -> Array:
        """`d/d rhs`: the part of `output_grad`."""
        return output_grad[_slices(begin, end, step)]


def _with_part(shape: Shape, begin: Indices, end: Indices, step: Indices) -> Shape:
    _part_shape(shape, begin, end, step)
    return shape


@operator("_slice_assign_scalar")
class slice_assign_scalar(OperatorProperty):
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
    begin, end, step = _BEGIN, _END, _STEP
    spec = "data:(*S) -> output:(*with_part(S, begin, end, step))"
    functions: ClassVar = {"with_part": _with_part}
    inplace = "data -> output"
    contract = contract_of_part(with_number)

    def forward(
        data: Array, scalar: float, begin: Indices, end: Indices, step: Indices, output: Array
    ) -> None:
        """Copy, then set."""
        output[...] = data
        output[_slices(begin, end, step)] = scalar

    @gradient(inplace="output_grad")
    def data_grad(output_grad: Array, begin: Indices, end: Indices, step: Indices, data_grad: Array) -> None:
        """`d/d data = output_grad`, and 0 where the part was set."""
        data_grad[...] = output_grad
        data_grad[_slices(begin, end, step)] = 0
