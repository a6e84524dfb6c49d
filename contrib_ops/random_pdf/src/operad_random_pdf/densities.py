"""Logarithms of densities, each a function of a sample and of its distribution's parameters.

What is computed is the logarithm; the density is its exponential. Factors of a density overflow where the
density itself does not: `k^x`, and gamma functions from 171 on.

Of a count of 0 a product `0 log(b)` is 0, whatever `b`.
"""

from __future__ import annotations

from operad_sdk import lgamma, log, log1p, mapper

LOG_ROOT_TWO_PI = 0.9189385332046727


@mapper
def uniform(low: float, high: float) -> float:
    """`1 / (high - low)`, wherever the sample lies."""
    return -log(high - low)


@mapper
def normal(sample: float, mu: float, sigma: float) -> float:
    """`exp(-((x - mu) / sigma)^2 / 2) / (sigma sqrt(2 pi))`."""
    distance = (sample - mu) / sigma
    return -0.5 * distance * distance - log(sigma) - LOG_ROOT_TWO_PI


@mapper
def gamma(sample: float, alpha: float, beta: float) -> float:
    """`beta^alpha x^(alpha - 1) exp(-beta x) / Gamma(alpha)`."""
    return alpha * log(beta) + (alpha - 1.0) * log(sample) - beta * sample - lgamma(alpha)


@mapper
def exponential(sample: float, lam: float) -> float:
    """`lam exp(-lam x)`."""
    return log(lam) - lam * sample


@mapper
def poisson(sample: float, lam: float) -> float:
    """`lam^x exp(-lam) / x!`."""
    power = 0.0 if sample == 0.0 else sample * log(lam)
    return power - lgamma(sample + 1.0) - lam


@mapper
def negative_binomial(sample: float, k: float, p: float) -> float:
    """`Gamma(k + x) / (Gamma(k) x!) p^k (1 - p)^x`."""
    failures = 0.0 if sample == 0.0 else sample * log1p(-p)
    return lgamma(k + sample) - lgamma(k) - lgamma(sample + 1.0) + k * log(p) + failures


@mapper
def generalized_negative_binomial(sample: float, mu: float, alpha: float) -> float:
    """Density of `k = 1 / alpha` and `p = 1 / (1 + alpha mu)`."""
    k = 1.0 / alpha
    spread = alpha * mu
    failures = 0.0 if sample == 0.0 else sample * (log(spread) - log1p(spread))
    return lgamma(k + sample) - lgamma(k) - lgamma(sample + 1.0) - k * log1p(spread) + failures


@mapper
def log_gamma(value: float) -> float:
    """`log |Gamma(x)|`."""
    return lgamma(value)
