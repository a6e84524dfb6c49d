"""Common part of the densities: samples of many distributions, whose parameters are arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from operad_sdk import Array, InferredShapes, OperatorProperty, PartialShape, ShapeError, param


def spread(value: Array, sample: Array) -> Array:
    """A parameter, repeated along the last axes of the samples."""
    column = value.reshape(value.shape + (1,) * (sample.ndim - value.ndim))
    return np.broadcast_to(column, sample.shape)


def finished(is_log: bool, log_density: Array) -> Array:
    """The result, out of the density's logarithm."""
    return log_density if is_log else np.exp(log_density)


class Density(OperatorProperty):
    """The density of numbers, of which each distribution has some along the last axes."""

    is_log = param(bool, False, doc="Give the logarithm of the density.")
    accepts = "floating"
    compute_dtype = "float32"
    element_cost = 40
    log_density: ClassVar[Any]
    slopes: ClassVar[dict[str, Any]]

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """Infer shapes from the shape line; parameters have an axis for the distributions."""
        for name, shape in zip(self.list_arguments()[1:], in_shapes[1:], strict=True):
            if shape == ():
                raise ShapeError(f"{self.name}: {name} has no axis, expected one of the distributions: (1,)")
        return super().infer_shape(in_shapes)

    def density(self, sample: Array, *values: Array) -> Array:
        """The density of each sample, or its logarithm."""
        return finished(self.is_log, self.log_density.map(sample, *(spread(v, sample) for v in values)))

    def slope(self, of: str, output_grad: Array, sample: Array, *values: Array) -> Array:
        """Gradient of `sample` or a parameter: `p d(log p)`, summed over the samples of a distribution."""
        spread_out = [spread(value, sample) for value in values]
        slope = self.slopes[of].map(sample, *spread_out)
        if not self.is_log:
            slope = slope * np.exp(self.log_density.map(sample, *spread_out))
        slope = slope * output_grad
        return slope if of == "sample" else slope.sum(axis=tuple(range(values[0].ndim, sample.ndim)))
