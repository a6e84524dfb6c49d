"""Moving averages and momentum, in place."""

from __future__ import annotations

import numpy as np

from operad_sdk import Array


def move_average(average: Array, keep: float, value: Array, scratch: Array) -> None:
    """`average = keep * average + (1 - keep) * value`; `scratch` may be `value`."""
    np.multiply(average, keep, out=average)
    np.multiply(value, 1 - keep, out=scratch)
    np.add(average, scratch, out=average)


def move_square_average(average: Array, keep: float, value: Array, scratch: Array) -> None:
    """`average = keep * average + (1 - keep) * value ** 2`; `scratch` may be `value`."""
    np.multiply(average, keep, out=average)
    np.square(value, out=scratch)
    np.multiply(scratch, 1 - keep, out=scratch)
    np.add(average, scratch, out=average)
