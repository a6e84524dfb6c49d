"""Sorts of elements of a planned case.

The lattice of a domain shows ties, kinks and integers, and its sums are exact. What a computation
does to digits, and at the ends of a type, shows only on values that have digits and stand there.
An argument of which nothing is declared takes values of every size; a declared interval, those near
its ends; integers and places, few of those that their domain draws; any other domain draws for itself.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from operad.dtypes import DType
from operad.operator import Shape
from operad_sdk.domains import Real

Array = npt.NDArray[Any]

_TIES: Final = (-1.0, 0.0, 1.0, 1.0, 2.0)
_OFTEN: Final = 0.875
"""The share of one value where few others stand beside it."""
_NEAR_LARGEST: Final = 0.9
"""The power of the largest number near which magnitudes are large: a product with 16 does not overflow."""
_OFFSET: Final = 1000.0
"""A mean that is large beside the spread, which is 1."""


class Values(Enum):
    """Ways to choose elements; the value is what reports call it."""

    LATTICE = "multiples of 1/8"
    DIGITS = "numbers with all their digits"
    POSITIVE = "positive numbers, whose sums grow"
    DOZENS = "positive numbers from 16 to 64"
    TAILS = "magnitudes from 4 to 1,000, or 128 in half precision"
    SMALL = "small magnitudes, which vanish beside 1"
    ABOVE = "magnitudes from 128 to 16,000"
    LARGE = "magnitudes from 1,000 to those from which on all numbers are whole"
    OFFSET = "a large mean and a small spread"
    HUGE = "magnitudes near the largest"
    TINY = "magnitudes around the smallest"
    MIXED = "a row near the largest magnitudes, one of zeros, and ordinary ones"
    TIES = "few values, each several times"
    CONSTANT = "one value everywhere"
    MULTIPLES = "rows that are multiples of one: equal ones, zeros, a matrix of rank 1"
    ZEROS = "zeros"
    COUNTED = "rows with one zero, with one other number, with two zeros and so on"
    FAR = "equal largest numbers far apart, and equal smallest ones"

    def draw(self, rng: np.random.Generator, shape: Shape, dtype: DType) -> Array:
        """Elements for an argument of which nothing is declared."""
        if dtype.kind == "b":
            return np.asarray(rng.random(shape) < _share_of_true(self, rng))
        if dtype.kind in "iu":
            return _whole(self, rng, shape, dtype)
        sign = rng.choice((-1.0, 1.0), shape)
        if self is Values.TAILS:
            return np.asarray(sign * 2 ** rng.uniform(2, 7 if dtype.itemsize == 2 else 10, shape))
        if self is Values.LARGE:
            return np.asarray(sign * 2 ** rng.uniform(10, np.finfo(dtype).nmant, shape))
        if self is Values.ABOVE:
            return np.asarray(sign * 2 ** rng.uniform(7, 14, shape))
        if self is Values.SMALL:
            return np.asarray(sign * 2 ** rng.uniform(-1, 0, shape) * 2.0 ** -rng.integers(12, 20))
        if self is Values.OFFSET:
            return np.asarray(_OFFSET + rng.uniform(-1, 1, shape))
        if self is Values.POSITIVE:
            return np.asarray(rng.uniform(0.25, 2.0, shape))
        if self is Values.DOZENS:
            return np.asarray(rng.uniform(16, 64, shape))
        if self is Values.HUGE:
            largest = float(np.finfo(dtype).max) ** _NEAR_LARGEST
            return np.asarray(sign * largest * rng.uniform(0.125, 0.5, shape))
        if self is Values.MIXED and len(shape) > 1:
            found = rng.uniform(-2.0, 2.0, shape)
            found[:1] = Values.HUGE.draw(rng, found[:1].shape, dtype)
            found[1:2] = 0.0
            return found
        if self is Values.TINY:
            return np.asarray(sign * float(np.finfo(dtype).smallest_normal) * rng.uniform(0.5, 4, shape))
        return _of_few_or_many(self, rng, shape, -2.0, 2.0)

    def few_of(self, rng: np.random.Generator, drawn: Array) -> Array:
        """Drawn integers with few distinct values: one everywhere, or one value and a few others."""
        if not drawn.size or self not in (Values.CONSTANT, Values.ZEROS, Values.TIES):
            return drawn
        one = drawn.flat[0]
        if self is Values.TIES:
            return np.where(rng.random(drawn.shape) < _OFTEN, one, drawn)
        return np.full_like(drawn, min(drawn.flat, key=abs) if self is Values.ZEROS else one)

    def draw_between(self, rng: np.random.Generator, shape: Shape, domain: Real) -> Array:
        """Elements of a declared interval."""
        low, high = domain.above, domain.below
        width = high - low
        if self in (Values.TAILS, Values.HUGE, Values.TINY, Values.SMALL):
            # beside either end, and beside 0 where that is inside
            near = width * 2.0 ** rng.uniform(-12, -6, shape)
            is_low = rng.random(shape) < 0.5
            found = np.where(is_low, low + near, high - near)
            return np.asarray(np.where(rng.random(shape) < 0.25, near, found) if low < 0 < high else found)
        return _of_few_or_many(self, rng, shape, low, high)


def _of_few_or_many(values: Values, rng: np.random.Generator, shape: Shape, low: float, high: float) -> Array:
    margin = (high - low) / 64
    found = rng.uniform(low + margin, high - margin, shape)
    if values is Values.MULTIPLES and len(shape) > 1:
        return _multiples(rng, shape, low, high)
    if values is Values.COUNTED and low < 0 < high:
        return _with_counted_zeros(rng, found)
    if values is Values.FAR and found.size:
        return _with_far_ties(found, low + margin / 2, high - margin / 2)
    if values is Values.CONSTANT:
        return np.full(shape, rng.uniform(low + margin, high - margin))
    if values is Values.ZEROS:
        return np.zeros(shape) if low < 0 < high else np.full(shape, found.flat[0] if found.size else 0.0)
    if values is Values.TIES:
        few = [value for value in _TIES if low < value < high] or [low + margin, high - margin]
        found = np.asarray(rng.choice(few, shape))
        if found.size > 1 and low < 0 < high:
            found.flat[rng.integers(found.size)] = 0.0  # one zero among others makes products 0, and no more
        return found
    return np.asarray(found)


def _multiples(rng: np.random.Generator, shape: Shape, low: float, high: float) -> Array:
    """Rows along the last axis, each a multiple of one row of eighths: by 1, a half, 0 or -1."""
    row = (
        rng.integers(1, 9, shape[-1]) / 8 * min(abs(low), abs(high), 1.0) * rng.choice((-1.0, 1.0), shape[-1])
    )
    factors = [1.0, 1.0, 0.5, 0.0, -1.0] if low < 0 < high else [1.0]
    begin = 0.0 if low < 0 < high else (low + high) / 2
    step = 1.0 if low < 0 < high else (high - low) / 4
    return np.asarray(begin + step * rng.choice(factors, (*shape[:-1], 1)) * row)


def _with_counted_zeros(rng: np.random.Generator, array: Array) -> Array:
    """Rows along the last axis with one zero, one other number, two zeros, two others, none, all, in turn."""
    length = array.shape[-1] if array.ndim else 1
    counts = (1, length - 1, 2, length - 2, 0, length)
    begin = int(rng.integers(len(counts))) if array.ndim < 2 else 0
    for number, row in enumerate(array.reshape(-1, length) if array.size else ()):
        row[rng.permutation(length)[: max(0, counts[(begin + number) % len(counts)])]] = 0.0
    return array


def _with_far_ties(array: Array, low: float, high: float) -> Array:
    """Numbers of which two are the largest, and two the smallest, far from 0 along the longest axis."""
    along = np.moveaxis(array, int(np.argmax(array.shape)), 0) if array.ndim else array.reshape(1)
    for part, value in ((0.55, low), (0.65, high), (0.85, low), (0.95, high)):
        along[int(part * len(along))] = value
    return array


def _share_of_true(values: Values, rng: np.random.Generator) -> float:
    shares = {Values.ZEROS: 0.0, Values.CONSTANT: 1.0, Values.TIES: 1 - _OFTEN}
    return shares.get(values, float(rng.uniform(0.25, 0.75)))


def _whole(values: Values, rng: np.random.Generator, shape: Shape, dtype: DType) -> Array:
    """Integers; magnitudes near the largest reach the ends of the type."""
    ends = np.iinfo(dtype)
    if values is Values.HUGE:
        return rng.integers(ends.min, ends.max, shape, dtype, endpoint=True)
    low, high = (0 if dtype.kind == "u" else -100), 100
    if values is Values.ZEROS:
        return np.zeros(shape, dtype)
    if values is Values.MULTIPLES and len(shape) > 1:
        return _multiples(rng, shape, low, high)
    if values is Values.CONSTANT:
        return np.full(shape, rng.integers(low, high), dtype)
    return rng.integers(low, high, shape, endpoint=True)
