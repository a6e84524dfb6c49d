"""Functions of `od.random` and `od.nd.random`: arrays of random numbers.

Parameters of a distribution are numbers, and the draws have the shape `shape`, which is (1,) if left out; or
they are arrays of one shape, and each of their elements has draws of the shape `shape`, at the end of the
draws' shape. `dtype` is float16, float32 or float64, and float32 if left out. `ctx` is the device, that of
the parameters where they are arrays. With `out` the draws are written there, and it says what of `shape`
and `dtype` is left out. Beside the functions below every operator `_random_..._like` is here, under its name
without `_random_`.

Source: python/mxnet/ndarray/random.py.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from operad import Context, NDArray, nd
from operad_sampling.face import are_all, attribute, names_of, rate_of

Number = float | NDArray
Shape = int | tuple[int, ...] | None


def uniform(
    low: Number = 0, high: Number = 1, shape: Shape = None, dtype: Any = None, ctx: Context | None = None,
    out: NDArray | None = None, **named: Any,
) -> NDArray:  # fmt: skip
    """Numbers spread evenly over [low, high)."""
    return _drawn("uniform", {"low": low, "high": high}, shape, dtype, ctx, out, named)


def normal(
    loc: Number = 0, scale: Number = 1, shape: Shape = None, dtype: Any = None, ctx: Context | None = None,
    out: NDArray | None = None, **named: Any,
) -> NDArray:  # fmt: skip
    """Numbers of the normal distribution with mean `loc` and standard deviation `scale`."""
    return _drawn("normal", {"loc": loc, "scale": scale}, shape, dtype, ctx, out, named)


def randn(
    *shape: int, loc: Number = 0, scale: Number = 1, dtype: Any = None, ctx: Context | None = None,
    out: NDArray | None = None, **named: Any,
) -> NDArray:  # fmt: skip
    """Numbers of the normal distribution, whose shape is given as arguments: `randn(2, 3)`."""
    return normal(loc, scale, shape or None, dtype, ctx, out, **named)


def gamma(
    alpha: Number = 1, beta: Number = 1, shape: Shape = None, dtype: Any = None, ctx: Context | None = None,
    out: NDArray | None = None, **named: Any,
) -> NDArray:  # fmt: skip
    """Numbers of the gamma distribution with shape `alpha` and scale `beta`."""
    return _drawn("gamma", {"alpha": alpha, "beta": beta}, shape, dtype, ctx, out, named)


def exponential(
    scale: Number = 1, shape: Shape = None, dtype: Any = None, ctx: Context | None = None,
    out: NDArray | None = None, **named: Any,
) -> NDArray:  # fmt: skip
    """Numbers of the exponential distribution with mean `scale`."""
    lam = 1.0 / scale if isinstance(scale, NDArray) else rate_of(scale)
    return _drawn("exponential", {"lam": lam}, shape, dtype, ctx, out, named)


def poisson(
    lam: Number = 1, shape: Shape = None, dtype: Any = None, ctx: Context | None = None,
    out: NDArray | None = None, **named: Any,
) -> NDArray:  # fmt: skip
    """Counts of the Poisson distribution with mean `lam`."""
    return _drawn("poisson", {"lam": lam}, shape, dtype, ctx, out, named)


def negative_binomial(
    k: Number = 1, p: Number = 1, shape: Shape = None, dtype: Any = None, ctx: Context | None = None,
    out: NDArray | None = None, **named: Any,
) -> NDArray:  # fmt: skip
    """Numbers of trials that fail before `k` succeed, each with probability `p`."""
    return _drawn("negative_binomial", {"k": k, "p": p}, shape, dtype, ctx, out, named)


def generalized_negative_binomial(
    mu: Number = 1, alpha: Number = 1, shape: Shape = None, dtype: Any = None, ctx: Context | None = None,
    out: NDArray | None = None, **named: Any,
) -> NDArray:  # fmt: skip
    """Counts of mean `mu` and variance `mu + alpha mu^2`."""
    values = {"mu": mu, "alpha": alpha}
    return _drawn("generalized_negative_binomial", values, shape, dtype, ctx, out, named)


def randint(
    low: int, high: int, shape: Shape = None, dtype: Any = None, ctx: Context | None = None,
    out: NDArray | None = None, **named: Any,
) -> NDArray:  # fmt: skip
    """Integers from `low` up to and without `high`, of type int32 or int64; int32 if left out."""
    return _drawn_of_numbers("randint", {"low": low, "high": high}, shape, dtype, ctx, out, named)


def multinomial(
    data: NDArray,
    shape: Shape = None,
    get_prob: bool = False,
    out: NDArray | list[NDArray] | None = None,
    dtype: Any = "int32",
    **named: Any,
) -> Any:
    """Classes drawn with the probabilities in the last axis of `data`, `shape` for each of its rows.

    With `get_prob` there is a second array, the logarithms of the probabilities of the classes drawn,
    through which gradients flow to `data`.
    """
    wanted = () if shape is None else shape
    return nd._sample_multinomial(data, shape=wanted, get_prob=get_prob, dtype=dtype, out=out, **named)


def shuffle(data: NDArray, **named: Any) -> NDArray:
    """The items along the first axis in random order, in a new array."""
    shuffled: NDArray = nd._shuffle(data, **named)
    return shuffled


def _drawn(
    family: str,
    values: Mapping[str, Number],
    shape: Shape,
    dtype: Any,
    ctx: Context | None,
    out: NDArray | None,
    named: Mapping[str, Any],
) -> NDArray:
    if not are_all(NDArray, values, family):
        return _drawn_of_numbers(family, values, shape, dtype, ctx, out, named)
    first: Any = next(iter(values.values()))
    if shape is None:
        shape = () if out is None else out.shape[first.ndim :]
    operator = getattr(nd, f"_sample_{family}")
    drawn: NDArray = operator(*values.values(), shape=shape, dtype=_dtype(dtype, out), out=out, **named)
    return drawn


def _drawn_of_numbers(
    family: str,
    values: Mapping[str, Any],
    shape: Shape,
    dtype: Any,
    ctx: Context | None,
    out: NDArray | None,
    named: Mapping[str, Any],
) -> NDArray:
    if shape is None:
        shape = 1 if out is None else out.shape
    if ctx is None and out is not None:
        ctx = out.ctx
    operator = getattr(nd, f"_random_{family}")
    drawn: NDArray = operator(**values, shape=shape, dtype=_dtype(dtype, out), ctx=ctx, out=out, **named)
    return drawn


def _dtype(dtype: Any, out: NDArray | None) -> Any:
    return out.dtype.name if dtype is None and out is not None else dtype


def __getattr__(name: str) -> Any:
    return attribute(sys.modules[__name__], nd, "operad.random", name)


def __dir__() -> list[str]:
    return names_of(sys.modules[__name__])
