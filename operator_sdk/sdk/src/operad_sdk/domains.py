"""Values that an argument may have, as an author declares them for the contract checks.

Values of real domains come from a dyadic lattice (multiples of a power of two), so that a literal
printed in a report is exactly the value that failed. A domain knows nothing of a particular test
library: it is handed a NumPy generator.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import floor, log2
from typing import Any, final

import numpy as np
import numpy.typing as npt

from operad.operator import OperatorProperty, Shape
from operad_sdk.errors import call_declared

Array = npt.NDArray[Any]
Shapes = Mapping[str, Shape]
"""Shapes of the arguments by name."""


class Domain(ABC):
    """The values that one argument may have.

    Attributes:
        is_real: Whether each element may be moved a little on its own; only then can a numeric
            derivative be taken.
    """

    is_real: bool = False

    @abstractmethod
    def draw(self, rng: np.random.Generator, shape: Shape, prop: OperatorProperty, shapes: Shapes) -> Array:
        """Values for an argument of that shape."""

    def accepts(self, value: float) -> bool:
        """Return whether one element may be replaced by `value`, the others being as they are."""
        return False

    def holds(self, values: Array, prop: OperatorProperty, shapes: Shapes) -> bool:
        """Return whether values, some of those that the domain drew, are in the domain; False if in doubt."""
        return all(self.accepts(float(value)) for value in values.flat)

    def along(self, direction: Array) -> Array | None:
        """Part of a direction along which values stay in the domain; None if there is none."""
        return direction if self.is_real else None


@final
@dataclass(frozen=True, slots=True)
class Real(Domain):
    """The open interval between two bounds.

    Attributes:
        above: Lower bound, itself excluded.
        below: Upper bound, itself excluded.
        nonzero: Whether 0 is excluded too.
    """

    above: float = -2.125
    below: float = 2.125
    nonzero: bool = False
    is_real = True

    @property
    def step(self) -> float:
        """Distance of two neighbours on the lattice: a power of two, at most 1/8."""
        return float(min(0.125, 2.0 ** floor(log2((self.below - self.above) / 16))))

    def draw(self, rng: np.random.Generator, shape: Shape, prop: OperatorProperty, shapes: Shapes) -> Array:
        """Draw lattice points, all equally likely."""
        first = floor(self.above / self.step) + 1
        last = -floor(-self.below / self.step) - 1
        values = rng.integers(first, last, shape, endpoint=True) * self.step
        return np.where(values == 0, self._instead_of_zero(), values) if self.nonzero else values

    def accepts(self, value: float) -> bool:
        """Return whether `value` is between the bounds."""
        return self.above < value < self.below and not (self.nonzero and value == 0)

    def _instead_of_zero(self) -> float:
        return self.step if self.below > self.step else -self.step


def positive(below: float = 4.0) -> Real:
    """Numbers above 0."""
    return Real(0.0, below)


def unit_interval() -> Real:
    """Numbers between 0 and 1."""
    return Real(0.0, 1.0)


@final
@dataclass(frozen=True, slots=True)
class Integers(Domain):
    """Integers from `low` to `high`, both included, whatever the element type."""

    low: int
    high: int

    def draw(self, rng: np.random.Generator, shape: Shape, prop: OperatorProperty, shapes: Shapes) -> Array:
        """Draw integers, all equally likely."""
        return rng.integers(self.low, self.high, shape, endpoint=True)

    def accepts(self, value: float) -> bool:
        """Return whether `value` is an integer within the bounds."""
        return self.low <= value <= self.high and value == int(value)


@final
@dataclass(frozen=True, slots=True)
class Index(Domain):
    """Integers that index an axis: from `first` to one below its length.

    Attributes:
        of: An argument, whose `axis` is indexed; or a parameter, whose value is the length.
        axis: Which axis: a number, or the name of the parameter that says which.
        first: The smallest; 1 makes them lengths, where `inclusive` allows the length itself.
        inclusive: Whether the length itself is allowed.
    """

    of: str
    axis: int | str = 0
    first: int = 0
    inclusive: bool = False

    def draw(self, rng: np.random.Generator, shape: Shape, prop: OperatorProperty, shapes: Shapes) -> Array:
        """Draw indices, all equally likely; `first` everywhere if the axis is too short."""
        return rng.integers(self.first, self._last(prop, shapes), shape, endpoint=True)

    def holds(self, values: Array, prop: OperatorProperty, shapes: Shapes) -> bool:
        """Return whether all values are within the axis."""
        return bool(((values >= self.first) & (values <= self._last(prop, shapes))).all())

    def _last(self, prop: OperatorProperty, shapes: Shapes) -> int:
        if self.of in shapes:
            axis = getattr(prop, self.axis) if isinstance(self.axis, str) else self.axis
            length = shapes[self.of][axis] if shapes[self.of] else 1
        else:
            length = int(getattr(prop, self.of))
        return max(length if self.inclusive else length - 1, self.first)


@final
@dataclass(frozen=True, slots=True)
class Distinct(Domain):
    """Real numbers no two of which are equal or close; with `is_sorted`, ascending along the last axis."""

    is_sorted: bool = False
    is_real = True

    def draw(self, rng: np.random.Generator, shape: Shape, prop: OperatorProperty, shapes: Shapes) -> Array:
        """Draw multiples of 1/8 around 0, in random order."""
        size = int(np.prod(shape))
        values = (rng.permutation(size).reshape(shape) - size // 2) * 0.125
        return np.asarray(np.sort(values, axis=-1) if self.is_sorted and values.ndim else values)

    def holds(self, values: Array, prop: OperatorProperty, shapes: Shapes) -> bool:
        """Return True: a part of distinct or sorted values is distinct or sorted too."""
        return True


@final
@dataclass(frozen=True, slots=True)
class OneHot(Domain):
    """One 1 and else 0 along an axis."""

    axis: int = -1

    def draw(self, rng: np.random.Generator, shape: Shape, prop: OperatorProperty, shapes: Shapes) -> Array:
        """Draw arrays with the 1 anywhere along the axis."""
        values = np.zeros(shape)
        if values.size:
            positions = rng.integers(0, shape[self.axis], np.delete(shape, self.axis))
            np.put_along_axis(values, np.expand_dims(positions, self.axis), 1.0, self.axis)
        return values


@final
@dataclass(frozen=True, slots=True)
class Probabilities(Domain):
    """Positive numbers that sum to one along an axis."""

    axis: int = -1

    def draw(self, rng: np.random.Generator, shape: Shape, prop: OperatorProperty, shapes: Shapes) -> Array:
        """Draw multiples of 1/256; only the first number along the axis may be larger, for the sum."""
        if not np.prod(shape):
            return np.zeros(shape)
        weights = rng.integers(1, 16, shape).astype(np.float64)
        values: Array = np.floor(weights / weights.sum(self.axis, keepdims=True) * 256) / 256
        first = np.take(values, [0], self.axis)
        missing = 1 - values.sum(self.axis, keepdims=True)
        np.put_along_axis(values, np.zeros_like(first, np.intp), first + missing, self.axis)
        return values

    def along(self, direction: Array) -> Array:
        """Part of a direction that keeps sums along the axis as they are."""
        if not direction.size:
            return direction
        return np.asarray(direction - direction.mean(self.axis, keepdims=True))


@final
@dataclass(frozen=True, slots=True)
class PositiveDefinite(Domain):
    """Symmetric matrices in the last two axes whose eigenvalues are at least 1."""

    def draw(self, rng: np.random.Generator, shape: Shape, prop: OperatorProperty, shapes: Shapes) -> Array:
        """`A @ A.T + 1` for a lattice matrix `A`."""
        factor = rng.integers(-4, 5, shape) * 0.25
        return np.asarray(factor @ np.swapaxes(factor, -1, -2) + np.eye(shape[-1]))

    def along(self, direction: Array) -> Array:
        """Symmetric part of a direction."""
        return np.asarray((direction + np.swapaxes(direction, -1, -2)) / 2)


@final
@dataclass(frozen=True, slots=True)
class Drawn(Domain):
    """Values that a function makes: `function(rng, shape, prop, shapes)`, for all other needs.

    Attributes:
        function: Makes the values.
        is_real: Whether each element may be moved a little on its own.
    """

    function: Callable[[np.random.Generator, Shape, OperatorProperty, Shapes], Array]
    is_real: bool = False

    def draw(self, rng: np.random.Generator, shape: Shape, prop: OperatorProperty, shapes: Shapes) -> Array:
        """Draw by calling the function."""
        return np.asarray(call_declared("the function of Drawn", self.function, rng, shape, prop, shapes))
