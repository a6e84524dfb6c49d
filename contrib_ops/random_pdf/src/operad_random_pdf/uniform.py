"""`_random_pdf_uniform`: the density of numbers spread evenly."""

from __future__ import annotations

import numpy as np

from operad_random_pdf import densities
from operad_random_pdf.family import Density, finished, spread
from operad_sdk import Array, Contract, Real, operator, slope_of


def _reference(sample: Array, low: Array, high: Array, is_log: bool) -> Array:
    width = (high - low).reshape(low.shape + (1,) * (sample.ndim - low.ndim))
    return np.broadcast_to(-np.log(width) if is_log else 1 / width, sample.shape)


@operator("_random_pdf_uniform")
class pdf_uniform(Density):
    """The density of samples of the interval from `low` to `high`: `1 / (high - low)`.

    Where a sample lies is not looked at.

    Shapes:
        sample: (*P, *S), S samples of each distribution.
        low: (*P).
        high: (*P).
        output: As sample.

    Example:
        >>> import operad as od
        >>> od.nd.random_pdf_uniform(od.nd.array([[1, 2]]), od.nd.array([0]), od.nd.array([4])).asnumpy()
        array([[0.25, 0.25]], dtype=float32)

    Source: PDF_Uniform, src/operator/random/pdf_op.h.
    """

    element_cost = 3
    spec = "sample:(*P, *S), low:(*P), high:(*P) -> output:(*P, *S)"
    contract = Contract(
        inputs={"low": Real(-2, -1), "high": Real(1, 2)},
        reference=_reference,
        nan_policy="samples are not looked at, as in MXNet",
    )

    def forward(sample: Array, low: Array, high: Array, is_log: bool) -> Array:
        """One number for each distribution, repeated."""
        return spread(finished(is_log, densities.uniform.map(low, high)), sample)

    def low_grad(output_grad: Array, low: Array, high: Array, is_log: bool) -> Array:
        """`d(log p) / d low = 1 / (high - low)`."""
        return _slope("low", output_grad, low, high, is_log)

    def high_grad(output_grad: Array, low: Array, high: Array, is_log: bool) -> Array:
        """`d(log p) / d high = -1 / (high - low)`."""
        return _slope("high", output_grad, low, high, is_log)


_SLOPES = {name: slope_of(densities.uniform, name) for name in ("low", "high")}


def _slope(of: str, output_grad: Array, low: Array, high: Array, is_log: bool) -> Array:
    slope = _SLOPES[of].map(low, high)
    if not is_log:
        slope = slope * np.exp(densities.uniform.map(low, high))
    return slope * output_grad.sum(axis=tuple(range(low.ndim, output_grad.ndim)))
