"""Functions of `od.sym.random`: symbols of random numbers.

Parameters of a distribution are numbers, and the draws have the shape `shape`, which is inferred if left
out; or they are symbols, and each of their elements has draws of the shape `shape`. `dtype` is float16,
float32 or float64, and float32 if left out. `name` and `attr` are taken as by every function of `od.sym`.
Beside the functions below every operator `_random_..._like` is here, under its name without `_random_`.

Source: python/mxnet/symbol/random.py.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from operad import Symbol, sym
from operad_sampling.face import are_all, attribute, names_of, rate_of

Number = float | Symbol
Shape = int | tuple[int, ...] | None


def uniform(
    low: Number = 0, high: Number = 1, shape: Shape = None, dtype: Any = None, **named: Any
) -> Symbol:
    """Numbers spread evenly over [low, high)."""
    return _drawn("uniform", {"low": low, "high": high}, shape, dtype, named)


def normal(
    loc: Number = 0, scale: Number = 1, shape: Shape = None, dtype: Any = None, **named: Any
) -> Symbol:
    """Numbers of the normal distribution with mean `loc` and standard deviation `scale`."""
    return _drawn("normal", {"loc": loc, "scale": scale}, shape, dtype, named)


def randn(*shape: int, loc: Number = 0, scale: Number = 1, dtype: Any = None, **named: Any) -> Symbol:
    """Numbers of the normal distribution, whose shape is given as arguments: `randn(2, 3)`."""
    return normal(loc, scale, shape or None, dtype, **named)


def gamma(
    alpha: Number = 1, beta: Number = 1, shape: Shape = None, dtype: Any = None, **named: Any
) -> Symbol:
    """Numbers of the gamma distribution with shape `alpha` and scale `beta`."""
    return _drawn("gamma", {"alpha": alpha, "beta": beta}, shape, dtype, named)


def exponential(scale: Number = 1, shape: Shape = None, dtype: Any = None, **named: Any) -> Symbol:
    """Numbers of the exponential distribution with mean `scale`."""
    lam = 1.0 / scale if isinstance(scale, Symbol) else rate_of(scale)
    return _drawn("exponential", {"lam": lam}, shape, dtype, named)


def poisson(lam: Number = 1, shape: Shape = None, dtype: Any = None, **named: Any) -> Symbol:
    """Counts of the Poisson distribution with mean `lam`."""
    return _drawn("poisson", {"lam": lam}, shape, dtype, named)


def negative_binomial(
    k: Number = 1, p: Number = 1, shape: Shape = None, dtype: Any = None, **named: Any
) -> Symbol:
    """Numbers of trials that fail before `k` succeed, each with probability `p`."""
    return _drawn("negative_binomial", {"k": k, "p": p}, shape, dtype, named)


def generalized_negative_binomial(
    mu: Number = 1, alpha: Number = 1, shape: Shape = None, dtype: Any = None, **named: Any
) -> Symbol:
    """Counts of mean `mu` and variance `mu + alpha mu^2`."""
    return _drawn("generalized_negative_binomial", {"mu": mu, "alpha": alpha}, shape, dtype, named)


def randint(low: int, high: int, shape: Shape = None, dtype: Any = None, **named: Any) -> Symbol:
    """Integers from `low` up to and without `high`, of type int32 or int64; int32 if left out."""
    symbol: Symbol = sym._random_randint(low=low, high=high, shape=shape, dtype=dtype, **named)
    return symbol


def multinomial(
    data: Symbol, shape: Shape = None, get_prob: bool = True, dtype: Any = "int32", **named: Any
) -> Symbol:
    """Classes drawn with the probabilities in the last axis of `data`, `shape` for each of its rows.

    With `get_prob`, which is the default here and not in `od.nd.random`, as in MXNet, there is a second
    output, the logarithms of the probabilities of the classes drawn.
    """
    wanted = () if shape is None else shape
    symbol: Symbol = sym._sample_multinomial(data, shape=wanted, get_prob=get_prob, dtype=dtype, **named)
    return symbol


def shuffle(data: Symbol, **named: Any) -> Symbol:
    """The items along the first axis in random order."""
    symbol: Symbol = sym._shuffle(data, **named)
    return symbol


def _drawn(
    family: str, values: Mapping[str, Number], shape: Shape, dtype: Any, named: Mapping[str, Any]
) -> Symbol:
    symbol: Symbol
    if are_all(Symbol, values, family):
        wanted = () if shape is None else shape
        symbol = getattr(sym, f"_sample_{family}")(*values.values(), shape=wanted, dtype=dtype, **named)
    else:
        symbol = getattr(sym, f"_random_{family}")(**values, shape=shape, dtype=dtype, **named)
    return symbol


def __getattr__(name: str) -> Any:
    return attribute(sys.modules[__name__], sym, "operad.sym.random", name)


def __dir__() -> list[str]:
    return names_of(sys.modules[__name__])
