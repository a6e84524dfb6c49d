"""Transforms of bytes to numbers.

Source: python/mxnet/gluon/data/vision/transforms.py.
"""

from __future__ import annotations

from typing import Any

from operad_gluon.block import HybridBlock


class Cast(HybridBlock):
    """The image in another element type.

    Args:
        dtype: The type.
    """

    def __init__(self, dtype: Any = "float32") -> None:
        super().__init__()
        self._dtype = dtype

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return `x` as the type."""
        return F.cast(x, self._dtype)


class ToTensor(HybridBlock):
    """Bytes (height, width, channels) as float32 (channels, height, width) from 0 to 1; batches likewise."""

    def __init__(self) -> None:
        super().__init__()

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the tensor."""
        return F.image.to_tensor(x)


class Normalize(HybridBlock):
    """A tensor less the mean, divided by the standard deviation of its channel.

    Args:
        mean: One for all channels, or one for each.
        std: Likewise.
    """

    def __init__(self, mean: Any = 0.0, std: Any = 1.0) -> None:
        super().__init__()
        self._mean = mean
        self._std = std

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the normalized tensor."""
        return F.image.normalize(x, self._mean, self._std)
