"""Drawing from each distribution with a generator: NumPy's, or CuPy's on a GPU.

Each function fills `out`, an array of float32 or float64, with independent draws. The distribution's
parameters are numbers, which are in their domain, or arrays that broadcast to `out`; where an array is
out of its domain the draw is NaN, which costs no wait for a device as an error would.

Counts are exact up to a mean of 2^33. Beyond, the rejection method that generators use loses its
digits, and a Poisson count is drawn as what it has become, a rounded normal number: the skewness that
is left out, 1/sqrt(mean), is below 2e-5.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from operad_sampling.normal import fill_from_words, has_words
from operad_sdk import Array

_LARGEST_EXACT: Final = 2.0**33
"""The largest mean of a Poisson count that is drawn exactly."""

Value = Any
"""A parameter: a number, or an array."""


def fill_uniform(generator: Any, out: Array, low: Value, high: Value) -> None:
    """`low + (high - low) u`, of `u` in [0, 1)."""
    generator.random(dtype=out.dtype, out=out)
    np.multiply(out, high - low, out=out)
    np.add(out, low, out=out)
    _spoil(out, low, low <= high)


def fill_normal(generator: Any, out: Array, loc: Value, scale: Value) -> None:
    """`loc + scale z`, of `z` around 0 with standard deviation 1."""
    if has_words(out) and isinstance(loc, float | int) and isinstance(scale, float | int):
        fill_from_words(generator, out, loc, scale)
        return
    generator.standard_normal(dtype=out.dtype, out=out)
    np.multiply(out, scale, out=out)
    np.add(out, loc, out=out)
    _spoil(out, scale, scale >= 0)


def fill_exponential(generator: Any, out: Array, lam: Value) -> None:
    """`e / lam`, of `e` with mean 1."""
    generator.standard_exponential(dtype=out.dtype, out=out)
    np.divide(out, lam, out=out)
    _spoil(out, lam, lam >= 0)


def fill_gamma(generator: Any, out: Array, alpha: Value, beta: Value) -> None:
    """`beta g`, of `g` with density `g^(alpha - 1) exp(-g) / gamma(alpha)`."""
    # mutant: alpha >= 0 becomes (alpha > 0): equivalent, because 0 stands for what is not valid
    generator.standard_gamma(_valid(alpha, alpha >= 0), dtype=out.dtype, out=out)
    np.multiply(out, beta, out=out)
    _spoil(out, alpha, (alpha >= 0) & (beta >= 0))


def fill_poisson(generator: Any, out: Array, lam: Value) -> None:
    """A count with probability `lam^n exp(-lam) / n!` of `n`."""
    # mutant: lam <= _LARGEST_EXACT becomes (lam <: equivalent, because at the limit either way will do
    is_exact = lam <= _LARGEST_EXACT
    # mutant: lam >= 0 becomes (lam > 0): equivalent, because 0 stands for what is not valid
    out[...] = generator.poisson(_valid(lam, (lam >= 0) & is_exact), out.shape)
    if not np.all(is_exact):
        mean = _valid(lam, lam > _LARGEST_EXACT)
        rough = np.rint(mean + mean**0.5 * generator.standard_normal(out.shape))
        np.copyto(out, rough, where=~np.asarray(is_exact, like=out), casting="same_kind")
    _spoil(out, lam, lam >= 0)


def fill_negative_binomial(generator: Any, out: Array, k: Value, p: Value) -> None:
    """Fill with numbers of failures before success number `k`: Poisson counts of mean `g (1 - p) / p`.

    `g` has the gamma distribution of shape `k`, which extends the count to any real `k`.
    """
    mean = generator.standard_gamma(_valid(k, k >= 0), out.shape) * ((1 - p) / p)
    _fill_mixture(generator, out, mean, k, (k >= 0) & (p >= 0) & (p <= 1))


def fill_generalized_negative_binomial(generator: Any, out: Array, mu: Value, alpha: Value) -> None:
    """A Poisson count of mean `mu alpha g`, of `g` with the gamma distribution of shape `1 / alpha`.

    Where `alpha` is 0 the mean is `mu` itself.
    """
    spread = _valid(alpha, alpha > 0, instead=1.0)
    mean = generator.standard_gamma(1 / spread, out.shape) * (mu * spread)
    mean = np.where(np.asarray(alpha == 0, like=out), mu, mean)
    _fill_mixture(generator, out, mean, mu, (mu >= 0) & (alpha >= 0))


def _fill_mixture(generator: Any, out: Array, mean: Array, value: Value, is_valid: Any) -> None:
    fill_poisson(generator, out, mean)
    _spoil(out, value, is_valid)


def _valid(value: Value, is_valid: Any, instead: float = 0.0) -> Value:
    """`value` where it is in its domain, so that no generator refuses it or never ends."""
    if isinstance(value, float | int):
        return value if is_valid else instead
    return np.where(is_valid, value, instead)


def _spoil(out: Array, value: Value, is_valid: Any) -> None:
    """NaN where parameters are arrays, and out of their domain."""
    if not isinstance(value, float | int):
        np.copyto(out, np.nan, where=~is_valid)
