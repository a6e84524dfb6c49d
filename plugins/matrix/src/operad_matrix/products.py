"""Matrix products written where the result belongs."""

from __future__ import annotations

import numpy as np

from operad_sdk import Array


def transposed(array: Array) -> Array:
    """A view of the matrices in the last two axes, transposed."""
    return array.swapaxes(-1, -2)


def scaled(value: Array, factor: float) -> Array:
    """`factor * value`; a factor of 0 gives 0, as in BLAS, whatever the value."""
    if factor == 1:
        return value
    return factor * value if factor else np.zeros_like(value)


@np.errstate(all="ignore")  # infinities and NaN are results like others
def product(left: Array, right: Array, out: Array, scale: float = 1.0) -> None:
    """Write `scale * left @ right`, for matrices in the last two axes.

    `out` may have another shape with as many elements. A scale of 0 gives 0, as in BLAS: nothing is read.
    """
    if not scale:
        out[...] = 0
        return
    shape = (*left.shape[:-1], right.shape[-1])
    if out.shape == shape or out.flags.c_contiguous:
        np.matmul(left, right, out=out.reshape(shape))
        if scale != 1:
            out *= scale
    else:
        out[...] = (scale * np.matmul(left, right)).reshape(out.shape)
