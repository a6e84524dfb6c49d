"""`_ravel_multi_index` and `_unravel_index`: coordinates as one number, and back.

Coordinates stand in columns, one row for each axis. The first length takes no part, and may be unknown
(-1); numbers beyond the shape are computed like any. Fractions are cut off.
"""

from __future__ import annotations

from math import prod
from typing import Any, Final

import numpy as np

from operad_indexing.positions import whole
from operad_sdk import Array, Contract, Integers, OperatorProperty, ParamError, Shape, operator, param

_SHAPE: Final[Any] = param("shape", None, doc="Lengths of the axes; the first may be -1.")
_SHAPES: Final = {"shape": [(4, 5), (3,), (-1, 2), (2, 3, 4)]}


class _OfShape(OperatorProperty):
    """Base class of the two operators."""

    shape = _SHAPE

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        if self.shape is None or not self.shape or 0 in self.shape[1:]:
            raise ParamError(
                f"{self.name}: shape is {self.shape}, expected lengths, of which the first may be -1"
            )

    @property
    def axes(self) -> int:
        """Number of coordinates of a point."""
        return len(self.shape)


def _store(output: Array, value: Array) -> None:
    with np.errstate(over="ignore"):
        output[...] = value


@operator("_ravel_multi_index")
class ravel_multi_index(_OfShape):
    """The number of each point: its last coordinate, plus the one before times the last length, and so on.

    Shapes:
        data: (axes, ...), one column for each point.
        output: (...)

    Example:
        >>> import operad as od
        >>> od.nd.ravel_multi_index(od.nd.array([[0, 1, 3], [2, 0, 4]]), shape=(4, 5)).asnumpy()
        array([ 2.,  5., 19.], dtype=float32)

    Source: RavelParam, src/operator/tensor/ravel.h.
    """

    spec = "data:(axes, *I) -> output:(*I)"
    accepts = "number"
    contract = Contract(
        inputs={"data": Integers(0, 2)},
        params=_SHAPES,
        reference=lambda data, shape: np.tensordot(
            [prod(shape[axis + 1 :]) for axis in range(len(shape))], np.trunc(data), 1
        ),
    )

    def forward(data: Array, shape: Shape, output: Array) -> None:
        """Compute flat indices by Horner's rule."""
        number = whole(data[0])
        for length, row in zip(shape[1:], data[1:], strict=True):
            number = number * length + whole(row)
        _store(output, number)


@operator("_unravel_index")
class unravel_index(_OfShape):
    """The coordinates of each point, from its number.

    Shapes:
        data: (...)
        output: (axes, ...), one column for each point.

    Example:
        >>> import operad as od
        >>> od.nd.unravel_index(od.nd.array([2, 5, 19]), shape=(4, 5)).asnumpy()
        array([[0., 1., 3.],
               [2., 0., 4.]], dtype=float32)

    Source: RavelParam, src/operator/tensor/ravel.h.
    """

    spec = "data:(*I) -> output:(axes, *I)"
    accepts = "number"
    contract = Contract(
        inputs={"data": Integers(0, 23)},
        params=_SHAPES,
        reference=lambda data, shape: np.stack(
            [
                np.floor(data / prod(shape[axis + 1 :])) % (shape[axis] if axis else np.inf)
                for axis in range(len(shape))
            ]
        ),
    )

    def forward(data: Array, shape: Shape, output: Array) -> None:
        """The last coordinate is what division by the last length leaves, with its sign as in C."""
        number = whole(data)
        for axis in range(len(shape) - 1, 0, -1):
            rest = np.fmod(number, shape[axis])
            _store(output[axis, ...], rest)
            # mutant: /: equivalent, because it divides without rest
            number = (number - rest) // shape[axis]
        _store(output[0, ...], number)
