"""What operators that only move elements have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from operad.dtypes import DType
from operad.errors import DTypeError, ShapeError
from operad_sdk import Array, OperatorProperty, Output, PartialShape, Shape, gradient


class Rearranged(OperatorProperty):
    """An operator whose output is a view of its input, copied into memory of its own.

    A view that can be taken of the data can be taken of the data's gradient, so writing through it
    is the gradient.

    Attributes:
        is_bijective: Whether every element of the data appears in the view, once.
    """

    is_bijective: ClassVar[bool] = True

    @abstractmethod
    def out_shape(self, shape: Shape) -> Shape:
        """The output's shape for data of `shape`."""

    @abstractmethod
    def view(self, array: Array) -> Array:
        """The view, of the data or of its gradient."""

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> Any:
        """The output's shape once the data's is known."""
        shape = in_shapes[0]
        return list(in_shapes), [self.out_shape(shape) if is_complete(shape) else None], []  # type: ignore[arg-type]

    def forward(self, data: Array, output: Output) -> None:
        """Copy the view."""
        output.assign(self.view(data))

    @gradient
    def data_gradient(self, output_grad: Array, data_grad: Output) -> None:
        """Write through the view."""
        with data_grad.writing() as grad:
            if not self.is_bijective:
                grad[...] = 0
            self.view(grad)[...] = output_grad


def is_complete(shape: PartialShape) -> bool:
    """Whether every length is known."""
    return shape is not None and None not in shape


def expect_number(name: str, dtype: DType | None, **number: float) -> None:
    """Refuse a parameter that is beyond what an element type holds.

    Raises:
        DTypeError: `number`, a parameter's name and value, is too large, too small, or no number.
    """
    if dtype is None or dtype.kind not in "iu":
        return
    limits = np.iinfo(dtype)
    for parameter, value in number.items():
        if not limits.min <= value <= limits.max:
            raise DTypeError(
                f"{name}: {parameter} is {value}, and data is {dtype}, from {limits.min} to {limits.max}"
            )


def normal_axis(name: str, axis: int, ndim: int) -> int:
    """`axis` counted from the front.

    Raises:
        ShapeError: There is no such axis.
    """
    if not -ndim <= axis < ndim:
        raise ShapeError(f"{name}: axis {axis} is out of range for data of {ndim} axes")
    return axis % ndim
