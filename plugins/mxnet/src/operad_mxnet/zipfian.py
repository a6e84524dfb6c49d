"""Classes drawn by Zipf's law, as candidates of a sampled softmax.

Source: python/mxnet/ndarray/contrib.py and symbol/contrib.py.
"""

from __future__ import annotations

import math
from typing import Any

from operad import NDArray, Symbol, nd, sym


def rand_zipfian(
    true_classes: NDArray, num_sampled: int, range_max: int, ctx: Any = None
) -> tuple[NDArray, NDArray, NDArray]:
    """Classes drawn with replacement from P(k) = log((k + 2) / (k + 1)) / log(range_max + 1).

    Args:
        true_classes: Classes whose expected counts are wanted, too.
        num_sampled: How many are drawn.
        range_max: They are less than that.
        ctx: Where; that of `true_classes` if None.

    Returns:
        The classes (int64), and how often each of `true_classes` and of the classes is expected (float64).
    """
    context = true_classes.context if ctx is None else ctx
    logs = math.log(range_max + 1)
    drawn = nd.random.uniform(0, logs, shape=(num_sampled,), dtype="float64", ctx=context)
    found: tuple[NDArray, NDArray, NDArray] = _zipfian(
        drawn, true_classes.as_in_context(context), num_sampled, range_max
    )
    return found


def sym_rand_zipfian(true_classes: Symbol, num_sampled: int, range_max: int) -> tuple[Symbol, Symbol, Symbol]:
    """`rand_zipfian` for symbols."""
    drawn = sym.random.uniform(0, math.log(range_max + 1), shape=(num_sampled,), dtype="float64")
    found: tuple[Symbol, Symbol, Symbol] = _zipfian(drawn, true_classes, num_sampled, range_max)
    return found


def _zipfian(drawn: Any, true_classes: Any, num_sampled: int, range_max: int) -> Any:
    classes = (drawn.exp() - 1).astype("int64") % range_max

    def expected(some: Any) -> Any:
        number = some.astype("float64")
        return ((number + 2) / (number + 1)).log() * (num_sampled / math.log(range_max + 1))

    return classes, expected(true_classes), expected(classes)
