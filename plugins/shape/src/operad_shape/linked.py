"""Inference with unknown axes, where each axis of the output comes from one of the data."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from math import prod

from operad_sdk import InferredShapes, OperatorProperty, PartialShape, unify_shapes

Link = tuple[int, int] | int | None
"""Link of an output's axis: an axis of the data and how often the output's length goes into it, a
length of its own, or nothing that a shape with unknown axes would tell."""


class LinkedAxes(OperatorProperty):
    """An operator of one input whose shapes are inferred axis by axis where some are unknown.

    With every axis known its shape line decides.
    """

    def added_axes(self) -> int:
        """Number of axes of the outputs beyond those of the data."""
        return 0

    @abstractmethod
    def links(self, rank: int) -> Sequence[Link]:
        """Link of each axis of an output, for data of `rank` axes."""

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """The outputs' shapes, as far as the data's says."""
        inputs, outputs, states = super().infer_shape(in_shapes)
        (data,) = in_shapes
        if data is not None and None in data:
            outputs = [tuple(_length(link, data) for link in self.links(len(data)))] * len(outputs)
        return inputs, outputs, states

    def infer_shape_backward(
        self, in_shapes: Sequence[PartialShape], out_shapes: Sequence[PartialShape]
    ) -> list[PartialShape]:
        """The data's shape, as far as the outputs' say."""
        (data,) = in_shapes
        for shape in out_shapes:
            if shape is not None and len(shape) >= self.added_axes():
                data = unify_shapes(data, self._data_of(shape), f"{self.name}: data")
        return [data]

    def _data_of(self, output: tuple[int | None, ...]) -> PartialShape:
        lengths: list[int | None] = [None] * (len(output) - self.added_axes())
        for link, length in zip(self.links(len(lengths)), output, strict=True):
            if isinstance(link, tuple) and length is not None:
                lengths[link[0]] = length * link[1]
        return tuple(lengths)


def _length(link: Link, data: tuple[int | None, ...]) -> int | None:
    if not isinstance(link, tuple):
        return link
    length = data[link[0]]
    return None if length is None else length // link[1]


def as_many_elements(data: PartialShape, output: PartialShape) -> PartialShape:
    """The shape of data that has as many elements as the output, where one axis is unknown."""
    if data is None or output is None or None in output or data.count(None) != 1:
        return data
    known = prod(length for length in data if length is not None)
    size = prod(length for length in output if length is not None)
    if known == 0 or size % known:
        return data  # going forward, the operator says what does not fit
    return tuple(size // known if length is None else length for length in data)
