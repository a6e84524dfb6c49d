"""Transforms that move pixels: crops, sizes, rotations, mirror images.

Source: python/mxnet/gluon/data/vision/transforms.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import operad as od
from operad.errors import DTypeError, ParamError
from operad_gluon.block import Block, HybridBlock

Size = int | tuple[int, int]
Interval = tuple[float, float]


def _pair(size: Size) -> tuple[int, int]:
    return size if isinstance(size, (tuple, list)) else (size, size)


def _require_float32(who: Block, x: Any) -> None:
    if x.dtype != np.float32:
        raise DTypeError(
            f"{type(who).__name__}: the image is {x.dtype}, expected float32; put ToTensor before"
        )


class Rotate(Block):
    """A float32 tensor turned by an angle.

    Args:
        rotation_degrees: The angle, in degrees.
        zoom_in: Enlarge until no corner is empty.
        zoom_out: Shrink until all of the image is seen.
    """

    def __init__(self, rotation_degrees: float, zoom_in: bool = False, zoom_out: bool = False) -> None:
        super().__init__()
        self._args = (rotation_degrees, zoom_in, zoom_out)

    def forward(self, x: Any) -> Any:
        """Return the turned tensor."""
        _require_float32(self, x)
        return od.image.imrotate(x, *self._args)


class RandomRotation(Block):
    """A float32 tensor turned by a random angle.

    Args:
        angle_limits: The smallest and the largest angle, in degrees.
        zoom_in: Enlarge until no corner is empty.
        zoom_out: Shrink until all of the image is seen.
        rotate_with_proba: Probability that it is turned at all.
    Raises:
        ParamError: The limits are not in order, or the probability is none.
    """

    def __init__(
        self,
        angle_limits: Interval,
        zoom_in: bool = False,
        zoom_out: bool = False,
        rotate_with_proba: float = 1.0,
    ) -> None:
        super().__init__()
        lower, upper = angle_limits
        if lower >= upper:
            raise ParamError(f"RandomRotation: angle_limits is {angle_limits!r}, expected the smaller first")
        if not 0 <= rotate_with_proba <= 1:
            raise ParamError(f"RandomRotation: rotate_with_proba is {rotate_with_proba!r}, expected 0 to 1")
        self._args = (angle_limits, zoom_in, zoom_out)
        self._rotate_with_proba = rotate_with_proba

    def forward(self, x: Any) -> Any:
        """Return the turned tensor, or `x`."""
        if np.random.random() > self._rotate_with_proba:
            return x
        _require_float32(self, x)
        return od.image.random_rotate(x, *self._args)


class RandomResizedCrop(Block):
    """A random part of the image, of random size and shape, resized.

    Args:
        size: Width and height of the result, or one number for both.
        scale: Smallest and largest part of the image's area.
        ratio: Smallest and largest width over height.
        interpolation: As of `image.imresize`.
    """

    def __init__(
        self,
        size: Size,
        scale: Interval = (0.08, 1.0),
        ratio: Interval = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: int = 1,
    ) -> None:
        super().__init__()
        self._args = (_pair(size), scale, ratio, interpolation)

    def forward(self, x: Any) -> Any:
        """Return the part."""
        return od.image.random_size_crop(x, *self._args)[0]


class CropResize(HybridBlock):
    """A part of the image, perhaps resized.

    Args:
        x: Left edge.
        y: Upper edge.
        width: Width of the part.
        height: Its height.
        size: Width and height of the result, or one number for both; None: those of the part.
        interpolation: As of `image.imresize`.
    """

    def __init__(
        self, x: int, y: int, width: int, height: int, size: Any = None, interpolation: int | None = None
    ) -> None:
        super().__init__()
        self._x, self._y = x, y
        self._width, self._height = width, height
        self._size = size
        self._interpolation = interpolation

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the part."""
        out = F.image.crop(x, self._x, self._y, self._width, self._height)
        if not self._size:
            return out
        return F.image.resize(
            out, self._size, False, 1 if self._interpolation is None else self._interpolation
        )


class CenterCrop(Block):
    """The middle of the image, enlarged where it is too small.

    Args:
        size: Width and height of the result, or one number for both.
        interpolation: As of `image.imresize`.
    """

    def __init__(self, size: Size, interpolation: int = 1) -> None:
        super().__init__()
        self._args = (_pair(size), interpolation)

    def forward(self, x: Any) -> Any:
        """Return the middle."""
        return od.image.center_crop(x, *self._args)[0]


class Resize(HybridBlock):
    """The image in another size.

    Args:
        size: Width and height, or one number for both.
        keep_ratio: With one number: that of the shorter edge.
        interpolation: As of `image.imresize`.
    """

    def __init__(self, size: Size, keep_ratio: bool = False, interpolation: int = 1) -> None:
        super().__init__()
        self._keep = keep_ratio
        self._size = size
        self._interpolation = interpolation

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the resized image."""
        return F.image.resize(x, self._size, self._keep, self._interpolation)


class RandomFlipLeftRight(HybridBlock):
    """The image, or its mirror image with the same probability."""

    def __init__(self) -> None:
        super().__init__()

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return one of the two."""
        return F.image.random_flip_left_right(x)


class RandomFlipTopBottom(HybridBlock):
    """The image, or upside down with the same probability."""

    def __init__(self) -> None:
        super().__init__()

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return one of the two."""
        return F.image.random_flip_top_bottom(x)
