"""Relative errors of sums along long axes, in this process: `python -m tools.accuracy_of_sums`, as JSON.

The operators that add are called as users call them, along each axis of arrays of equal, random and large
numbers. True sums are those of `math.fsum`. With `--plain` numba and llvmlite are not found.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from math import fsum
from typing import Any, Final

import numpy as np

SHAPES: Final = (
    ((1_000_000, 2), 0), ((2, 1_000_000), 1), ((4096, 256), 0), ((64, 10_000), 0), ((3, 100_000, 3), 1),
    ((1_000_000,), 0),
)  # fmt: skip
TYPES: Final = ("float32", "float64", "float16")
_OF_ROWS: Final = 5_000
"""Columns up to which layers are made that have weights for each."""

Call = Callable[[Any, Any, int], Iterator[tuple[str, Any, Any]]]


def added(x: Any, axis: int) -> Any:
    """The true sums along an axis."""
    rows = np.moveaxis(np.asarray(x, np.float64), axis, -1)
    return np.array([fsum(row) for row in rows.reshape(-1, rows.shape[-1])]).reshape(rows.shape[:-1])


def simple(od: Any, x: Any, axis: int) -> Iterator[tuple[str, Any, Any]]:
    """Sums themselves, and what is made of them."""
    nd, count = od.nd, x.shape[axis]
    data, total = nd.array(x, dtype=x.dtype), added(x, axis)
    yield "sum", nd.sum(data, axis=axis), total
    yield "nansum", nd.nansum(data, axis=axis), total
    yield "norm(1)", nd.norm(data, ord=1, axis=axis), total
    yield "norm(2)", nd.norm(data, axis=axis), np.sqrt(added(np.square(x, dtype=np.float64), axis))
    yield "mean", nd.mean(data, axis=axis), total / count
    mean, variance = nd.moments(data, axes=(axis,))
    centred = x - np.expand_dims(total / count, axis)
    yield "moments, mean", mean, total / count
    yield "moments, variance", variance, added(centred**2, axis) / count
    powers = np.exp(x.astype(np.float64) - x.max(axis, keepdims=True))
    shares = powers / np.expand_dims(added(powers, axis), axis)
    yield "softmax", nd.softmax(data, axis=axis), shares
    yield "log_softmax", nd.log_softmax(data, axis=axis), np.log(shares)
    prefixes = np.cumsum(x, axis, dtype=np.longdouble).astype(np.float64)
    yield "cumsum", nd.cumsum(data, axis=axis), prefixes


def gradients(od: Any, x: Any, axis: int) -> Iterator[tuple[str, Any, Any]]:
    """Gradients of what was repeated along an axis."""
    nd, total = od.nd, added(x, axis)
    short = [1 if i == axis else n for i, n in enumerate(x.shape)]
    zeros, ones = np.zeros(x.shape), np.ones(short)
    yield "broadcast_add, gradient", _gradient(od, nd.broadcast_add, x, zeros, ones), total
    yield "broadcast_mul, gradient", _gradient(od, nd.broadcast_mul, x, zeros + 1, ones), total
    if axis or x.ndim != 2 or x.shape[1] > _OF_ROWS:
        return
    rows, width = x.shape
    vector, data = np.ones(width), np.random.RandomState(0).rand(rows, 2)
    layer = lambda data, weight, bias: nd.FullyConnected(data, weight, bias, num_hidden=width)  # noqa: E731
    yield "FullyConnected, bias", _gradient(od, layer, x, data, np.ones((width, 2)), vector), total
    yield "LayerNorm, beta", _gradient(od, nd.LayerNorm, x, x + zeros, vector, vector), total
    indices = nd.zeros(rows)
    look_up = lambda table: nd.Embedding(indices, table, input_dim=3, output_dim=width)  # noqa: E731
    yield "Embedding, gradient", _gradient(od, look_up, x, np.ones((3, width)))[0], total
    yield "take, gradient", _gradient(od, lambda a: nd.take(a, indices), x, np.ones((3, width)))[0], total
    points = nd.zeros((1, rows))
    gather = lambda data: nd.gather_nd(data, points)  # noqa: E731
    yield "gather_nd, gradient", _gradient(od, gather, x, np.ones((3, width)))[0], total
    yield "BatchNorm, mean", _statistics(od, x)[1], total / rows


def _gradient(od: Any, function: Callable[..., Any], head: Any, *arrays: Any) -> Any:
    """The gradient of the last argument."""
    given = [od.nd.array(one, dtype=head.dtype) for one in arrays]
    given[-1].attach_grad()
    with od.autograd.record():
        found = function(*given)
    found.backward(od.nd.array(head, dtype=head.dtype))
    return given[-1].grad.asnumpy()


def _statistics(od: Any, x: Any) -> Any:
    width, dtype = x.shape[1], "float32" if x.dtype == np.float16 else x.dtype
    one, zero = (od.nd.full((width,), value, dtype=dtype) for value in (1, 0))
    with od.autograd.train_mode():
        return od.nd.BatchNorm(
            od.nd.array(x, dtype=x.dtype), one, zero, zero.copy(), one.copy(), output_mean_var=True
        )


def measured() -> dict[str, float]:
    """The largest relative errors, by operator and type."""
    import operad as od  # noqa: PLC0415 - once what it may not find is hidden
    import operad.autograd  # noqa: PLC0415

    found: dict[str, float] = {}
    for dtype in TYPES:
        for shape, axis in SHAPES:
            for x in _arrays(shape, dtype):
                for call in (simple, gradients):
                    for name, one, true in call(od, x, axis):
                        key = f"{name} {dtype}"
                        found[key] = max(found.get(key, 0.0), _error(one, true, dtype))
    return {key: float(f"{value:.2g}") for key, value in found.items()}


def _arrays(shape: Any, dtype: str) -> Iterator[Any]:
    random = np.random.RandomState(0)
    yield np.full(shape, 0.1, dtype)
    yield random.uniform(0.1, 1, shape).astype(dtype)
    if dtype != "float16":
        yield (random.standard_normal(shape) + 1000).astype(dtype)


def _error(found: Any, true: Any, dtype: str) -> float:
    """Of results in the range of normal numbers."""
    given = found.asnumpy() if hasattr(found, "asnumpy") else found
    limits, size = np.finfo(dtype), np.abs(true)
    is_judged = (size > float(limits.smallest_normal)) & (size < float(limits.max))
    if not is_judged.any():
        return 0.0
    apart = np.abs(given.reshape(true.shape).astype(np.float64) - true)[is_judged]
    return float((apart / size[is_judged]).max())


def both() -> dict[str, dict[str, float]]:
    """Those of processes with kernels and without, by operator and type."""
    found: dict[str, dict[str, float]] = {}
    for way, words in (("plain", ["--plain"]), ("compiled", [])):
        given = subprocess.run(
            [sys.executable, "-m", "tools.accuracy_of_sums", *words],
            check=True,
            capture_output=True,
            text=True,
        )
        for key, value in json.loads(given.stdout).items():
            found.setdefault(key, {})[way] = value
    return found


if __name__ == "__main__":
    if "--plain" in sys.argv:
        sys.modules["numba"] = sys.modules["llvmlite"] = None  # type: ignore[assignment]
    print(json.dumps(measured()))
