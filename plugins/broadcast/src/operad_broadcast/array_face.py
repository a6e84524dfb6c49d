"""The method `broadcast_to` of arrays.

Source: NDArray.broadcast_to, python/mxnet/ndarray/ndarray.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import index

from operad import NDArray, nd


def broadcast_to(self: NDArray, shape: Iterable[int]) -> NDArray:
    """The values repeated along axes of length 1, also along new ones before the first axis."""
    target, x = tuple(map(index, shape)), self
    for _ in range(len(target) - x.ndim):
        x = x.expand_dims(0)
    return nd.invoke("broadcast_to", (x,), {"shape": target})
