"""The parameters of `ImageDetRecordIter` beside `Source`, with MXNet's names and defaults, in groups.

Source: ImageDetRecParserParam, ImageDetNormalizeParam, src/io/iter_image_det_recordio.cc, and
DefaultImageDetAugmentParam, src/io/image_det_aug_default.cc.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

from operad_image.options import Normalization, Source


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class DetectionLabels:
    """Labels of an image.

    Attributes:
        label_width: Numbers that label every image; -1: they differ.
        label_pad_width: Numbers of a label of a batch, less the four in front; 0 or -1: as many as the image
            with the most labels has, for which all records are read once.
        label_pad_value: What fills up a label.
    """

    label_width: int = -1
    label_pad_width: int = 0
    label_pad_value: float = -1.0


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Changes to an image and its boxes, in this order; crops come before the last.

    Attributes:
        resize: Resize the shorter edge to this; -1: do not.
        max_random_hue: Add up to so much to the hue, from 0 to 180, either way.
        random_hue_prob: Of how many images.
        max_random_saturation: Likewise to the saturation, from 0 to 255.
        random_saturation_prob: Of how many images.
        max_random_illumination: Likewise to the lightness, from 0 to 255.
        random_illumination_prob: Of how many images.
        max_random_contrast: Multiply by a number up to so far from 1.
        random_contrast_prob: Of how many images.
        rand_mirror_prob: Mirror so many images, of 1.
        rand_pad_prob: Put so many images somewhere into a larger one.
        max_pad_scale: Edges of the larger one, of the image's; at most.
        fill_value: Of the pixels around it.
        resize_mode: `force`: resize to `data_shape`, whatever the ratio; `fit`: keep the ratio, with black
            below or to the right; `shrink`: likewise, and images that are smaller stay as they are.
        inter_method: 0 nearest, 1 bilinear, 2 cubic, 3 by area, 4 Lanczos, 9 by the sizes, 10 random.
        aug_seq: `det_aug_default`; there is no other.
    """

    resize: int = -1
    max_random_hue: int = 0
    random_hue_prob: float = 0.0
    max_random_saturation: int = 0
    random_saturation_prob: float = 0.0
    max_random_illumination: int = 0
    random_illumination_prob: float = 0.0
    max_random_contrast: float = 0.0
    random_contrast_prob: float = 0.0
    rand_mirror_prob: float = 0.0
    rand_pad_prob: float = 0.0
    max_pad_scale: float = 1.0
    fill_value: int = 127
    resize_mode: str = "force"
    inter_method: int = 1
    aug_seq: str = "det_aug_default"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Crops:
    """Random parts of images. A tuple has one value per sampler, or one for all.

    A sampler draws windows until one suits an object: until all bounds hold for some object of the image.
    Samplers take turns in random order; where none finds a window, the image stays whole.

    Attributes:
        rand_crop_prob: Of how many images a part is taken.
        num_crop_sampler: How many samplers there are.
        min_crop_scales: Least root of a window's area, of the image's.
        max_crop_scales: Largest.
        min_crop_aspect_ratios: Least width over height.
        max_crop_aspect_ratios: Largest.
        min_crop_overlaps: Least area that window and object share, of the area that they cover together.
        max_crop_overlaps: Largest.
        min_crop_sample_coverages: Least area that they share, of the window's.
        max_crop_sample_coverages: Largest.
        min_crop_object_coverages: Least area that they share, of the object's.
        max_crop_object_coverages: Largest.
        max_crop_trials: Windows that are drawn, at most.
        crop_emit_mode: Which objects a part loses: those whose `center` is outside, or those whose `overlap`
            is at most `emit_overlap_thresh`.
        emit_overlap_thresh: Of an object's area.
    """

    rand_crop_prob: float = 0.0
    num_crop_sampler: int = 1
    min_crop_scales: tuple[float, ...] = (0.0,)
    max_crop_scales: tuple[float, ...] = (1.0,)
    min_crop_aspect_ratios: tuple[float, ...] = (1.0,)
    max_crop_aspect_ratios: tuple[float, ...] = (1.0,)
    min_crop_overlaps: tuple[float, ...] = (0.0,)
    max_crop_overlaps: tuple[float, ...] = (1.0,)
    min_crop_sample_coverages: tuple[float, ...] = (0.0,)
    max_crop_sample_coverages: tuple[float, ...] = (1.0,)
    min_crop_object_coverages: tuple[float, ...] = (0.0,)
    max_crop_object_coverages: tuple[float, ...] = (1.0,)
    max_crop_trials: tuple[int, ...] = (25,)
    crop_emit_mode: str = "center"
    emit_overlap_thresh: float = 0.3


GROUPS: Final = (Source, DetectionLabels, Changes, Crops, Normalization)
