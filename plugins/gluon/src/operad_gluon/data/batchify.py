"""Samples put together to batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from operad import Context, NDArray, nd


def default_batchify_fn(data: Sequence[Any]) -> Any:
    """A batch: arrays are stacked, numbers become an array, and tuples a list of batches.

    Args:
        data: The samples, at least one.
    """
    first = data[0]
    if isinstance(first, NDArray):
        return nd.stack(*data)
    if isinstance(first, tuple):
        return [default_batchify_fn(column) for column in zip(*data, strict=False)]
    values = np.asarray(data)
    return nd.array(values, dtype=values.dtype)


def default_mp_batchify_fn(data: Sequence[Any]) -> Any:
    """`default_batchify_fn`; the loader itself moves a worker's batch to shared memory."""
    return default_batchify_fn(data)


def as_in_context(data: Any, ctx: Context) -> Any:
    """The arrays of a batch on `ctx`; tuples become lists, and other values stay."""
    if isinstance(data, NDArray):
        return data.as_in_context(ctx)
    if isinstance(data, (list, tuple)):
        return [as_in_context(one, ctx) for one in data]
    return data
