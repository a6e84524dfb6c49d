"""Transforms that change colours at random.

Source: python/mxnet/gluon/data/vision/transforms.py.
"""

from __future__ import annotations

from typing import Any, ClassVar

from operad_gluon.block import HybridBlock


class _Around(HybridBlock):
    """A function of images with a random factor around 1.

    Args:
        width: How far the factor may be from 1.
    """

    _function: ClassVar[str]

    def __init__(self, width: float) -> None:
        super().__init__()
        self._args = max(0, 1 - width), 1 + width

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Return the changed image."""
        return getattr(F.image, self._function)(x, *self._args)


class RandomBrightness(_Around):
    """The image times a random factor.

    Args:
        brightness: How far the factor may be from 1.
    """

    _function = "random_brightness"

    def __init__(self, brightness: float) -> None:
        super().__init__(brightness)


class RandomContrast(_Around):
    """The image with its contrast times a random factor.

    Args:
        contrast: How far the factor may be from 1.
    """

    _function = "random_contrast"

    def __init__(self, contrast: float) -> None:
        super().__init__(contrast)


class RandomSaturation(_Around):
    """The image with its saturation times a random factor.

    Args:
        saturation: How far the factor may be from 1.
    """

    _function = "random_saturation"

    def __init__(self, saturation: float) -> None:
        super().__init__(saturation)


class RandomHue(_Around):
    """The image with its hues turned by a random angle.

    Args:
        hue: How far the factor may be from 1.
    """

    _function = "random_hue"

    def __init__(self, hue: float) -> None:
        super().__init__(hue)


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
