"""Functions of images: of an `NDArray` they give one, of a NumPy array one of NumPy's.

An image has the axes (height, width, channels). Random numbers come from Python's `random`, as in MXNet, so
the same seed gives the crops of MXNet.

Source: python/mxnet/image/image.py.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from operad import NDArray, nd
from operad.errors import ArgumentError, FormatError, ParamError
from operad_files import read_bytes
from operad_image import pixels
from operad_image.codec import Image, decode

Box = tuple[int, int, int, int]
"""x, y, width and height of a crop."""

_ATTEMPTS: Final = 10


def as_pixels(src: Any) -> Image:
    """The NumPy array of an image.

    Raises:
        ArgumentError: It is no array.
    """
    if isinstance(src, np.ndarray):
        return src
    if isinstance(src, NDArray):
        return src.asnumpy()
    raise ArgumentError(f"the image is {type(src).__name__}, expected an NDArray or a NumPy array")


def like(src: Any, made: Image) -> Any:
    """`made` as an array of the kind of `src`, on its context."""
    return nd.array(made, ctx=src.context, dtype=made.dtype) if isinstance(src, NDArray) else made


def imdecode(buf: Any, flag: int = 1, to_rgb: bool | int = True, out: Any = None) -> Any:
    """Decode an image: a JPEG, and with OpenCV a PNG, WebP, BMP or TIFF.

    Args:
        buf: The bytes of its file.
        flag: 1: three channels; 0: gray, one channel; -1: as the image has them.
        to_rgb: Whether colours are in the order red, green, blue, and not the other way round.
        out: An array to write to.
    Returns:
        uint8, (height, width, channels).
    Raises:
        FormatError: It is no image, or a damaged one.
    """
    if isinstance(buf, NDArray):
        buf = buf.asnumpy()
    if isinstance(buf, np.ndarray):
        buf = buf.astype(np.uint8, copy=False).tobytes()
    if not isinstance(buf, (bytes, bytearray, memoryview)):
        raise ArgumentError(f"imdecode: buf is {type(buf).__name__}, expected the bytes of an image")
    if flag not in (-1, 0, 1):
        raise ParamError(f"imdecode: flag is {flag!r}, expected 1 for colours, 0 for gray or -1 for either")
    return _to(out, decode(bytes(buf), {0: 1, 1: 3}.get(flag), not to_rgb))


def imread(
    filename: str | os.PathLike[str], flag: int = 1, to_rgb: bool | int = True, out: Any = None
) -> Any:
    """Read and decode the image of a file; see `imdecode`."""
    what = f"image {os.fspath(filename)!r}"
    content = read_bytes(filename, what)
    try:
        return imdecode(content, flag, to_rgb, out)
    except FormatError as error:
        raise type(error)(f"{what}: {error}") from error


def imresize(src: Any, w: int, h: int, interp: int = 1, out: Any = None) -> Any:
    """Resize an image to width `w` and height `h`.

    Args:
        interp: 0 nearest, 1 bilinear, 2 cubic, 3 by area, 4 Lanczos, 9 by the sizes, 10 random.
    """
    made = pixels.resize(as_pixels(src), w, h, interp)
    return like(src, made) if out is None else _to(out, made)


def copyMakeBorder(  # noqa: N802 - OpenCV's and MXNet's name
    src: Any,
    top: int,
    bot: int,
    left: int,
    right: int,
    type: int = 0,
    value: float = 0.0,
    values: Sequence[float] = (),
    out: Any = None,
) -> Any:
    """Put a border around an image.

    Args:
        type: 0: of the colour `values`, or of `value`; else of the image, as OpenCV numbers them: 1 repeats
            the last pixel, 2 mirrors, 3 wraps around, 4 mirrors without the last pixel.
    """
    colour = tuple(values) or value
    made = pixels.border(as_pixels(src), top, bot, left, right, type, colour)
    return like(src, made) if out is None else _to(out, made)


def resize_short(src: Any, size: int, interp: int = 2) -> Any:
    """Resize the shorter edge to `size`, keeping the ratio."""
    image = as_pixels(src)
    height, width = pixels.shorter_edge(image, size)
    return like(src, pixels.resize(image, width, height, interp))


def fixed_crop(
    src: Any, x0: int, y0: int, w: int, h: int, size: Sequence[int] | None = None, interp: int = 2
) -> Any:
    """The part of an image with its corner at `x0`, `y0`; resized to `size`, (width, height), if given."""
    return like(src, pixels.crop(as_pixels(src), x0, y0, w, h, size, interp))


def random_crop(src: Any, size: Sequence[int], interp: int = 2) -> tuple[Any, Box]:
    """A part of width and height `size` somewhere in the image, and its box.

    Where the image is smaller, the part is made smaller, keeping its ratio, and resized to `size`.
    """
    image = as_pixels(src)
    height, width = image.shape[:2]
    w, h = pixels.scale_down((width, height), size)
    x0, y0 = random.randint(0, width - w), random.randint(0, height - h)
    return like(src, pixels.crop(image, x0, y0, w, h, size, interp)), (x0, y0, w, h)


def center_crop(src: Any, size: Sequence[int], interp: int = 2) -> tuple[Any, Box]:
    """The middle of an image, and its box; otherwise as `random_crop`."""
    image = as_pixels(src)
    height, width = image.shape[:2]
    w, h = pixels.scale_down((width, height), size)
    x0, y0 = (width - w) // 2, (height - h) // 2
    return like(src, pixels.crop(image, x0, y0, w, h, size, interp)), (x0, y0, w, h)


def random_size_crop(
    src: Any, size: Sequence[int], area: float | Sequence[float], ratio: Sequence[float], interp: int = 2
) -> tuple[Any, Box]:
    """A part of random area and ratio, resized to `size`, and its box.

    Where ten attempts find none that lies in the image, it is the middle.

    Args:
        size: Width and height of the result.
        area: Least and largest part of the image's area; a number: the least, and the largest is 1.
        ratio: Least and largest width over height.
    """
    image = as_pixels(src)
    height, width = image.shape[:2]
    least, largest = (area, 1.0) if isinstance(area, (int, float)) else area
    for _ in range(_ATTEMPTS):
        wanted = random.uniform(least, largest) * height * width
        shape = math.exp(random.uniform(math.log(ratio[0]), math.log(ratio[1])))
        w, h = round(math.sqrt(wanted * shape)), round(math.sqrt(wanted / shape))
        if 1 <= w <= width and 1 <= h <= height:
            x0, y0 = random.randint(0, width - w), random.randint(0, height - h)
            return like(src, pixels.crop(image, x0, y0, w, h, size, interp)), (x0, y0, w, h)
    return center_crop(src, size, interp)


def color_normalize(src: Any, mean: Any, std: Any = None) -> Any:
    """`(src - mean) / std`, as a new array; None for what is not to be done."""
    image = as_pixels(src)
    if mean is not None:
        image = image - as_pixels(mean).astype(image.dtype)
    if std is not None:
        image = image / as_pixels(std).astype(image.dtype)
    return like(src, image)


def _to(out: Any, made: Image) -> Any:
    if out is None:
        return nd.array(made, dtype=made.dtype)
    out[:] = made
    return out
