"""From a decoded image to one of `data_shape`: positions, then colours, as `ImageRecordIter` is asked.

Source: DefaultImageAugmenter::Process, src/io/image_aug_default.cc.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, final

import numpy as np

from operad.errors import ShapeError
from operad_image import pixels
from operad_image.codec import Image
from operad_image.opencv import opencv
from operad_image.options import Colour, Geometry

Rng = np.random.Generator

# The main axes of colours of the photographs of ImageNet.
EIGENVALUES: Final = np.array([55.46, 4.794, 1.148])
EIGENVECTORS: Final = np.array(
    [[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]]
)
_ATTEMPTS: Final = 10


@final
class Part(NamedTuple):
    """Part of an image, given by its corner; its size is known from the context.

    Attributes:
        image: The whole image, contiguous.
        top: Rows above the part.
        left: Columns before it.
    """

    image: Image
    top: int = 0
    left: int = 0


def placed(image: Image, wanted: Geometry, height: int, width: int, rng: Rng) -> Part:
    """The requested part of the image, of `height` and `width`.

    Raises:
        ShapeError: The image is smaller than that.
    """
    if wanted.resize > 0:
        new_height, new_width = pixels.shorter_edge(image, wanted.resize)
        image = pixels.resize(image, new_width, new_height, _method(wanted, rng))
    if wanted.random_resized_crop:
        box = _random_box(image, wanted, rng)
        if box is not None:
            return _part(pixels.crop(image, *box, (width, height), _method(wanted, rng)))
    elif wanted.bends:
        image = _bent(image, wanted, rng)
    if wanted.pad > 0:
        pad = wanted.pad
        image = pixels.border(image, pad, pad, pad, pad, values=wanted.fill_value)
    if wanted.max_crop_size > 0 or wanted.min_crop_size > 0:
        return _part(_square(image, wanted, height, width, rng))
    spare_y, spare_x = image.shape[0] - height, image.shape[1] - width
    if spare_y < 0 or spare_x < 0:
        raise ShapeError(
            f"the image has height {image.shape[0]} and width {image.shape[1]}, "
            f"expected at least {height} and {width} of data_shape; give resize={max(height, width)}"
        )
    y, x = _corner(spare_y, spare_x, wanted.rand_crop, rng)
    return Part(np.ascontiguousarray(image), y, x)


def coloured(part: Part, wanted: Colour, height: int, width: int, rng: Rng) -> Part:
    """A part of `height` and `width` with other colours; uint8 as it was."""
    if not wanted.is_any:
        return part
    image = part.image[part.top : part.top + height, part.left : part.left + width]
    amounts = (wanted.brightness, wanted.contrast, wanted.saturation)
    if any(amount > 0 for amount in amounts):
        factors = [1 + rng.uniform(-amount, amount) for amount in amounts]
        for kind in rng.permutation(3):
            image = _mixed(image, int(kind), factors[kind])
    if wanted.pca_noise > 0:
        alpha = rng.normal(0, wanted.pca_noise, 3)
        image = _bytes(image + (EIGENVECTORS * alpha) @ EIGENVALUES)
    limits = (wanted.random_h, wanted.random_l, wanted.random_s)
    if any(limits):
        image = shifted(image, [int(rng.uniform(-limit, limit)) for limit in limits])
    return _part(image)


def shifted(image: Image, shifts: Sequence[int]) -> Image:
    """The image with numbers added to its hue (0 to 180), lightness and saturation (0 to 255)."""
    cv2 = opencv("a random hue, lightness or saturation")
    hls = cv2.cvtColor(np.ascontiguousarray(image), cv2.COLOR_RGB2HLS).astype(np.int16)
    hls = np.clip(hls + np.array(shifts, np.int16), 0, [180, 255, 255]).astype(np.uint8)
    return np.asarray(cv2.cvtColor(hls, cv2.COLOR_HLS2RGB))


def brighter(image: Image, factor: float) -> Image:
    """The image times a number."""
    return _bytes(image * np.float32(factor))


def _part(image: Image) -> Part:
    return Part(np.ascontiguousarray(image))


def _method(wanted: Geometry, rng: Rng) -> int:
    return int(rng.integers(5)) if wanted.inter_method == pixels.ANY else wanted.inter_method


def _corner(spare_y: int, spare_x: int, is_random: bool, rng: Rng) -> tuple[int, int]:
    if is_random:
        return int(rng.integers(spare_y + 1)), int(rng.integers(spare_x + 1))
    return spare_y // 2, spare_x // 2


def _random_box(image: Image, wanted: Geometry, rng: Rng) -> tuple[int, int, int, int] | None:
    """x, y, width and height; None where no attempt found any."""
    height, width = image.shape[:2]
    for _ in range(_ATTEMPTS):
        area = rng.uniform(wanted.min_random_area, wanted.max_random_area) * height * width
        ratio = rng.uniform(*wanted.ratios)
        w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if rng.random() > 0.5:
            w, h = h, w
        if 1 <= w <= width and 1 <= h <= height:
            return int(rng.integers(width - w + 1)), int(rng.integers(height - h + 1)), w, h
    return None


def _bent(image: Image, wanted: Geometry, rng: Rng) -> Image:
    """Turned, sheared and scaled about the middle."""
    height, width = image.shape[:2]
    shear = rng.uniform(-wanted.max_shear_ratio, wanted.max_shear_ratio)
    angle = int(rng.integers(-wanted.max_rotate_angle, wanted.max_rotate_angle + 1))
    if wanted.rotate > 0:
        angle = wanted.rotate
    scale = rng.uniform(wanted.min_random_scale, wanted.max_random_scale)
    ratio = rng.uniform(*wanted.ratios)
    cos, sin = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    scale_y = 2 * scale / (1 + ratio)
    scale_x = ratio * scale_y
    new_width = max(wanted.min_img_size, min(wanted.max_img_size, scale * width))
    new_height = max(wanted.min_img_size, min(wanted.max_img_size, scale * height))
    turn = np.array(
        [
            [scale_y * cos - shear * sin * scale_x, scale_y * sin + shear * cos * scale_x],
            [-sin * scale_x, cos * scale_x],
        ]
    )
    shift = (np.array([new_width, new_height]) - turn @ np.array([width, height])) / 2
    cv2 = opencv("turning, shearing or scaling an image")
    bent = cv2.warpAffine(
        np.ascontiguousarray(image),
        np.hstack([turn, shift[:, None]]).astype(np.float32),
        (int(new_width), int(new_height)),
        flags=pixels.interpolation(_method(wanted, rng), (height, width, int(new_height), int(new_width))),
        borderMode=cv2.BORDER_CONSTANT,
        borderValue=(wanted.fill_value,) * 4,
    )
    return np.asarray(bent).reshape(*bent.shape[:2], image.shape[2])


def _square(image: Image, wanted: Geometry, height: int, width: int, rng: Rng) -> Image:
    if min(image.shape[:2]) < wanted.max_crop_size:
        raise ShapeError(
            f"the image has height {image.shape[0]} and width {image.shape[1]}, "
            f"expected at least {wanted.max_crop_size} of max_crop_size"
        )
    edge = int(rng.integers(wanted.min_crop_size, wanted.max_crop_size + 1))
    y, x = _corner(image.shape[0] - edge, image.shape[1] - edge, wanted.rand_crop, rng)
    return pixels.crop(image, x, y, edge, edge, (width, height), _method(wanted, rng))


def _mixed(image: Image, kind: int, factor: float) -> Image:
    """Brighter (0), with more contrast (1), or more saturated (2)."""
    if kind == 0:
        return brighter(image, factor)
    scaled = image * np.float32(factor)
    gray = image @ np.array([0.299, 0.587, 0.114], np.float32)
    return _bytes(scaled + np.float32(1 - factor) * (gray.mean() if kind == 1 else gray[:, :, None]))


def _bytes(image: Any) -> Image:
    return np.asarray(np.clip(np.rint(image), 0, 255).astype(np.uint8))
