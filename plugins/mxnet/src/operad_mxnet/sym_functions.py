"""Functions of `mx.sym` that are no operators.

Source: python/mxnet/symbol/symbol.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from operad import sym
from operad.errors import ArgumentError


def _type(dtype: Any) -> str:
    return np.dtype(np.float32 if dtype is None else dtype).name


def full(shape: Any, val: float, dtype: Any = None, **attrs: Any) -> Any:
    """A symbol of `val` everywhere."""
    return sym._full(shape=shape, dtype=_type(dtype), value=float(val), **attrs)


def arange(
    start: float,
    stop: float | None = None,
    step: float = 1.0,
    repeat: int = 1,
    infer_range: bool = False,
    name: str | None = None,
    dtype: Any = None,
) -> Any:
    """A symbol of evenly spaced values in [start, stop), or [0, start)."""
    if stop is None and not infer_range:
        start, stop = 0, start
    return sym._arange(
        start=start,
        stop=stop,
        step=step,
        repeat=repeat,
        infer_range=infer_range,
        name=name,
        dtype=_type(dtype),
    )


def linspace(
    start: float, stop: float, num: int, endpoint: bool = True, name: str | None = None, dtype: Any = None
) -> Any:
    """A symbol of `num` evenly spaced values from `start` to `stop`."""
    return sym._linspace(start=start, stop=stop, num=num, endpoint=endpoint, name=name, dtype=_type(dtype))


def eye(N: int, M: int = 0, k: int = 0, dtype: Any = None, **attrs: Any) -> Any:  # noqa: N803 - MXNet's names
    """A symbol of a matrix with ones on diagonal `k`."""
    return sym._eye(N=N, M=M, k=k, dtype=_type(dtype), **attrs)


def histogram(a: Any, bins: Any = 10, range: tuple[float, float] | None = None, **attrs: Any) -> Any:
    """Number of elements in each bin, and the edges of the bins.

    Raises:
        ArgumentError: `bins` is neither, or a number without a range.
    """
    if isinstance(bins, sym.Symbol):
        return sym._histogram(data=a, bins=bins, **attrs)
    if not isinstance(bins, int) or range is None:
        raise ArgumentError(f"histogram: got bins={bins!r}, range={range!r}; expected a symbol, or both")
    return sym._histogram(data=a, bin_cnt=bins, range=range, **attrs)


def split_v2(ary: Any, indices_or_sections: Any, axis: int = 0, squeeze_axis: bool = False) -> Any:
    """The parts of a symbol between some positions of an axis, or its equal parts."""
    if isinstance(indices_or_sections, int):
        return sym._split_v2(
            ary, indices=(), axis=axis, squeeze_axis=squeeze_axis, sections=indices_or_sections
        )
    if isinstance(indices_or_sections, (tuple, list)):
        return sym._split_v2(ary, indices=(0, *indices_or_sections), axis=axis, squeeze_axis=squeeze_axis)
    raise ArgumentError(f"split_v2: got {indices_or_sections!r}, expected an integer or a tuple of integers")
