"""Changes of colours; images hold red, green and blue along the last axis, or gray alone."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from operad_sdk import Array

GRAY: Final = (0.299, 0.587, 0.114)
"""Weights of red, green and blue in the brightness that the eye sees."""


def gray(image: Array) -> Array:
    """The brightness of each pixel, along an axis of length 1."""
    if image.shape[-1] == 1:
        return image
    red, green, blue = (image[..., number] * image.dtype.type(GRAY[number]) for number in range(3))
    return (red + green + blue)[..., None]


def brighter(image: Array, factor: float) -> Array:
    """Every pixel times `factor`."""
    return image * image.dtype.type(factor)


def contrasted(image: Array, factor: float) -> Array:
    """Mixed with the image's mean brightness: all of it where the factor is 0, and none where it is 1."""
    mean = gray(image).mean(axis=(-3, -2, -1), keepdims=True) if image.size else image.dtype.type(0)
    return image * image.dtype.type(factor) + mean * image.dtype.type(1 - factor)


def saturated(image: Array, factor: float) -> Array:
    """Mixed with its gray, likewise."""
    if image.shape[-1] == 1:
        return image
    return image * image.dtype.type(factor) + gray(image) * image.dtype.type(1 - factor)


def turned(image: Array, turn: float) -> Array:
    """Hues turned by `turn` of a full circle, of bytes; lightness and saturation stay."""
    if image.shape[-1] == 1:
        return image
    hue, lightness, saturation = _hls(image / 255)
    return _rgb((hue + turn) % 1, lightness, saturation) * 255


def _hls(image: Array) -> tuple[Array, Array, Array]:
    """Hue, lightness and saturation, from 0 to 1, of colours from 0 to 1."""
    red, green, blue = (image[..., number] for number in range(3))
    largest, smallest = image.max(axis=-1), image.min(axis=-1)
    spread = largest - smallest
    lightness = (largest + smallest) / 2
    is_gray = spread == 0
    share = np.where(is_gray, 1, spread)
    whole = np.where(lightness < 0.5, largest + smallest, 2 - largest - smallest)
    saturation = np.where(is_gray, 0, spread / np.where(whole == 0, 1, whole))
    hue = np.where(
        largest == red,
        (green - blue) / share,
        np.where(largest == green, 2 + (blue - red) / share, 4 + (red - green) / share),
    )
    return np.where(is_gray, 0, hue / 6) % 1, lightness, saturation


def _rgb(hue: Array, lightness: Array, saturation: Array) -> Array:
    """Colours, the inverse of `_hls`."""
    high = np.where(
        lightness <= 0.5,
        lightness * (1 + saturation),
        lightness + saturation - lightness * saturation,
    )
    low = 2 * lightness - high
    # Each colour is highest for a third of the circle around its own hue, and falls to either side.
    parts = [np.clip(abs((hue * 6 - middle + 3) % 6 - 3), 0, 2) for middle in (0, 2, 4)]
    return np.stack([low + (high - low) * np.clip(2 - part, 0, 1) for part in parts], axis=-1)


def shifted(image: Array, colour: Array) -> Array:
    """One colour added to every pixel."""
    return image if image.shape[-1] == 1 else image + colour


EIGENVECTORS: Final[Any] = np.array(
    [
        [55.46 * -0.5675, 4.794 * 0.7192, 1.148 * 0.4009],
        [55.46 * -0.5808, 4.794 * -0.0045, 1.148 * -0.8140],
        [55.46 * -0.5836, 4.794 * -0.6948, 1.148 * 0.4203],
    ]
)
"""Main axes of the colours of ImageNet's images, each as long as colours spread along it."""
