"""Random parts of images that suit the objects in them, as `ImageDetRecordIter` takes them.

Source: DefaultImageDetAugmenter, src/io/image_det_aug_default.cc, which follows W. Liu et al., SSD: Single
Shot MultiBox Detector, 2016, section 2.2. Differs: boxes are cut by the pixels that are taken, not by a
window that begins and ends within pixels.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain
from typing import Final, NamedTuple, final

import numpy as np

from operad.errors import ParamError
from operad_image import boxes
from operad_image.boxes import Boxes, Window
from operad_image.codec import Image
from operad_image.detection_options import Crops
from operad_image.transform import Rng

_BOUNDS: Final = ("scales", "aspect_ratios", "overlaps", "sample_coverages", "object_coverages")
_EMIT_MODES: Final = ("center", "overlap")
Bounds = tuple[float, float]


@final
class Sampler(NamedTuple):
    """Bounds of the windows that one sampler gives; see `Crops`."""

    scales: Bounds
    aspect_ratios: Bounds
    overlaps: Bounds
    sample_coverages: Bounds
    object_coverages: Bounds
    trials: int

    def windows(self, height: int, width: int, rng: Rng) -> Iterator[Window]:
        """Random windows of an image, in pixels, of the scales and ratios that are wanted.

        A scale s and a ratio r of the image's own ratio make edges s * sqrt(r) and s / sqrt(r) of the image's
        edges; so that both are at most 1, r is from s^2 to 1 / s^2.
        """
        own = width / height
        for _ in range(self.trials):
            scale = max(rng.uniform(*self.scales), 1 / math.sqrt(height * width))
            least = max(self.aspect_ratios[0] / own, scale**2)
            ratio = math.sqrt(rng.uniform(least, max(least, min(self.aspect_ratios[1] / own, scale**-2))))
            w = min(max(round(scale * ratio * width), 1), width)
            h = min(max(round(scale / ratio * height), 1), height)
            yield int(rng.integers(width - w + 1)), int(rng.integers(height - h + 1)), w, h

    def suits(self, objects: Boxes, window: Window, height: int, width: int) -> bool:
        """Return whether all bounds hold for some object, or there is no object."""
        if not len(objects):
            return True
        cut = boxes.moved(objects, window, height, width)
        cut[:, 1:5] = np.clip(cut[:, 1:5], 0, 1)
        whole = window[2] * window[3] / (height * width)
        own, shared = boxes.areas(objects), boxes.areas(cut) * whole
        measured = (
            (self.overlaps, shared / (own + whole - shared)),
            (self.sample_coverages, shared / whole),
            (self.object_coverages, np.divide(shared, own, out=np.zeros_like(own), where=own > 0)),
        )
        held = [(low <= values) & (values <= high) for (low, high), values in measured]
        return bool(np.logical_and.reduce(held).any())


def samplers(who: str, wanted: Crops) -> list[Sampler]:
    """One sampler for each position in the tuples.

    Raises:
        ParamError: A tuple has another length, bounds are the wrong way round, or nothing is such a mode.
    """
    count = wanted.num_crop_sampler
    if count < 1:
        raise ParamError(f"{who}: num_crop_sampler is {count}, expected 1 or more")
    if wanted.crop_emit_mode not in _EMIT_MODES:
        raise ParamError(
            f"{who}: crop_emit_mode is {wanted.crop_emit_mode!r}, expected one of {', '.join(_EMIT_MODES)}"
        )
    pairs = [(f"min_crop_{what}", f"max_crop_{what}") for what in _BOUNDS]
    values = {}
    for name in (*chain(*pairs), "max_crop_trials"):
        given = getattr(wanted, name)
        if len(given) not in (1, count):
            raise ParamError(f"{who}: {name} has {len(given)} values, expected 1 or num_crop_sampler={count}")
        values[name] = given * count if len(given) == 1 else given
    for low, high in pairs:
        for least, largest in zip(values[low], values[high], strict=True):
            if not 0 <= least <= largest or (low.endswith("ratios") and least == 0):
                raise ParamError(
                    f"{who}: {low} is {least} and {high} {largest}, "
                    "expected 0 or more, and the first not above the second"
                )
    bounds = [zip(values[low], values[high], strict=True) for low, high in pairs]
    return [Sampler._make(one) for one in zip(*bounds, values["max_crop_trials"], strict=True)]


def cropped(
    image: Image, objects: Boxes, wanted: Crops, available: list[Sampler], rng: Rng
) -> tuple[Image, Boxes]:
    """A part of an image and the objects that it keeps; the whole where no window suits."""
    height, width = image.shape[:2]
    for at in rng.permutation(len(available)):
        sampler = available[at]
        for window in sampler.windows(height, width, rng):
            if not sampler.suits(objects, window, height, width):
                continue
            kept = _kept(objects, window, height, width, wanted)
            if len(kept) or not len(objects):
                x, y, w, h = window
                return image[y : y + h, x : x + w], kept
    return image, objects


def _kept(objects: Boxes, window: Window, height: int, width: int, wanted: Crops) -> Boxes:
    if wanted.crop_emit_mode == "overlap":
        return boxes.within(objects, window, height, width, wanted.emit_overlap_thresh)
    found = boxes.moved(objects, window, height, width)
    x, y = (found[:, 1] + found[:, 3]) / 2, (found[:, 2] + found[:, 4]) / 2
    found = found[(x >= 0) & (x < 1) & (y >= 0) & (y < 1)]
    found[:, 1:5] = np.clip(found[:, 1:5], 0, 1)
    return found
