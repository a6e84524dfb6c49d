"""Gates of both kinds at once, in the memory where they lie side by side.

A sigmoid is a `tanh` of half its argument: `1 / (1 + e^-x) = tanh(x / 2) / 2 + 1 / 2`. So where the rows of
weights and biases that belong to sigmoids are halved beforehand (which is exact), one `tanh` over all gates
does, then a product with 1/2 or 1 and a sum with 1/2 or 0. The slope is a product in both cases too:
`(1 - y) (y + 0)` of a sigmoid, `(1 - y) (y + 1)` of a `tanh`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, final

import numpy as np

from operad_sdk import Array, DType


@final
class Gates:
    """Activations of gates, some of which are sigmoids.

    Args:
        xp: The array module.
        are_sigmoids: One flag for each gate; the others are `tanh`.
        units: Of each gate.
    """

    def __init__(self, xp: Any, are_sigmoids: tuple[bool, ...], units: int, dtype: DType) -> None:
        rows = _rows if xp is np else _rows.__wrapped__  # a device keeps its own
        self.scale, self._shift, self._slope_shift = rows(xp, are_sigmoids, units, dtype)

    def halved(self, weight: Array) -> Array:
        """A matrix, or a bias, with the rows of sigmoids halved."""
        return weight * (self.scale if weight.ndim == 1 else self.scale[:, None])

    def activate(self, sums: Array) -> None:
        """Make the gates of their sums, (rows, gates), of which those of sigmoids are halved."""
        np.tanh(sums, out=sums)
        np.multiply(sums, self.scale, out=sums)
        np.add(sums, self._shift, out=sums)

    def multiply_slope(self, gates: Array, work: Array, grad: Array) -> None:
        """Multiply `grad` with the slopes at `gates`; `work` is scratch of the same shape."""
        np.add(gates, self._slope_shift, out=work)
        np.multiply(grad, work, out=grad)
        np.subtract(1, gates, out=work)
        np.multiply(grad, work, out=grad)


@lru_cache(maxsize=64)
def _rows(xp: Any, are_sigmoids: tuple[bool, ...], units: int, dtype: DType) -> tuple[Array, Array, Array]:
    """Scale and shift of all gates, and the shift in the slope; read alone."""

    def row(of_sigmoid: float, of_tanh: float) -> Array:
        values = [of_sigmoid if is_sigmoid else of_tanh for is_sigmoid in are_sigmoids]
        return np.repeat(xp.array(values, dtype), units)

    return row(0.5, 1), row(0.5, 0), row(0, 1)


def sigmoid(x: Any) -> Any:
    """`1 / (1 + e^-x)`, for vector code."""
    return 1 / (1 + np.exp(-x))
