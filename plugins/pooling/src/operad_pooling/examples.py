"""Shapes and parameters that the contract checks try `Pooling` on.

Drawn freely, few shapes would go with a kernel. So the number of windows is drawn, and from it the size
of the images follows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from operad_sdk import Shape

Choose = Callable[[Sequence[int]], int]

_LENGTHS: Final = (1, 2, 3) * 4 + (0,)
"""Batches and channels. Nothing can be compared where there are none, so that is rare."""

# Without windows everything goes together, with them little does: more of what does. Strides and padding
# beyond the axes of a kernel are not read.
PARAMS: Final[Mapping[str, Sequence[Any]]] = {
    "kernel": (*((2, 2),) * 4, (1,), (2,), (3,), (1, 3), (3, 2), (3, 3), (2, 1, 2), (1, 2, 3)),
    "stride": (*((2, 2, 2),) * 3, (1, 1, 1), (3, 2, 1), (1, 2, 3), ()),
    "pad": (*((0, 0, 0),) * 3, (1, 0, 1), (0, 1, 1), (1, 1, 1), ()),
    "pool_type": ("max", "max", "avg", "sum", "lp"),
    "global_pool": (False, False, False, True),
    "pooling_convention": ("valid", "full", "valid", "full", "same"),
    "layout": (*(None,) * 12, "NCHW", "NCW", "NCDHW", "NHWC", "NWC", "NDHWC"),
    "cudnn_off": (False,),
}


def pooled_shapes(prop: Any, choose: Choose) -> list[Shape]:
    """Images with room for one to three windows along each axis; of any size if one window is all."""
    if prop.global_pool:
        axes = len(prop.layout) - 2 if prop.layout else choose((2, 1, 3))
        size = [choose((1, 2, 3)) for _ in range(axes)]
    else:
        windows = (1, 2, 3) if len(prop.kernel) < 3 else (1, 2)
        size = [
            max(_least(choose), (choose(windows) - 1) * stride + kernel - 2 * pad + choose(range(stride)))
            for kernel, stride, pad in zip(prop.kernel, prop.stride, prop.pad, strict=False)
        ]
    batch, channels = choose(_LENGTHS), choose(_LENGTHS)
    return [(batch, *size, channels) if prop.is_channels_last else (batch, channels, *size)]


def _least(choose: Choose) -> int:
    """The least size of an axis: rarely 0, which padding can make up for."""
    return choose((*(1,) * 12, 0))
