"""Statistical checks of random numbers against their distribution.

Source: python/mxnet/test_utils.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from operad.errors import UnsupportedError
from operad_test_utils.comparing import Array, plain

Generator = Callable[[int], Any]
Buckets = Sequence[Any]


def mean_check(generator: Generator, mu: float, sigma: float, nsamples: int = 1000000) -> bool:
    """Return whether the mean of samples is within three standard errors of `mu`: 99.7 times in 100.

    Args:
        generator: `generator(n)` gives `n` independent numbers.
        mu: Their mean.
        sigma: Their standard deviation.
        nsamples: How many to draw.
    """
    return abs(float(_drawn(generator, nsamples).mean()) - mu) < 3 * sigma / math.sqrt(nsamples)


def var_check(generator: Generator, sigma: float, nsamples: int = 1000000) -> bool:
    """Return whether the variance of samples is within three standard errors of `sigma ** 2`.

    Arguments as for `mean_check`; the numbers are normal.
    """
    error = 3 * math.sqrt(2 * sigma**4 / (nsamples - 1))
    return abs(float(_drawn(generator, nsamples).var(ddof=1)) - sigma**2) < error


def gen_buckets_probs_with_ppf(
    ppf: Callable[[float], float], nbuckets: int
) -> tuple[list[tuple[float, float]], list[float]]:
    """Equally probable intervals of a distribution, and their probabilities.

    Args:
        ppf: Its quantile function.
        nbuckets: How many.
    """
    edges = [float(ppf(i / nbuckets)) for i in range(nbuckets + 1)]
    return list(pairwise(edges)), [1 / nbuckets] * nbuckets


def chi_square_check(
    generator: Generator, buckets: Buckets, probs: Sequence[float], nsamples: int = 1000000
) -> tuple[float, Array, Array]:
    """Probability that samples of the right distribution are as far off, or further.

    Args:
        generator: `generator(n)` gives `n` independent numbers.
        buckets: Intervals, which contain their lower ends, or all values of a discrete distribution.
        probs: Their probabilities.
        nsamples: How many to draw.

    Returns:
        The probability; how many samples were in each bucket, and how many were expected.

    Raises:
        UnsupportedError: SciPy is not installed.
    """
    try:
        from scipy.stats import chi2  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise UnsupportedError(
            "chi_square_check needs SciPy; pip install 'operad-test-utils[statistics]'"
        ) from error
    samples = _drawn(generator, nsamples)
    if isinstance(buckets[0], (tuple, list)):
        counts = [np.count_nonzero((samples >= low) & (samples < high)) for low, high in buckets]
    else:
        counts = [np.count_nonzero(samples == value) for value in buckets]
    observed, expected = np.array(counts), np.asarray(probs) * nsamples
    distance = float(((observed - expected) ** 2 / expected).sum())
    return float(chi2.sf(distance, len(counts) - 1)), observed, expected


def verify_generator(
    generator: Generator,
    buckets: Buckets,
    probs: Sequence[float],
    nsamples: int = 1000000,
    nrepeat: int = 5,
    success_rate: float = 0.2,
    alpha: float = 0.05,
) -> list[float]:
    """Expect random numbers to pass `chi_square_check` often enough.

    Args:
        generator: As for `chi_square_check`, and so are the three that follow.
        nrepeat: How often to draw and check.
        success_rate: The least part of checks to pass.
        alpha: The least probability with which one passes.

    Returns:
        The probability of each check.

    Raises:
        AssertionError: Too few passed; the message has the counts of the last.
    """
    found = [chi_square_check(generator, buckets, probs, nsamples) for _ in range(nrepeat)]
    passed = sum(p > alpha for p, _, _ in found)
    if passed < nrepeat * success_rate:
        _, observed, expected = found[-1]
        raise AssertionError(
            f"{passed} of {nrepeat} chi-square checks passed, expected {success_rate:.0%}; probabilities "
            f"{[p for p, _, _ in found]}, in buckets {list(buckets)} observed {observed.tolist()}, "
            f"expected {expected.tolist()}"
        )
    return [p for p, _, _ in found]


def _drawn(generator: Generator, count: int) -> Array:
    return plain(generator(count)).reshape(-1).astype(np.float64)
