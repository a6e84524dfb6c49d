"""From a decoded image with objects to one of `data_shape`, as `ImageDetRecordIter` is asked.

Source: DefaultImageDetAugmenter::Process, src/io/image_det_aug_default.cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, final

import numpy as np

from operad.errors import ParamError
from operad_image import boxes, pixels
from operad_image.boxes import Boxes
from operad_image.codec import Image
from operad_image.detection_crops import Sampler, cropped
from operad_image.detection_options import Changes, Crops
from operad_image.options import check_choices
from operad_image.transform import Part, Rng, brighter, shifted

_MODES: Final = ("force", "shrink", "fit")
_LEAST_PADDING: Final = 1.05
"""Below this scale MXNet leaves an image as it is."""


@final
class Changer:
    """Changes images and the boxes in them.

    Args:
        who: The iterator, for messages.
        wanted: The parameters.
        crops: Those of random parts.
        samplers: What gives the parts.
        shape: Channels, height and width of the results.
    Raises:
        ParamError: A parameter is none of the choices.
    """

    def __init__(
        self, who: str, wanted: Changes, crops: Crops, samplers: list[Sampler], shape: Sequence[int]
    ) -> None:
        self._wanted, self._crops, self._samplers = wanted, crops, samplers
        _, self._height, self._width = shape
        if wanted.resize_mode not in _MODES:
            raise ParamError(
                f"{who}: resize_mode is {wanted.resize_mode!r}, expected one of {', '.join(_MODES)}"
            )
        check_choices(who, wanted.aug_seq, "det_aug_default", wanted.inter_method)

    def change(self, image: Image, objects: Boxes, rng: Rng) -> tuple[Part, Boxes, tuple[int, int]]:
        """The image, its boxes, and the height and width that it takes of the result."""
        wanted = self._wanted
        if wanted.resize > 0:
            height, width = pixels.shorter_edge(image, wanted.resize)
            image = pixels.resize(image, width, height, self._method(rng))
        image = self._coloured(image, rng)
        if rng.random() < wanted.rand_mirror_prob:
            image, objects = image[:, ::-1], boxes.mirrored(objects)
        if wanted.max_pad_scale > 1 and rng.random() < wanted.rand_pad_prob:
            image, objects = self._padded(image, objects, rng)
        if rng.random() < self._crops.rand_crop_prob:
            image, objects = cropped(image, objects, self._crops, self._samplers, rng)
        image = np.ascontiguousarray(self._fitting(image, rng))
        size = image.shape[0], image.shape[1]
        if size == (self._height, self._width):
            return Part(image), objects, size
        canvas = np.zeros((self._height, self._width, image.shape[2]), image.dtype)
        canvas[: size[0], : size[1]] = image
        return Part(canvas), objects, size

    def _coloured(self, image: Image, rng: Rng) -> Image:
        wanted = self._wanted
        ranges = (
            (wanted.max_random_hue, wanted.random_hue_prob),
            (wanted.max_random_illumination, wanted.random_illumination_prob),
            (wanted.max_random_saturation, wanted.random_saturation_prob),
        )
        shifts = [
            int(rng.integers(-limit, limit + 1)) if limit and rng.random() < part else 0
            for limit, part in ranges
        ]
        if any(shifts):
            image = shifted(image, shifts)
        limit = wanted.max_random_contrast
        if limit and rng.random() < wanted.random_contrast_prob:
            image = brighter(image, 1 + rng.uniform(-limit, limit))
        return image

    def _padded(self, image: Image, objects: Boxes, rng: Rng) -> tuple[Image, Boxes]:
        """Image somewhere in a larger one, if the larger one exceeds it by enough."""
        height, width = image.shape[:2]
        scale = rng.uniform(1, self._wanted.max_pad_scale)
        if scale < _LEAST_PADDING:
            return image, objects
        new_height, new_width = int(scale * height), int(scale * width)
        y, x = int(rng.integers(new_height - height + 1)), int(rng.integers(new_width - width + 1))
        made = pixels.border(
            image, y, new_height - height - y, x, new_width - width - x, values=self._wanted.fill_value
        )
        return made, boxes.moved(objects, (-x, -y, new_width, new_height), height, width)

    def _fitting(self, image: Image, rng: Rng) -> Image:
        """The image in a size that `data_shape` has room for."""
        rows, columns = image.shape[:2]
        height, width = self._height, self._width
        if self._wanted.resize_mode != "force":
            # In single precision, as MXNet, whose rounding decides on a pixel.
            ratio = min(np.float32(height) / np.float32(rows), np.float32(width) / np.float32(columns))
            if self._wanted.resize_mode == "shrink" and ratio >= 1:
                return image
            height, width = (max(1, int(ratio * np.float32(length))) for length in (rows, columns))
        return pixels.resize(image, width, height, self._method(rng))

    def _method(self, rng: Rng) -> int:
        method = self._wanted.inter_method
        return int(rng.integers(5)) if method == pixels.ANY else method
