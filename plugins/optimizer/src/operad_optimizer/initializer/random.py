"""Initializers that draw random numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import prod
from typing import final

import numpy as np

from operad import NDArray, nd
from operad_optimizer.initializer.base import Initializer, register
from operad_sdk import ParamError, ShapeError


@register
@final
class Uniform(Initializer):
    """Numbers spread evenly between `-scale` and `scale`."""

    def __init__(self, scale: float = 0.07) -> None:
        super().__init__(scale=scale)
        self.scale = scale

    def _init_weight(self, name: str, arr: NDArray) -> None:
        """Draw."""
        draw_uniform(arr, self.scale)


@register
@final
class Normal(Initializer):
    """Numbers of a normal distribution around 0 with standard deviation `sigma`."""

    def __init__(self, sigma: float = 0.01) -> None:
        super().__init__(sigma=sigma)
        self.sigma = sigma

    def _init_weight(self, name: str, arr: NDArray) -> None:
        """Draw."""
        draw_normal(arr, self.sigma)


class _FanScaled(Initializer):
    """Random numbers whose size follows from how many inputs and outputs an array joins."""

    rnd_type: str
    factor_type: str
    magnitude: float

    def _init_weight(self, name: str, arr: NDArray) -> None:
        """Draw."""
        scale = math.sqrt(self.magnitude / self._factor(name, arr.shape))
        (draw_uniform if self.rnd_type == "uniform" else draw_normal)(arr, scale)

    def _factor(self, name: str, shape: Sequence[int]) -> float:
        if len(shape) < 2:
            raise ShapeError(
                f"{type(self).__name__}: {name} has shape {tuple(shape)}, expected at least 2 axes, "
                "outputs and inputs"
            )
        positions = prod(shape[2:])
        fan_in, fan_out = shape[1] * positions, shape[0] * positions
        return {"avg": (fan_in + fan_out) / 2.0, "in": fan_in, "out": fan_out}[self.factor_type]


@register
@final
class Xavier(_FanScaled):
    """Random numbers of a size that keeps signals and gradients alike in size from layer to layer.

    Args:
        rnd_type: `"uniform"` or `"gaussian"`.
        factor_type: The number counted: `"in"` of inputs, `"out"` of outputs, `"avg"` their mean.
        magnitude: The variance (of `"uniform"`, a third) is this over that number.

    Source: Glorot and Bengio, "Understanding the difficulty of training deep feedforward neural
    networks", 2010.
    """

    def __init__(self, rnd_type: str = "uniform", factor_type: str = "avg", magnitude: float = 3) -> None:
        super().__init__(rnd_type=rnd_type, factor_type=factor_type, magnitude=magnitude)
        _check_choice("rnd_type", rnd_type, ("uniform", "gaussian"))
        _check_choice("factor_type", factor_type, ("avg", "in", "out"))
        self.rnd_type = rnd_type
        self.factor_type = factor_type
        self.magnitude = float(magnitude)


@register
@final
class MSRAPrelu(_FanScaled):
    """`Xavier` with the magnitude that suits rectifiers of a negative `slope`.

    Source: He et al., "Delving deep into rectifiers", 2015.
    """

    def __init__(self, factor_type: str = "avg", slope: float = 0.25) -> None:
        super().__init__(factor_type=factor_type, slope=slope)
        _check_choice("factor_type", factor_type, ("avg", "in", "out"))
        self.rnd_type = "gaussian"
        self.factor_type = factor_type
        self.magnitude = 2.0 / (1 + slope**2)


@register
@final
class Orthogonal(Initializer):
    """Rows (or columns, where there are fewer) of length `scale` at right angles.

    Source: Saxe et al., "Exact solutions to the nonlinear dynamics of learning", 2014.
    """

    def __init__(self, scale: float = 1.414, rand_type: str = "uniform") -> None:
        super().__init__(scale=scale, rand_type=rand_type)
        _check_choice("rand_type", rand_type, ("uniform", "normal"))
        self.scale = scale
        self.rand_type = rand_type

    def _init_weight(self, name: str, arr: NDArray) -> None:
        """Fill with the singular vectors of a random matrix."""
        rows, columns = arr.shape[0], prod(arr.shape[1:])
        random = nd.array(np.empty((rows, columns)), ctx=arr.ctx, dtype=np.float64)
        (draw_uniform if self.rand_type == "uniform" else draw_normal)(random, 1.0)
        left, _, right = np.linalg.svd(random.asnumpy(), full_matrices=False)
        best = left if left.shape == (rows, columns) else right
        arr[:] = (self.scale * best).reshape(arr.shape).astype(arr.dtype)


def draw_uniform(arr: NDArray, scale: float) -> None:
    """Fill `arr` with numbers spread evenly between `-scale` and `scale`."""
    dtype = arr.dtype.name
    nd._init_uniform(low=-scale, high=scale, shape=arr.shape, dtype=dtype, ctx=arr.ctx, out=arr)


def draw_normal(arr: NDArray, scale: float) -> None:
    """Fill `arr` with numbers of a normal distribution around 0 with standard deviation `scale`."""
    nd._init_normal(scale=scale, shape=arr.shape, dtype=arr.dtype.name, ctx=arr.ctx, out=arr)


def _check_choice(what: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise ParamError(f"{what} is {value!r}, expected one of {', '.join(map(repr, choices))}")
