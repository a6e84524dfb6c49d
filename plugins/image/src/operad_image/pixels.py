"""Geometry of images: NumPy arrays (height, width, channels) in, the same out."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from operad.errors import DTypeError, ParamError, ShapeError
from operad_image.codec import Image
from operad_image.opencv import opencv

AUTO: Final = 9
"""Interpolation: cubic where an image grows, by area where it shrinks, else bilinear."""
ANY: Final = 10
"""Interpolation: a random one."""

_RESIZABLE: Final = ("uint8", "int8", "uint16", "int16", "float32", "float64")


def interpolation(interp: int, sizes: Sequence[int] = ()) -> int:
    """OpenCV's number of an interpolation.

    Args:
        interp: 0 nearest, 1 bilinear, 2 cubic, 3 by area, 4 Lanczos, 9 by the sizes, 10 random.
        sizes: Height and width before, height and width after.
    Raises:
        ParamError: It is none of these.
    """
    if interp == AUTO:
        if not sizes:
            return 2
        height, width, new_height, new_width = sizes
        if new_height > height and new_width > width:
            return 2
        return 3 if new_height < height and new_width < width else 1
    if interp == ANY:
        return random.randint(0, 4)
    if interp not in (0, 1, 2, 3, 4):
        raise ParamError(f"interp is {interp!r}, expected 0 to 4, 9 (by the sizes) or 10 (random)")
    return interp


def resize(image: Image, width: int, height: int, interp: int = 1) -> Image:
    """An image of another size, as OpenCV computes it.

    Raises:
        ParamError: A length is not positive.
        DTypeError: OpenCV does not resize that type.
    """
    if width < 1 or height < 1:
        raise ParamError(f"resize: to width {width} and height {height}, expected positive lengths")
    if image.shape[:2] == (height, width):
        return image.copy()
    _check(image)
    if image.dtype.name not in _RESIZABLE:
        raise DTypeError(f"resize: the image is {image.dtype}, expected one of {', '.join(_RESIZABLE)}")
    method = interpolation(interp, (*image.shape[:2], height, width))
    resized = opencv("resizing an image").resize(
        np.ascontiguousarray(image), (width, height), interpolation=method
    )
    return _with_channels(resized)


def border(
    image: Image, top: int, bottom: int, left: int, right: int, kind: int = 0, values: Any = 0.0
) -> Image:
    """An image with a border.

    Args:
        kind: 0 of one colour, `values`; else of the image, as OpenCV numbers them: 1 `aaa|abcdef`, 2
            `cba|abcdef`, 3 `def|abcdef`, 4 `dcb|abcdef`.
        values: A number, or one per channel.
    """
    if min(top, bottom, left, right) < 0:
        raise ParamError(f"a border of {(top, bottom, left, right)} pixels, expected none below 0")
    widths = ((top, bottom), (left, right), (0, 0))
    modes = {1: "edge", 2: "symmetric", 3: "wrap", 4: "reflect"}
    if kind == 0:
        channels = image.shape[2]
        made = np.empty((image.shape[0] + top + bottom, image.shape[1] + left + right, channels), image.dtype)
        made[:] = np.atleast_1d(np.asarray(values, np.float64))[:channels].astype(image.dtype)
        made[top : top + image.shape[0], left : left + image.shape[1]] = image
        return made
    if kind not in modes:
        raise ParamError(f"a border of type {kind!r}, expected 0 to 4")
    return np.asarray(np.pad(image, widths, modes[kind]))  # type: ignore[call-overload]  # one of its modes


def shorter_edge(image: Image, size: int) -> tuple[int, int]:
    """Height and width that make the shorter edge of an image `size` and keep the ratio."""
    height, width = image.shape[:2]
    return (size * height // width, size) if height > width else (size, size * width // height)


def scale_down(src_size: Sequence[float], size: Sequence[float]) -> tuple[int, int]:
    """A crop's size, made smaller where the image is smaller, keeping the crop's ratio.

    Args:
        src_size: Width and height of the image.
        size: Width and height of the crop.

    Example:
        >>> import operad as od
        >>> od.image.scale_down((640, 480), (720, 120))
        (640, 106)
    """
    width, height = size
    image_width, image_height = src_size
    if image_height < height:
        width, height = float(width * image_height) / height, image_height
    if image_width < width:
        width, height = image_width, float(height * image_width) / width
    return int(width), int(height)


def crop(
    image: Image,
    x0: int,
    y0: int,
    width: int,
    height: int,
    size: Sequence[int] | None = None,
    interp: int = 2,
) -> Image:
    """A part of an image, resized to `size`, (width, height), where that is given.

    Raises:
        ShapeError: The part does not lie in the image.
    """
    right, bottom = x0 + width, y0 + height
    if min(x0, y0) < 0 or min(width, height) < 1 or bottom > image.shape[0] or right > image.shape[1]:
        raise ShapeError(
            f"a crop of width {width} and height {height} at x {x0}, y {y0} does not lie in an image of "
            f"width {image.shape[1]} and height {image.shape[0]}"
        )
    part = image[y0:bottom, x0:right]
    if size is None or (width, height) == tuple(size):
        return part
    return resize(part, int(size[0]), int(size[1]), interp)


def _check(image: Image) -> None:
    if image.ndim != 3 or 0 in image.shape:
        raise ShapeError(f"the image has shape {image.shape}, expected (height, width, channels)")


def _with_channels(image: Any) -> Image:
    return np.asarray(image) if image.ndim == 3 else np.asarray(image)[:, :, None]
