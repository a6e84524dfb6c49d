"""Requests: how an operator is to write an output, and functions that do it."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np


class OpReq(IntEnum):
    """The request an executor makes of one output.

    Source: OpReqType, include/mxnet/op_attr_types.h.
    """

    NULL = 0
    """Compute nothing."""
    WRITE = 1
    """Overwrite every element; the old contents are undefined."""
    INPLACE = 2
    """Like `WRITE`, and the output shares its memory with an input the operator named."""
    ADD = 3
    """Add to what is there."""


def assign(out: Any, req: OpReq, value: Any) -> None:
    """Apply `req` to the array `out` with `value`, which must broadcast to `out`'s shape.

    The value is cast to `out`'s dtype, also from a wider one.
    """
    if req is OpReq.NULL:
        return
    if req is OpReq.ADD:
        out[...] += value.astype(out.dtype, copy=False) if hasattr(value, "astype") else value
    else:
        out[...] = value


def transfer(xp: Any, source: Any, target: Any) -> None:
    """Copy the values of an array into another, of either device, casting as needed; shapes broadcast.

    Args:
        xp: The array module of `target`, if that is not of NumPy.
    """
    if isinstance(target, np.ndarray):
        target[...] = source if isinstance(source, np.ndarray) else source.get()
    else:
        target[...] = xp.asarray(source)
