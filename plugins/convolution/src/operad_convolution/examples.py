"""Layers with filters that the contract checks try, and references of a convolution.

Drawn freely, few shapes would go with a kernel. So the number of windows is drawn, and from it the size
of the images follows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from typing import Any, Final

import numpy as np

from operad_sdk import Array, Shape

Choose = Callable[[Sequence[int]], int]

_LENGTHS: Final = (1, 2, 3) * 4 + (0,)
"""Batches and channels of a group. Nothing can be compared where there are none, so that is rare."""

PARAMS: Final[Mapping[str, Sequence[Any]]] = {
    "num_filter": (2, 1, 4),
    "num_group": (1, 1, 2),
    "layout": (*(None,) * 12, "NCHW", "NCW", "NCDHW"),  # two of the three do not go with a kernel
    "workspace": (1024,),
    "cudnn_tune": (None,),
    "cudnn_off": (False,),
}


NARROWED: Final = {"layout": "MXNet has channels last on a GPU alone, so they are refused"}


def convolution_shapes(prop: Any, choose: Choose) -> list[Shape]:
    """Images with room for one to three windows along each axis, filters, and a bias."""
    axes = zip(prop.kernel, prop.stride, prop.dilate, prop.pad, strict=True)
    windows = (1, 2, 3) if len(prop.kernel) < 3 else (1, 2)
    size = [
        max(
            _least(choose),
            (choose(windows) - 1) * stride + dilate * (kernel - 1) + 1 - 2 * pad + choose(range(stride)),
        )
        for kernel, stride, dilate, pad in axes
    ]
    batch, channels = choose(_LENGTHS), choose(_LENGTHS)
    data = (batch, channels * prop.num_group, *size)
    return _with_bias(prop, data, (prop.num_filter, channels, *prop.kernel))


def deconvolution_shapes(prop: Any, choose: Choose) -> list[Shape]:
    """Images of the smallest size that padding leaves something of, or more; filters, and a bias."""
    axes = zip(
        prop.kernel, prop.stride, prop.dilate, prop.pad, prop.adj, prop.target_shape or repeat(None),
        strict=False,
    )  # fmt: skip
    more = (0, 1, 2) if len(prop.kernel) < 3 else (0, 1)
    size = []
    for kernel, stride, dilate, pad, adj, target in axes:
        of_one = dilate * (kernel - 1) + 1  # what one position becomes
        missing = 1 + 2 * pad - adj - of_one if target is None else target - of_one
        size.append(max(_least(choose), 1 - -missing // stride + choose(more)))
    batch, channels = choose(_LENGTHS), choose(_LENGTHS)
    data = (batch, channels * prop.num_group, *size)
    return _with_bias(prop, data, (data[1], prop.num_filter // prop.num_group, *prop.kernel))


def by_windows(
    data: Array, weight: Array, bias: Any = 0, *, stride: Shape, dilate: Shape, pad: Shape, num_group: int
) -> Array:
    """The product of every window, as a copy, with every filter."""
    axes, extent = len(stride), [d * (k - 1) + 1 for k, d in zip(weight.shape[2:], dilate, strict=True)]
    padded = np.pad(data, [(0, 0), (0, 0), *((p, p) for p in pad)])
    windows: Any = np.lib.stride_tricks.sliding_window_view(padded, extent, (2, 3, 4)[:axes])
    windows = windows[(..., *(slice(None, None, step) for step in (*stride, *dilate)))]
    summed = [1, *range(2 + axes, 2 + 2 * axes)]
    groups = zip(np.split(windows, num_group, 1), np.split(weight, num_group), strict=True)
    products = [np.tensordot(part, filters, (summed, range(1, 2 + axes))) for part, filters in groups]
    return np.moveaxis(np.concatenate(products, -1) + bias, -1, 1)


def _least(choose: Choose) -> int:
    """The least size of an axis: rarely 0, which padding can make up for."""
    return choose((*(1,) * 12, 0))


def _with_bias(prop: Any, data: Shape, weight: Shape) -> list[Shape]:
    return [data, weight, *([] if prop.no_bias else [(prop.num_filter,)])]
