"""Augmenters of colours. They compute in the image's element type: cast to float32 before.

Source: python/mxnet/image/image.py.
"""

from __future__ import annotations

import math
import random
from typing import Any, Final

import numpy as np

from operad_image import functions
from operad_image.augmenters import Augmenter, RandomOrderAug
from operad_image.codec import Image

_GRAY: Final = np.array([0.299, 0.587, 0.114], np.float32)
"""Weights of red, green and blue in the brightness that the eye sees."""

# Between red, green, blue and YIQ, in which a turn of the last two axes is a change of hue.
_TO_YIQ: Final = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.321], [0.211, -0.523, 0.311]])
_FROM_YIQ: Final = np.array([[1.0, 0.956, 0.621], [1.0, -0.272, -0.647], [1.0, -1.107, 1.705]])


class BrightnessJitterAug(Augmenter):
    """`a` times the image, with `a` from `1 - brightness` to `1 + brightness`."""

    def __init__(self, brightness: float) -> None:
        super().__init__(brightness=brightness)
        self.brightness = brightness

    def change(self, image: Image) -> Image:
        """See the class."""
        return _as(image, image * np.float32(1.0 + random.uniform(-self.brightness, self.brightness)))


class ContrastJitterAug(Augmenter):
    """`a` times the image and `1 - a` times its mean gray, with `a` from `1 - contrast` to `1 + contrast`."""

    def __init__(self, contrast: float) -> None:
        super().__init__(contrast=contrast)
        self.contrast = contrast

    def change(self, image: Image) -> Image:
        """See the class."""
        alpha = np.float32(1.0 + random.uniform(-self.contrast, self.contrast))
        return _as(image, image * alpha + (1 - alpha) * (image @ _GRAY).mean(dtype=np.float32))


class SaturationJitterAug(Augmenter):
    """`a` times the image and `1 - a` times its gray, with `a` from `1 - saturation` to `1 + saturation`."""

    def __init__(self, saturation: float) -> None:
        super().__init__(saturation=saturation)
        self.saturation = saturation

    def change(self, image: Image) -> Image:
        """See the class."""
        alpha = np.float32(1.0 + random.uniform(-self.saturation, self.saturation))
        return _as(image, image * alpha + (1 - alpha) * (image @ _GRAY)[:, :, None])


class HueJitterAug(Augmenter):
    """Colours turned by an angle from `-hue` to `hue` times pi."""

    def __init__(self, hue: float) -> None:
        super().__init__(hue=hue)
        self.hue = hue

    def change(self, image: Image) -> Image:
        """See the class."""
        angle = random.uniform(-self.hue, self.hue) * math.pi
        cos, sin = math.cos(angle), math.sin(angle)
        turn = np.array([[1.0, 0.0, 0.0], [0.0, cos, -sin], [0.0, sin, cos]])
        return _as(image, image @ (_FROM_YIQ @ turn @ _TO_YIQ).T.astype(np.float32))


class ColorJitterAug(RandomOrderAug):
    """Brightness, contrast and saturation, in random order."""

    def __init__(self, brightness: float, contrast: float, saturation: float) -> None:
        kinds = (BrightnessJitterAug, ContrastJitterAug, SaturationJitterAug)
        bounds = zip(kinds, (brightness, contrast, saturation), strict=True)
        super().__init__([kind(bound) for kind, bound in bounds if bound > 0])


class LightingAug(Augmenter):
    """One colour added to all pixels, drawn along the main axes of colours of a set of images.

    Args:
        alphastd: Standard deviation of the amount along an axis, in units of its eigenvalue.
        eigval: Eigenvalues of the colours' covariance.
        eigvec: Its eigenvectors, as columns.
    """

    def __init__(self, alphastd: float, eigval: Any, eigvec: Any) -> None:
        super().__init__(alphastd=alphastd, eigval=eigval, eigvec=eigvec)
        self.alphastd = alphastd
        self.eigval = eigval
        self.eigvec = eigvec

    def change(self, image: Image) -> Image:
        """See the class."""
        alpha = np.random.normal(0, self.alphastd, size=(3,))
        colour = np.dot(functions.as_pixels(self.eigvec) * alpha, functions.as_pixels(self.eigval))
        return _as(image, image + colour.astype(np.float32))


class ColorNormalizeAug(Augmenter):
    """`(image - mean) / std`."""

    def __init__(self, mean: Any, std: Any) -> None:
        super().__init__(mean=mean, std=std)
        self.mean = None if mean is None else np.asarray(_values(mean), np.float32)
        self.std = None if std is None else np.asarray(_values(std), np.float32)

    def change(self, image: Image) -> Image:
        """See the class."""
        return functions.as_pixels(functions.color_normalize(image, self.mean, self.std))


class RandomGrayAug(Augmenter):
    """Gray in all channels, with probability `p`."""

    def __init__(self, p: float) -> None:
        super().__init__(p=p)
        self.p = p

    def change(self, image: Image) -> Image:
        """See the class."""
        if random.random() >= self.p:
            return image
        gray = image @ np.array([0.21, 0.72, 0.07], np.float32)
        return _as(image, np.repeat(gray[:, :, None], 3, axis=2))


def _as(image: Image, made: Any) -> Image:
    return np.asarray(made).astype(image.dtype, copy=False)


def _values(given: Any) -> Any:
    return given.asnumpy() if hasattr(given, "asnumpy") else given
