"""`CreateDetAugmenter`: the augmenters that most programs use for images with boxes.

Source: CreateDetAugmenter, python/mxnet/image/detection.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from operad.errors import ParamError
from operad_image.augmenters import CastAug, ForceResizeAug, ResizeAug
from operad_image.create import colour_augmenters
from operad_image.detection_augmenters import (
    DetAugmenter,
    DetBorrowAug,
    DetHorizontalFlipAug,
    DetRandomCropAug,
    DetRandomPadAug,
    DetRandomSelectAug,
)


def CreateMultiRandCropAugmenter(  # noqa: N802 - MXNet's name
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = (0.75, 1.33),
    area_range: Any = (0.05, 1.0),
    min_eject_coverage: Any = 0.3,
    max_attempts: Any = 50,
    skip_prob: float = 0,
) -> DetRandomSelectAug:
    """One of several `DetRandomCropAug`, drawn for every image; a list has one value for each of them."""
    given = (min_object_covered, aspect_ratio_range, area_range, min_eject_coverage, max_attempts)
    lists = [value if isinstance(value, list) else [value] for value in given]
    count = max(map(len, lists))
    for values in lists:
        if len(values) not in (1, count):
            raise ParamError(
                f"CreateMultiRandCropAugmenter: a list has {len(values)} values, expected 1 or {count}, "
                "as many as the longest list"
            )
    aligned = [values * count if len(values) == 1 else values for values in lists]
    return DetRandomSelectAug([DetRandomCropAug(*values) for values in zip(*aligned, strict=True)], skip_prob)


def CreateDetAugmenter(  # noqa: N802 - MXNet's name
    data_shape: Sequence[int],
    resize: int = 0,
    rand_crop: float = 0,
    rand_pad: float = 0,
    rand_gray: float = 0,
    rand_mirror: bool = False,
    mean: Any = None,
    std: Any = None,
    brightness: float = 0,
    contrast: float = 0,
    saturation: float = 0,
    pca_noise: float = 0,
    hue: float = 0,
    inter_method: int = 2,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = (0.75, 1.33),
    area_range: Any = (0.05, 3.0),
    min_eject_coverage: Any = 0.3,
    max_attempts: Any = 50,
    pad_val: Any = (127, 127, 127),
) -> list[DetAugmenter]:
    """Augmenters that make images of one shape, with boxes.

    Args:
        data_shape: Channels, height and width of the results.
        resize: First resize the shorter edge to this; 0: do not.
        rand_crop: Probability of `DetRandomCropAug`, whose arguments are below.
        rand_pad: Probability of `DetRandomPadAug`, with areas from 1 to the largest of `area_range`.
        rand_gray: As of `CreateAugmenter`, and so are the arguments that are not named here.
        pad_val: The colour around padded images.
    """
    found: list[DetAugmenter] = []
    if resize > 0:
        found.append(DetBorrowAug(ResizeAug(resize, inter_method)))
    if rand_crop > 0:
        found.append(
            CreateMultiRandCropAugmenter(
                min_object_covered,
                aspect_ratio_range,
                area_range,
                min_eject_coverage,
                max_attempts,
                1 - rand_crop,
            )
        )
    if rand_mirror:
        found.append(DetHorizontalFlipAug(0.5))
    if rand_pad > 0:
        padding = DetRandomPadAug(aspect_ratio_range, (1.0, area_range[1]), max_attempts, pad_val)
        found.append(DetRandomSelectAug([padding], 1 - rand_pad))
    size = (data_shape[2], data_shape[1])
    colours = colour_augmenters(brightness, contrast, saturation, hue, pca_noise, rand_gray, mean, std)
    plain = [ForceResizeAug(size, inter_method), CastAug(), *colours]
    return [*found, *map(DetBorrowAug, plain)]
