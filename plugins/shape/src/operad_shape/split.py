"""Operators that cut the data into several outputs along an axis."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from operad.errors import ShapeError
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
from operad_shape.rearrange import is_complete, normal_axis


class Split(OperatorProperty):
    """Consecutive parts of the data along `axis`; `output0`, `output1`, ..."""

    axis = param(int, 1, doc="The axis to cut.")
    squeeze_axis = param(bool, False, doc="Remove the axis from the outputs, whose length on it must be 1.")

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> Any:
        """Every part's shape."""
        shape = in_shapes[0]
        if not is_complete(shape):
            return [shape], [None] * len(self.list_outputs()), []
        return [shape], self._part_shapes(shape), []  # type: ignore[arg-type]

    def _part_shapes(self, shape: Shape) -> list[Shape]:
        axis = normal_axis(self.name, self.axis, len(shape))
        before, after = shape[:axis], shape[axis + 1 :]
        lengths = [end - begin for begin, end in self.bounds(shape[axis])]
        if self.squeeze_axis:
            if set(lengths) - {1}:
                raise ShapeError(
                    f"{self.name}: squeeze_axis needs parts of length 1, got {lengths} on axis {axis} "
                    f"of data {shape}"
                )
            return [(*before, *after)] * len(lengths)
        return [(*before, length, *after) for length in lengths]

    def parts(self, array: Array) -> list[Array]:
        """The parts as views."""
        axis = self.axis % array.ndim
        lead = (slice(None),) * axis
        views = [array[(*lead, slice(begin, end))] for begin, end in self.bounds(array.shape[axis])]
        return [view.squeeze(axis) for view in views] if self.squeeze_axis else views

    def list_outputs(self) -> list[str]:
        """Numbered."""
        return [f"output{i}" for i in range(self.count())]

    @abstractmethod
    def count(self) -> int:
        """How many parts there are."""

    @abstractmethod
    def bounds(self, length: int) -> list[tuple[int, int]]:
        """Begin and end of every part of an axis of `length`."""

    def forward(self, data: Array, output: tuple[Output, ...]) -> None:
        """Copy every part."""
        for part, target in zip(self.parts(data), output, strict=True):
            target.assign(part)

    @gradient
    def data_gradient(self, output_grad: tuple[Array, ...], data_grad: Output) -> None:
        """Write every part."""
        with data_grad.writing() as grad:
            for part, value in zip(self.parts(grad), output_grad, strict=True):
                part[...] = value


def _equal_parts(data: Array, num_outputs: int, axis: int, squeeze_axis: bool) -> tuple[Array, ...]:
    parts = np.split(data, num_outputs, axis)
    return tuple(part.squeeze(axis) for part in parts) if squeeze_axis else tuple(parts)


def _parts(data: Array, indices: Shape, sections: int, axis: int, squeeze_axis: bool) -> tuple[Array, ...]:
    parts = np.split(data, sections or indices[1:], axis)
    return tuple(part.squeeze(axis) for part in parts) if squeeze_axis else tuple(parts)


@operator("SliceChannel")
class SliceChannel(Split):
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

    num_outputs = param(int, ge=1, doc="How many parts.")
    contract = Contract(reference=_equal_parts)

    def count(self) -> int:
        """As asked."""
        return int(self.num_outputs)

    def bounds(self, length: int) -> list[tuple[int, int]]:
        """Equal parts."""
        return equal_parts(self.name, length, self.num_outputs)


@operator("_split_v2")
class split_v2(Split):
    """Parts of the data along an axis, equal or between given indices.

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

    indices = param("shape", (), doc="Where each part begins; the first is 0.")
    axis = param(int, 1, doc="The axis to cut.")
    squeeze_axis = param(bool, False, doc="Remove the axis from the outputs, whose length on it must be 1.")
    sections = param(int, 0, ge=0, doc="Number of equal parts, instead of indices.")
    contract = Contract(reference=_parts)

    def count(self) -> int:
        """Sections, or one part for each index."""
        return self.sections or max(len(self.indices), 1)

    def bounds(self, length: int) -> list[tuple[int, int]]:
        """Equal parts, or from each index to the next."""
        if self.sections:
            return equal_parts(self.name, length, self.sections)
        begins = list(self.indices) or [0]
        ends = [*begins[1:], length]
        if begins[0] != 0 or any(begin > end for begin, end in zip(begins, ends, strict=True)):
            raise ShapeError(
                f"_split_v2: indices={self.indices} must begin with 0 and rise to at most {length}, "
                "the length of that axis of data"
            )
        return list(zip(begins, ends, strict=True))


def equal_parts(name: str, length: int, count: int) -> list[tuple[int, int]]:
    """Begin and end of `count` equal parts of `length`.

    Raises:
        ShapeError: The length is not a multiple.
    """
    if length % count:
        raise ShapeError(
            f"{name}: the axis of data that is cut has length {length}, which has no {count} equal parts"
        )
    size = length // count
    return [(i * size, (i + 1) * size) for i in range(count)]
