"""Transforms that change colours at random.

Source: python/mxnet/gluon/data/vision/transforms.py.
"""

from __future__ import annotations

from typing import Any

from operad_gluon.block import HybridBlock


def _around_one(width: float) -> tuple[float, float]:
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
