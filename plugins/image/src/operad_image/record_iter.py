"""`ImageRecordIter`: batches of images out of record files, decoded and changed by threads.

Source: ImageRecordIter, src/io/iter_image_recordio_2.cc. Differs: results do not depend on the number of
threads; `preprocess_threads` is taken as given; a damaged image is an error of its batch, which names the
record, and the iterator goes on; the last batch of `round_batch=False` has a `pad`; the whole file is
shuffled.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from operad.errors import FormatError, ParamError
from operad_image.batches import Array
from operad_image.codec import Image
from operad_image.options import GROUPS, Colour, Geometry, Labels
from operad_image.parameters import grouped, signature
from operad_image.threaded_iter import ThreadedIter, check_source, samples_of
from operad_image.transform import Part, Rng, coloured, placed


class ImageRecordIter(ThreadedIter):
    """Batches of images out of record files, as `operad im2rec` and MXNet's tool of that name write them.

    All arguments are given by name; they are those of `operad_image.options`: `path_imgrec`, `data_shape` and
    `batch_size` must be there.

    Raises:
        ParamError: A parameter is unknown, missing or cannot be used.
        FormatError: The record file or its index is damaged; an image is, at its batch.
        ShapeError: An image is smaller than `data_shape`, at its batch.
    """

    _default_dtype: ClassVar[str] = "float32"
    __signature__ = signature(GROUPS)

    def __init__(self, **params: Any) -> None:
        who = type(self).__name__
        source, labels, geometry, colour, finish = grouped(who, params, GROUPS)
        check_source(who, source, (1, 3, 4))
        _check(who, labels, geometry)
        samples, make = samples_of(who, source), partial(_make, geometry, colour)
        dtype = source.dtype or self._default_dtype
        super().__init__(source, samples, make, finish, labels.label_width, is_flat=True, dtype=dtype)


class ImageRecordUInt8Iter(ImageRecordIter):
    """`ImageRecordIter` of pixels as they are, uint8."""

    _default_dtype = "uint8"


class ImageRecordInt8Iter(ImageRecordIter):
    """`ImageRecordIter` of pixels as int8, which has at most 127."""

    _default_dtype = "int8"


def _make(
    geometry: Geometry, colour: Colour, image: Image, found: Array, slot: Array, labels: Array, rng: Rng
) -> Part:
    """Change one image, and fill in its labels."""
    if len(found) != len(labels):
        raise FormatError(f"it has {len(found)} labels, expected label_width={len(labels)}")
    labels[:] = found
    height, width = slot.shape[1:]
    return coloured(placed(image, geometry, height, width, rng), colour, height, width, rng)


def _check(who: str, labels: Labels, geometry: Geometry) -> None:
    if geometry.aug_seq != "aug_default":
        raise ParamError(f"{who}: aug_seq is {geometry.aug_seq!r}, expected 'aug_default': there is no other")
    if labels.label_width < 1:
        raise ParamError(f"{who}: label_width is {labels.label_width}, expected 1 or more")
    least, largest = geometry.min_crop_size, geometry.max_crop_size
    if largest < least or (largest > 0) != (least > 0):
        raise ParamError(
            f"{who}: min_crop_size is {least} and max_crop_size {largest}, "
            "expected both, the first not above the second"
        )
    if geometry.inter_method not in (0, 1, 2, 3, 4, 9, 10):
        raise ParamError(f"{who}: inter_method is {geometry.inter_method}, expected 0 to 4, 9 or 10")
