"""Matrix products written where the result belongs."""

from __future__ import annotations

import numpy as np

from operad_sdk import Array


def transposed(array: Array) -> Array:
    """A view of the matrices in the last two axes, transposed."""
    return array.swapaxes(-1, -2)


@np.errstate(all="ignore")  # infinities and NaN are results like others
def product(left: Array, right: Array, out: Array, scale: float = 1.0) -> None:
    """Write `scale * left @ right`, for matrices in the last two axes.

    `out` may have another shape with as many elements.
    """
    shape = (*left.shape[:-1], right.shape[-1])
    if out.shape == shape or out.flags.c_contiguous:
        np.matmul(left, right, out=out.reshape(shape))
        if scale != 1:
            out *= scale
    else:
        out[...] = (scale * np.matmul(left, right)).reshape(out.shape)
