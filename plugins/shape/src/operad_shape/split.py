"""Operators that cut the data into several outputs along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from operad_sdk import (
    Array,
    Contract,
    OperatorProperty,
    PartialShape,
    Shape,
    ShapeError,
    operator,
    param,
    unify_shapes,
)
from operad_shape.linked import Link, LinkedAxes
from operad_shape.rearrange import Arrays, normal_axis

_SQUEEZE_AXIS = param(bool, False, doc="Remove the axis from the outputs, whose length on it must be 1.")


def _bounds(number: int, length: int, sections: int, indices: Shape = ()) -> tuple[int, int]:
    """Begin and end of a part of an axis of `length`: one of `sections`, or from an index to the next.

    Sections are equal, but for the first ones, which share out what remains.
    """
    if sections:
        size, rest = divmod(length, sections)
        return number * size + min(number, rest), (number + 1) * size + min(number + 1, rest)
    edges = (*(indices or (0,)), length)
    if edges[0] != 0 or list(edges) != sorted(edges):
        raise ShapeError(
            f"{indices=} must begin with 0 and rise to at most {length}, the length of that axis of data"
        )
    return edges[number], edges[number + 1]


def _part(
    shape: Shape, number: int, axis: int, squeeze_axis: bool, sections: int, indices: Shape = ()
) -> Shape:
    """The shape of one part."""
    position = normal_axis(axis, len(shape))
    begin, end = _bounds(number, shape[position], sections, indices)
    if squeeze_axis and end - begin != 1:
        raise ShapeError(
            f"squeeze_axis needs parts of length 1, got {end - begin} on axis {position} of data {shape}"
        )
    length = () if squeeze_axis else (end - begin,)
    return (*shape[:position], *length, *shape[position + 1 :])


@lru_cache(maxsize=1024)
def _places(
    shape: Shape, count: int, axis: int, squeeze_axis: bool, sections: int, indices: Shape
) -> list[Any]:
    """The index of each part of an array."""
    lead = (slice(None),) * (axis % len(shape))
    bounds = [_bounds(number, shape[axis], sections, indices) for number in range(count)]
    return [(*lead, begin if squeeze_axis else slice(begin, end)) for begin, end in bounds]


def _fill(
    targets: Arrays, array: Array, axis: int, squeeze_axis: bool, sections: int, indices: Shape = ()
) -> None:
    """Write the parts of an array."""
    places = _places(array.shape, len(targets), axis, squeeze_axis, sections, indices)
    for target, place in zip(targets, places, strict=True):
        target[...] = array[place]


def _join(parts: Arrays, axis: int, squeeze_axis: bool, out: Array) -> None:
    (np.stack if squeeze_axis else np.concatenate)(parts, axis, out=out)


def _reference(
    data: Array, axis: int, squeeze_axis: bool, num_outputs: int = 0, sections: int = 0, indices: Shape = ()
) -> tuple[Array, ...]:
    parts = np.array_split(data, num_outputs or sections or indices[1:], axis)
    return tuple(part.squeeze(axis) for part in parts) if squeeze_axis else tuple(parts)


def _equal_part(shape: Shape, num_outputs: int, axis: int, squeeze_axis: bool) -> Shape:
    length = shape[normal_axis(axis, len(shape))]
    if length % num_outputs:
        raise ShapeError(
            f"the axis of data that is cut has length {length}, which has no {num_outputs} equal parts"
        )
    return _part(shape, 0, axis, squeeze_axis, num_outputs)


@operator("SliceChannel")
class SliceChannel(LinkedAxes):
    """Equal parts of the data along an axis.

    Shapes:
        data: Any; its length on `axis` is a multiple of `num_outputs`.
        output0, ...: As data, with that length divided by `num_outputs`.

    Example:
        >>> import operad as od
        >>> first, second = od.nd.split(od.nd.array([[1, 2, 3, 4]]), num_outputs=2)
        >>> second.asnumpy()
        array([[3., 4.]], dtype=float32)

    Source: SliceChannelParam, src/operator/slice_channel-inl.h.
    """

    num_outputs = param(int, ge=1, doc="Number of parts.")
    axis = param(int, 1, doc="The axis to cut.")
    squeeze_axis = _SQUEEZE_AXIS
    spec = "data:(*S) -> output[num_outputs]:(*part(S, num_outputs, axis, squeeze_axis))"
    functions: ClassVar = {"part": _equal_part}
    contract = Contract(reference=_reference)

    def added_axes(self) -> int:
        """One less, if it is squeezed out."""
        return -int(self.squeeze_axis)

    def links(self, rank: int) -> Sequence[Link]:
        """The data's axes, the one that is cut in equal parts."""
        position = normal_axis(self.axis, rank)
        axes: list[Link] = [(axis, self.num_outputs if axis == position else 1) for axis in range(rank)]
        return axes[:position] + axes[position + self.squeeze_axis :]

    def infer_shape_backward(
        self, in_shapes: Sequence[PartialShape], out_shapes: Sequence[PartialShape]
    ) -> list[PartialShape]:
        """Infer shapes from the outputs; an axis that is squeezed out is as long as there are outputs."""
        (data,) = super().infer_shape_backward(in_shapes, out_shapes)
        if data is not None and self.squeeze_axis:
            position = normal_axis(self.axis, len(data))
            cut = (*[None] * position, self.num_outputs, *[None] * (len(data) - position - 1))
            data = unify_shapes(data, cut, f"{self.name}: data")
        return [data]

    def forward(data: Array, num_outputs: int, axis: int, squeeze_axis: bool, output: Arrays) -> None:
        """Every part."""
        _fill(output, data, axis, squeeze_axis, num_outputs)

    def data_grad(output_grad: Arrays, axis: int, squeeze_axis: bool, data_grad: Array) -> None:
        """`d/d data`: the gradients of all parts, joined."""
        _join(output_grad, axis, squeeze_axis, data_grad)


@operator("_split_v2")
class split_v2(OperatorProperty):
    """Parts of the data along an axis, as equal as can be or between given indices.

    Shapes:
        data: Any.
        output0, ...: As data, with the parts' lengths on `axis`.

    Example:
        >>> import operad as od
        >>> parts = od.nd._split_v2(od.nd.array([1, 2, 3, 4, 5]), indices=(0, 1, 3), axis=0)
        >>> [part.shape for part in parts]
        [(1,), (2,), (2,)]

    Source: SplitParam, src/operator/tensor/matrix_op-inl.h.
    """

    indices = param("shape", doc="First index of each part; the first is 0.")
    axis = param(int, 1, doc="The axis to cut.")
    squeeze_axis = _SQUEEZE_AXIS
    sections = param(
        int, 0, ge=0, doc="Number of parts, instead of indices; the first are longer by 1 if need be."
    )
    spec = (
        "data:(*S) -> output[sections if sections > 0 else max(1, len(indices))]:"
        "(*part(S, i, axis, squeeze_axis, sections, indices))"
    )
    functions: ClassVar = {"part": _part}
    contract = Contract(reference=_reference)

    def forward(
        data: Array, indices: Shape, axis: int, squeeze_axis: bool, sections: int, output: Arrays
    ) -> None:
        """Every part."""
        _fill(output, data, axis, squeeze_axis, sections, indices)

    def data_grad(output_grad: Arrays, axis: int, squeeze_axis: bool, data_grad: Array) -> None:
        """`d/d data`: the gradients of all parts, joined."""
        _join(output_grad, axis, squeeze_axis, data_grad)
