"""Functions of `od.nd` that make arrays from nothing.

Source: python/mxnet/ndarray/ndarray.py and utils.py.
"""

from __future__ import annotations

from typing import Any

from operad import Context, NDArray, nd


def zeros(
    shape: Any, ctx: Context | None = None, dtype: object = None, stype: str | None = None, **params: Any
) -> NDArray:
    """A new array of zeros; the operator `_zeros`. The storage type can be "default" only.

    A name and attributes such as `__layout__` are taken, as of recurrent cells' states, and mean nothing.
    """
    if dtype is None and stype is None and not params:  # which is quicker
        return nd.make("_zeros", ctx, shape=shape)
    nd.check_dense("zeros", stype)
    return nd.make("_zeros", ctx, shape=shape, dtype=dtype, **_of_arrays(params))


def ones(shape: Any, ctx: Context | None = None, dtype: object = None, **params: Any) -> NDArray:
    """A new array of ones; the operator `_ones`. A name and attributes are taken as by `zeros`."""
    if dtype is None and not params:
        return nd.make("_ones", ctx, shape=shape)
    return nd.make("_ones", ctx, shape=shape, dtype=dtype, **_of_arrays(params))


def _of_arrays(params: dict[str, Any]) -> dict[str, Any]:
    """The parameters, without what a symbol alone has."""
    return {key: value for key, value in params.items() if key != "name" and not key.startswith("__")}


def full(
    shape: Any, val: float, ctx: Context | None = None, dtype: object = None, out: Any = None
) -> NDArray:
    """A new array filled with `val`; the operator `_full`."""
    return nd.make("_full", ctx, shape=shape, value=val, dtype=dtype, out=out)


def arange(
    start: float,
    stop: float | None = None,
    step: float = 1.0,
    repeat: int = 1,
    infer_range: bool | None = None,
    ctx: Context | None = None,
    dtype: object = None,
) -> NDArray:
    """Evenly spaced values in [start, stop), or [0, start); the operator `_arange`."""
    if infer_range:
        stop = None
    elif stop is None:
        start, stop = 0, start
    return nd.make("_arange", ctx, start=start, stop=stop, step=step, repeat=repeat, dtype=dtype)


def eye(
    N: int,  # noqa: N803 - MXNet's name, as is M
    M: int = 0,  # noqa: N803
    k: int = 0,
    ctx: Context | None = None,
    dtype: object = None,
    **params: Any,
) -> NDArray:
    """A matrix with ones on diagonal `k`; the operator `_eye`."""
    return nd.make("_eye", ctx, N=N, M=M, k=k, dtype=dtype, **params)


def set_value(src: float, out: NDArray) -> NDArray:
    """`out`, every element of which becomes `src`; MXNet's `nd._set_value`."""
    out[:] = src
    return out
