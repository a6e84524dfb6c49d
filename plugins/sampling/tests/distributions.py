"""Every distribution with parameters to draw it at, and the test that draws are of it.

Draws are seeded, so a test gives the same answer at every run; its thresholds are those that a right
distribution passes for all but one seed in a million, and parameters a twentieth off do not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
from scipy import stats

DRAWS: Final = 60_000
LEAST_P: Final = 1e-6


class Known(NamedTuple):
    """A distribution as SciPy has it.

    Attributes:
        name: MXNet's.
        params: As numbers, by name.
        frozen: SciPy's distribution for these parameters.
        is_count: Whether it is one of integers.
    """

    name: str
    params: dict[str, float]
    frozen: Any
    is_count: bool = False


def _negative_binomial(mu: float, alpha: float) -> Any:
    return stats.nbinom(1 / alpha, 1 / (1 + mu * alpha))


KNOWN: Final = [
    Known("uniform", {"low": -3.0, "high": 2.5}, stats.uniform(-3, 5.5)),
    Known("uniform", {"low": 0.0, "high": 1.0}, stats.uniform()),
    Known("normal", {"loc": -2.0, "scale": 0.5}, stats.norm(-2, 0.5)),
    Known("gamma", {"alpha": 3.0, "beta": 0.5}, stats.gamma(3, scale=0.5)),
    Known("gamma", {"alpha": 0.25, "beta": 2.0}, stats.gamma(0.25, scale=2)),
    Known("exponential", {"lam": 4.0}, stats.expon(scale=0.25)),
    Known("poisson", {"lam": 0.5}, stats.poisson(0.5), True),
    Known("poisson", {"lam": 25.0}, stats.poisson(25), True),
    Known("negative_binomial", {"k": 4, "p": 0.25}, stats.nbinom(4, 0.25), True),
    Known("negative_binomial", {"k": 1, "p": 0.75}, stats.nbinom(1, 0.75), True),
    Known("generalized_negative_binomial", {"mu": 3.0, "alpha": 0.3}, _negative_binomial(3, 0.3), True),
]
LABELS: Final = [f"{known.name}-{'-'.join(map(str, known.params.values()))}" for known in KNOWN]


def p_value(draws: Any, known: Known) -> float:
    """How likely draws of the distribution are to be this far from it or farther."""
    draws = np.asarray(draws, np.float64).ravel()
    return _of_counts(draws, known.frozen) if known.is_count else _of_reals(draws, known.frozen.cdf)


def _of_reals(draws: Any, cdf: Callable[[Any], Any]) -> float:
    """The test of Kolmogorov and Smirnov; equal draws, as half precision makes, count as one step."""
    values, counts = np.unique(draws, return_counts=True)
    if len(values) == len(draws):
        return float(stats.kstest(draws, cdf).pvalue)
    edges = (values[:-1] + values[1:]) / 2  # a rounded draw stands for all that is nearest to it
    distance = np.abs(np.cumsum(counts)[:-1] / len(draws) - cdf(edges)).max()
    return float(stats.kstwobign.sf(distance * np.sqrt(len(draws))))


def _of_counts(draws: Any, frozen: Any) -> float:
    """The chi-square test, with the tails put together until five draws are expected in each class."""
    numbers = np.arange(int(frozen.ppf(1e-9)), int(frozen.ppf(1 - 1e-9)) + 1)
    usual = numbers[len(draws) * frozen.pmf(numbers) >= 5]
    low, high = int(usual[0]), int(usual[-1])
    classes = np.arange(low, high + 1)
    expected = frozen.pmf(classes)
    expected[0], expected[-1] = frozen.cdf(low), frozen.sf(high - 1)
    clipped = np.clip(draws, low, high).astype(np.int64)
    assert np.array_equal(clipped[(draws >= low) & (draws <= high)], draws[(draws >= low) & (draws <= high)])
    found = np.bincount(clipped - low, minlength=len(classes))
    return float(stats.chisquare(found, len(draws) * expected).pvalue)
