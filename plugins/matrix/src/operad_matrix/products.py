"""Matrix products written where the result belongs."""

from __future__ import annotations

from typing import Any

import numpy as np

from operad_sdk import Array, Output, Shape


def transposed(array: Array) -> Array:
    """A view of the matrices in the last two axes, transposed."""
    return array.swapaxes(-1, -2)


def write_product(xp: Any, left: Array, right: Array, output: Output, scale: float = 1.0) -> None:
    """Write `scale * left @ right` for matrices in the last two axes.

    `output` may have another shape with as many elements. Half precision is multiplied and summed in
    single precision, which BLAS has and half lacks.
    """
    if left.dtype == np.float16:
        value = xp.matmul(left.astype(np.float32), right.astype(np.float32))
        output.assign((value if scale == 1 else scale * value).reshape(output.shape))
        return
    shape: Shape = (*left.shape[:-1], right.shape[-1])
    with output.writing() as out:
        if out.shape != shape and not out.flags.c_contiguous:
            out[...] = (scale * xp.matmul(left, right)).reshape(out.shape)
            return
        target = out.reshape(shape)
        xp.matmul(left, right, out=target)
        if scale != 1:
            target *= scale
