"""`ImageDetRecordIter`: batches of images with boxes around objects out of record files, made by threads.

    a label of a batch := channels | height | width | n | n labels of the image | what fills up
    labels of an image := k | m | k - 2 numbers that are passed over | m numbers of each object
    an object          := class | left | top | right | bottom | m - 5 numbers

Boxes are in parts of the image's width and height; `height` and `width` are what the image takes of
`data_shape`. Objects that a crop loses are not among the n labels.

Source: ImageDetRecordIter, src/io/iter_image_det_recordio.cc. Differs as `ImageRecordIter` does; where
`label_width` or `label_pad_width` is given the records are not read beforehand, so that an image with more
labels is an error of its batch; negative means are subtracted too, where MXNet passes over them.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final, final

import numpy as np

from operad.errors import FormatError, ParamError
from operad_image.batches import Array
from operad_image.boxes import split_label
from operad_image.codec import Image
from operad_image.detection_crops import samplers
from operad_image.detection_options import GROUPS, DetectionLabels, Normalization
from operad_image.detection_transform import Changer
from operad_image.options import Finish
from operad_image.parameters import grouped, signature
from operad_image.samples import Samples
from operad_image.threaded_iter import ThreadedIter, check_source, samples_of
from operad_image.transform import Part, Rng

_FRONT: Final = 4
"""Numbers of a batch's label in front of the image's: channels, height, width, and how many follow."""


@final
class ImageDetRecordIter(ThreadedIter):
    """Batches of images with boxes around objects out of record files.

    All arguments are given by name; they are those of `operad_image.detection_options`: `path_imgrec`,
    `data_shape` and `batch_size` must be there.

    Shapes:
        A label of a batch is (batch_size, 4 + label_pad_width); see the module for what is in it.
    Raises:
        ParamError: A parameter is unknown, missing or cannot be used.
        FormatError: The record file or its index is damaged; an image or its labels are, at its batch.
    """

    __signature__ = signature(GROUPS)

    def __init__(self, **params: Any) -> None:
        who = type(self).__name__
        source, labels, changes, crops, normalization = grouped(who, params, GROUPS)
        check_source(who, source, (1, 3, 4))
        changer = Changer(who, changes, crops, samplers(who, crops), source.data_shape)
        finish, samples = _finish(who, normalization), samples_of(who, source)
        width, make = _label_width(samples, labels), partial(_make, labels, changer)
        super().__init__(source, samples, make, finish, _FRONT + width, dtype=source.dtype or "float32")


def _make(
    wanted: DetectionLabels, changer: Changer, image: Image, found: Array, slot: Array, label: Array, rng: Rng
) -> Part:
    """Change one image, and fill in its label."""
    room = len(label) - _FRONT
    if wanted.label_width > 0 and len(found) != wanted.label_width:
        raise FormatError(f"it has {len(found)} labels, expected label_width={wanted.label_width}")
    if len(found) > room:
        raise FormatError(f"it has {len(found)} labels, expected at most label_pad_width={room}")
    header, objects = split_label(found)
    part, objects, size = changer.change(image, objects, rng)
    label[:] = wanted.label_pad_value
    kept = np.concatenate([header, objects.reshape(-1)])
    label[:_FRONT] = len(slot), *size, len(kept)
    label[_FRONT : _FRONT + len(kept)] = kept
    return part


def _label_width(samples: Samples, wanted: DetectionLabels) -> int:
    """Number of labels that a batch has room for per image."""
    if wanted.label_pad_width > 0 or wanted.label_width > 0:
        return max(wanted.label_pad_width, wanted.label_width)
    return max((len(samples.read(number)[0]) for number in range(len(samples))), default=0)


def _finish(who: str, wanted: Normalization) -> Finish:
    """The same, with 1 for divisors of 0."""
    found = {name: getattr(wanted, name) for name in Normalization.__slots__}
    for name in ("std_r", "std_g", "std_b", "std_a"):
        if found[name] < 0:
            raise ParamError(f"{who}: {name} is {found[name]}, expected 0, which does not divide, or more")
        found[name] = found[name] or 1.0
    return Finish(**found)
