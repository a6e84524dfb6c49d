"""`CreateAugmenter`: the augmenters that most training programs use.

Source: CreateAugmenter, python/mxnet/image/image.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from operad.errors import ParamError, ShapeError
from operad_image.augmenters import (
    Augmenter,
    CastAug,
    CenterCropAug,
    HorizontalFlipAug,
    RandomCropAug,
    RandomSizedCropAug,
    ResizeAug,
)
from operad_image.colour_augmenters import (
    ColorJitterAug,
    ColorNormalizeAug,
    HueJitterAug,
    LightingAug,
    RandomGrayAug,
)
from operad_image.transform import EIGENVALUES, EIGENVECTORS

# Of the photographs of ImageNet: mean and deviation of red, green and blue.
_MEAN: Final = np.array([123.68, 116.28, 103.53], np.float32)
_STD: Final = np.array([58.395, 57.12, 57.375], np.float32)


def CreateAugmenter(  # noqa: N802 - MXNet's name
    data_shape: Sequence[int],
    resize: int = 0,
    rand_crop: bool = False,
    rand_resize: bool = False,
    rand_mirror: bool = False,
    mean: Any = None,
    std: Any = None,
    brightness: float = 0,
    contrast: float = 0,
    saturation: float = 0,
    hue: float = 0,
    pca_noise: float = 0,
    rand_gray: float = 0,
    inter_method: int = 2,
) -> list[Augmenter]:
    """Augmenters that make images of one shape.

    Args:
        data_shape: Channels, height and width of the results.
        resize: First resize the shorter edge to this; 0: do not.
        rand_crop: Take a part somewhere, not the middle.
        rand_resize: Take a part of random size, 8 % of the area or more; needs `rand_crop`.
        rand_mirror: Mirror every other image.
        mean: Subtracted: one number per channel; True: those of ImageNet; None: nothing.
        std: Divided by, likewise.
        brightness: Range of `BrightnessJitterAug`; 0: none.
        contrast: Of `ContrastJitterAug`.
        saturation: Of `SaturationJitterAug`.
        hue: Of `HueJitterAug`.
        pca_noise: Of `LightingAug`.
        rand_gray: Probability of `RandomGrayAug`.
        inter_method: Interpolation of all of them; see `imresize`.
    """
    if len(data_shape) != 3:
        raise ShapeError(f"CreateAugmenter: data_shape is {data_shape!r}, expected (channels, height, width)")
    if rand_resize and not rand_crop:
        raise ParamError("CreateAugmenter: rand_resize needs rand_crop=True")
    size = (data_shape[2], data_shape[1])
    found: list[Augmenter] = []
    if resize > 0:
        found.append(ResizeAug(resize, inter_method))
    if rand_resize:
        found.append(RandomSizedCropAug(size, 0.08, (3.0 / 4.0, 4.0 / 3.0), inter_method))
    else:
        found.append((RandomCropAug if rand_crop else CenterCropAug)(size, inter_method))
    if rand_mirror:
        found.append(HorizontalFlipAug(0.5))
    found.append(CastAug())
    return [
        *found,
        *colour_augmenters(brightness, contrast, saturation, hue, pca_noise, rand_gray, mean, std),
    ]


def colour_augmenters(
    brightness: float,
    contrast: float,
    saturation: float,
    hue: float,
    pca_noise: float,
    rand_gray: float,
    mean: Any,
    std: Any,
) -> list[Augmenter]:
    """Augmenters of colours; arguments are as of `CreateAugmenter`."""
    found: list[Augmenter] = []
    if brightness or contrast or saturation:
        found.append(ColorJitterAug(brightness, contrast, saturation))
    if hue:
        found.append(HueJitterAug(hue))
    if pca_noise > 0:
        found.append(LightingAug(pca_noise, EIGENVALUES, EIGENVECTORS))
    if rand_gray > 0:
        found.append(RandomGrayAug(rand_gray))
    if mean is not None or std is not None:
        found.append(ColorNormalizeAug(_channels("mean", mean, _MEAN), _channels("std", std, _STD)))
    return found


def _channels(what: str, given: Any, default: Any) -> Any:
    if given is None or given is True:
        return default if given else None
    shape = np.shape(given.asnumpy() if hasattr(given, "asnumpy") else given)
    if shape not in ((1,), (3,)):
        raise ShapeError(f"CreateAugmenter: {what} has shape {shape}, expected one number or one per channel")
    return given
