"""Transforms of images, (height, width, channels) of bytes until `ToTensor`.

Source: python/mxnet/gluon/data/vision/transforms.py.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

import operad as od
from operad.errors import DTypeError, ParamError
from operad_gluon.block import Block, HybridBlock
from operad_gluon.nn import HybridSequential, Sequential

Size = int | tuple[int, int]
Interval = tuple[float, float]


def _pair(size: Size) -> tuple[int, int]:
    return size if isinstance(size, (tuple, list)) else (size, size)


class Compose(Sequential):
    """Transforms one after another; neighbours that are hybrid run as one compiled function.

    Args:
        transforms: The transforms, in order.
    """

    def __init__(self, transforms: Iterable[Any]) -> None:
        super().__init__()
        run: list[Any] = []
        for transform in transforms:
            if isinstance(transform, HybridBlock):
                run.append(transform)
                continue
            self._add_run(run)
            run = []
            self.add(transform)
        self._add_run(run)

    def _add_run(self, run: Sequence[Any]) -> None:
        if len(run) < 2:
            self.add(*run)
            return
        together = HybridSequential()
        together.add(*run)
        together.hybridize()
        self.add(together)


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
        self,
        x: int,
        y: int,
        width: int,
        height: int,
        size: Any = None,
        interpolation: int | None = None,
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


def _around_one(width: float) -> Interval:
    return max(0, 1 - width), 1 + width


class RandomBrightness(HybridBlock):
    """The image times a random factor.

    Args:
        brightness: How far the factor may be from 1.
    """

    def __init__(self, brightness: float) -> None:
        super().__init__()
        self._args = _around_one(brightness)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the changed image."""
        return F.image.random_brightness(x, *self._args)


class RandomContrast(HybridBlock):
    """The image with its contrast times a random factor.

    Args:
        contrast: How far the factor may be from 1.
    """

    def __init__(self, contrast: float) -> None:
        super().__init__()
        self._args = _around_one(contrast)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the changed image."""
        return F.image.random_contrast(x, *self._args)


class RandomSaturation(HybridBlock):
    """The image with its saturation times a random factor.

    Args:
        saturation: How far the factor may be from 1.
    """

    def __init__(self, saturation: float) -> None:
        super().__init__()
        self._args = _around_one(saturation)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the changed image."""
        return F.image.random_saturation(x, *self._args)


class RandomHue(HybridBlock):
    """The image with its hues turned by a random angle.

    Args:
        hue: How far the factor may be from 1.
    """

    def __init__(self, hue: float) -> None:
        super().__init__()
        self._args = _around_one(hue)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the changed image."""
        return F.image.random_hue(x, *self._args)


class RandomColorJitter(HybridBlock):
    """Random brightness, contrast, saturation and hue, in random order.

    Args:
        brightness: As of `RandomBrightness`.
        contrast: As of `RandomContrast`.
        saturation: As of `RandomSaturation`.
        hue: As of `RandomHue`.
    """

    def __init__(
        self, brightness: float = 0, contrast: float = 0, saturation: float = 0, hue: float = 0
    ) -> None:
        super().__init__()
        self._args = (brightness, contrast, saturation, hue)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the changed image."""
        return F.image.random_color_jitter(x, *self._args)


class RandomLighting(HybridBlock):
    """The image plus noise along the main axes of ImageNet's colours, as in AlexNet.

    Args:
        alpha: Standard deviation of the noise.
    """

    def __init__(self, alpha: float) -> None:
        super().__init__()
        self._alpha = alpha

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the changed image."""
        return F.image.random_lighting(x, self._alpha)


class RandomApply(Sequential):
    """A transform that is applied with a probability.

    Args:
        transforms: The transform, of which several are a `Compose`.
        p: The probability.
    """

    def __init__(self, transforms: Any, p: float = 0.5) -> None:
        super().__init__()
        self.transforms = transforms
        self.p = p

    def forward(self, x: Any) -> Any:
        """Return the transformed image, or `x`."""
        return x if self.p < random.random() else self.transforms(x)
