"""`PixelShuffle1D` to `PixelShuffle3D`: channels become pixels, (N, f*C, W) -> (N, C, f*W) and so on.

Source: python/mxnet/gluon/contrib/nn/basic_layers.py, after Shi et al. 2016, "Real-time single image
and video super-resolution using an efficient sub-pixel convolutional neural network". Differs: one transpose
for any number of axes.
"""

from __future__ import annotations

from math import prod
from typing import Any

from operad.errors import ParamError
from operad_gluon.block import HybridBlock


class _PixelShuffle(HybridBlock):
    def __init__(self, factor: int | tuple[int, ...], dims: int) -> None:
        super().__init__()
        self._factors = (factor,) * dims if isinstance(factor, int) else tuple(map(int, factor))
        if len(self._factors) != dims:
            raise ParamError(f"{type(self).__name__}: factor is {factor!r}, expected {dims} numbers, or one")

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the larger image."""
        dims, product = len(self._factors), prod(self._factors)
        # (N, C, f1 * ... * fd, W1, ..., Wd), and then one factor split off after another.
        x = F.reshape(x, (0, -4, -1, product, -2))
        for number, factor in enumerate(self._factors[:-1]):
            product //= factor
            x = F.reshape(x, (*(0,) * (number + 2), -4, factor, product, -2))
        order = [axis for number in range(dims) for axis in (2 + dims + number, 2 + number)]
        return F.reshape(F.transpose(x, (0, 1, *order)), (0, 0, *(-3,) * dims))


class PixelShuffle1D(_PixelShuffle):
    """Channels of sequences become steps.

    Args:
        factor: How many times longer sequences become.
    """

    def __init__(self, factor: int) -> None:
        super().__init__(int(factor), 1)

    def __repr__(self) -> str:
        return f"PixelShuffle1D({self._factors[0]})"


class PixelShuffle2D(_PixelShuffle):
    """Channels of images become pixels.

    Args:
        factor: How many times higher and wider images become; one number for both, or two.
    """

    def __init__(self, factor: int | tuple[int, int]) -> None:
        super().__init__(factor, 2)

    def __repr__(self) -> str:
        return f"PixelShuffle2D({self._factors})"


class PixelShuffle3D(_PixelShuffle):
    """Channels of volumes become voxels.

    Args:
        factor: How many times deeper, higher and wider volumes become; one number for all, or three.
    """

    def __init__(self, factor: int | tuple[int, int, int]) -> None:
        super().__init__(factor, 3)

    def __repr__(self) -> str:
        return f"PixelShuffle3D({self._factors})"
