"""What reductions along axes have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from operad.dtypes import DType
from operad.errors import DTypeError, ShapeError
from operad.operator import InferredShapes
from operad_sdk import Array, OperatorProperty, PartialShape, Shape, param


class Reduction(OperatorProperty):
    """An operator whose output has one element for each place along the axes that are kept.

    Attributes:
        exclude: Whether `axis` names the axes that are kept; a parameter of some.
    """

    axis = param("shape", None, doc="The axes to reduce; all of them if left out or ().")
    keepdims = param(bool, False, doc="Keep reduced axes, with length 1.")
    exclude: bool = False

    def reduced_axes(self, ndim: int) -> tuple[int, ...]:
        """The axes that are reduced, ascending.

        Raises:
            ShapeError: `axis` names one twice, or one that is not there.
        """
        named = normal_axes(self.name, self.axis or (), ndim)
        if self.exclude and named:
            return tuple(axis for axis in range(ndim) if axis not in named)
        return named or tuple(range(ndim))

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """All outputs are alike."""
        shape = in_shapes[0]
        out = None if shape is None else self.out_shape(shape)
        return [shape], [out] * len(self.list_outputs()), []

    def out_shape(self, shape: Sequence[int | None]) -> tuple[int | None, ...]:
        """The output's shape; (1,) where no axis is left."""
        axes = self.reduced_axes(len(shape))
        if self.keepdims:
            return tuple(1 if axis in axes else length for axis, length in enumerate(shape))
        return tuple(length for axis, length in enumerate(shape) if axis not in axes) or (1,)

    def expanded(self, array: Array, ndim: int) -> Array:
        """A view of an output, or of its gradient, that broadcasts to data of `ndim` axes."""
        if self.keepdims:
            return array
        axes = self.reduced_axes(ndim)
        if len(axes) == ndim:
            return array[(None,) * (ndim - 1)] if ndim else array[0, ...]
        return array[tuple(None if axis in axes else slice(None) for axis in range(ndim))]

    def count(self, shape: Shape) -> int:
        """How many elements become one."""
        return prod(shape[axis] for axis in self.reduced_axes(len(shape)))


def by_rows(function: Callable[[Array], Array]) -> Callable[..., Array]:
    """What the contract checks compare with: a function of rows, whose last axis it reduces.

    Args:
        function: Called with (rows, elements that become one).
    """

    def reference(data: Array, axis: Any, keepdims: bool, exclude: bool = False) -> Array:
        named = [one % data.ndim for one in axis or range(data.ndim)]
        kept = [one for one in range(data.ndim) if (one in named) == (exclude and bool(axis))]
        gone = [one for one in range(data.ndim) if one not in kept]
        lengths = [data.shape[one] for one in kept]
        count = prod(data.shape[one] for one in gone)
        values = function(data.transpose(*kept, *gone).reshape(prod(lengths), count))
        if keepdims:
            return values.reshape([length if one in kept else 1 for one, length in enumerate(data.shape)])
        return values.reshape(lengths or 1)

    return reference


def normal_axes(name: str, axes: Sequence[int], ndim: int) -> tuple[int, ...]:
    """`axes` counted from the front, ascending.

    Raises:
        ShapeError: One of them is not there, or there twice.
    """
    for axis in axes:
        if not -ndim <= axis < ndim:
            raise ShapeError(f"{name}: data has {ndim} axes, expected axis {axis} to be one of them")
    found = tuple(sorted(axis % ndim for axis in axes))
    if len(set(found)) != len(found):
        raise ShapeError(f"{name}: axis is {tuple(axes)}, expected no axis twice")
    return found


def sum_type(dtype: DType) -> Any:
    """The type in which sums are formed: single precision for half, else the same."""
    return np.float32 if dtype == np.float16 else dtype


def widened(array: Array) -> Array:
    """`array`, in single precision if it is half."""
    return array.astype(np.float32) if array.dtype == np.float16 else array


def check_number(operator: str, in_types: Sequence[DType | None]) -> None:
    """Refuse truth values.

    Raises:
        DTypeError: The data is of type bool.
    """
    if in_types[0] is not None and in_types[0].kind == "b":
        raise DTypeError(f"{operator}: data is bool, expected a number type; cast with astype")
