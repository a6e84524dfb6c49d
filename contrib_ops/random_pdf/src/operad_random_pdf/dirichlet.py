"""`_random_pdf_dirichlet`: the density of shares of a whole."""

from __future__ import annotations

from collections.abc import Sequence
from math import lgamma
from typing import Any, Final

import numpy as np

from operad_random_pdf.densities import log_gamma
from operad_random_pdf.family import finished
from operad_sdk import (
    Array,
    Contract,
    InferredShapes,
    OperatorProperty,
    PartialShape,
    ShapeError,
    operator,
    param,
    positive,
    slope_of,
)

_digamma: Final = slope_of(log_gamma)


def _spread(alpha: Array, sample: Array) -> Array:
    """The concentrations, repeated along the samples of their distribution."""
    return alpha.reshape(*alpha.shape[:-1], *(1,) * (sample.ndim - alpha.ndim), alpha.shape[-1])


def _log_density(sample: Array, alpha: Array) -> Array:
    # in double precision: units of the logarithm are units of its exponential
    sample, alpha = sample.astype(np.float64), alpha.astype(np.float64)
    powers = ((_spread(alpha, sample) - 1) * np.log(sample)).sum(axis=-1)
    constant = log_gamma.map(alpha.sum(axis=-1)) - log_gamma.map(alpha).sum(axis=-1)
    return powers + constant.reshape(constant.shape + (1,) * (powers.ndim - constant.ndim))


def _reference(sample: Array, alpha: Array, is_log: bool) -> Array:
    """One sample after the other."""
    output = np.empty(sample.shape[:-1])
    for place in np.ndindex(output.shape):
        own = alpha[place[: alpha.ndim - 1]]
        found = lgamma(own.sum()) - sum(map(lgamma, own))
        for share, power in zip(sample[place], own, strict=True):
            found += (power - 1) * np.log(share)
        output[place] = found if is_log else np.exp(found)
    return output


@operator("_random_pdf_dirichlet")
class pdf_dirichlet(OperatorProperty):
    """The density of samples of the Dirichlet distribution of concentrations `alpha`.

    `Gamma(sum alpha) / prod Gamma(alpha_k) prod x_k^(alpha_k - 1)`; that samples sum to 1 is not looked at.

    Shapes:
        sample: (*P, *S, K), S samples of each distribution.
        alpha: (*P, K).
        output: (*P, *S).

    Example:
        >>> import operad as od
        >>> sample, alpha = od.nd.array([[[0.5, 0.5], [0.25, 0.75]]]), od.nd.array([[2, 2]])
        >>> od.nd.random_pdf_dirichlet(sample, alpha).asnumpy()
        array([[1.5  , 1.125]], dtype=float32)

    Source: PDF_Dirichlet, src/operator/random/pdf_op.h.
    """

    is_log = param(bool, False, doc="Give the logarithm of the density.")
    spec = "sample:(*P, *S, K), alpha:(*P, K) -> output:(*P, *S)"
    accepts = "floating"
    compute_dtype = "float32"
    element_cost = 40
    contract = Contract(inputs={"sample": positive(), "alpha": positive()}, reference=_reference)

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """Infer shapes from the shape line; a whole has a share."""
        alpha = in_shapes[1]
        if alpha is not None and alpha[-1:] == (0,):
            raise ShapeError(f"{self.name}: alpha has shape {alpha}, expected at least one share")
        return super().infer_shape(in_shapes)

    def forward(sample: Array, alpha: Array, is_log: bool) -> Array:
        """The logarithm of the density, or its exponential."""
        return finished(is_log, _log_density(sample, alpha)).astype(sample.dtype)

    def sample_grad(output_grad: Array, sample: Array, alpha: Array, is_log: bool) -> Array:
        """`p (alpha_k - 1) / x_k`, and without `p` for its logarithm."""
        slope = (_spread(alpha, sample) - 1) / sample
        return _of_density(slope, sample, alpha, is_log) * output_grad[..., None]

    def alpha_grad(output_grad: Array, sample: Array, alpha: Array, is_log: bool) -> Array:
        """`p (log x_k + digamma(sum alpha) - digamma(alpha_k))`, summed over samples."""
        constant = _digamma.map(alpha.sum(axis=-1))[..., None] - _digamma.map(alpha)
        slope = np.log(sample) + _spread(constant, sample)
        slope = _of_density(slope, sample, alpha, is_log) * output_grad[..., None]
        return slope.sum(axis=tuple(range(alpha.ndim - 1, sample.ndim - 1)))


def _of_density(slope: Any, sample: Array, alpha: Array, is_log: bool) -> Any:
    """Slope of the result, of which `slope` is that of the logarithm."""
    return slope if is_log else slope * np.exp(_log_density(sample, alpha))[..., None].astype(slope.dtype)
