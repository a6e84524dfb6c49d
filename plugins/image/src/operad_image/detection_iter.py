"""`ImageDetIter`: batches of images with boxes around objects.

    labels of an image := n | k | n - 2 numbers that are passed over | k numbers of each object
    an object          := class | left | top | right | bottom | k - 5 numbers

Boxes are in parts of the image's width and height.

Source: ImageDetIter, python/mxnet/image/detection.py. Differs: an image whose labels are no such numbers is
an error that names it, not left out; `draw_next`, which opens a window, is not there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Self, final

import operad
from operad.errors import ArgumentError, FormatError, ShapeError
from operad_image.boxes import Boxes, split_label
from operad_image.codec import Image, decode
from operad_image.create_detection import CreateDetAugmenter
from operad_image.functions import as_pixels
from operad_image.image_iter import ImageIter, Lap

_NO_OBJECT: Final = -1


@final
class ImageDetIter(ImageIter):
    """Batches of images with boxes around objects.

    A label has one row per object, as many rows as the image with the most objects has; rows of -1 fill up
    the others. Arguments that are not named here are as of `ImageIter`.

    Args:
        aug_list: Augmenters of images with boxes; None: those that `CreateDetAugmenter` makes of `kwargs`.
        label_name: Of the labels' variable.
        kwargs: Of `CreateDetAugmenter`.
    Attributes:
        label_shape: Rows and numbers of a label.
    Raises:
        FormatError: An image or its labels are damaged.
    """

    def __init__(
        self,
        batch_size: int,
        data_shape: Sequence[int],
        path_imgrec: str | None = None,
        path_imglist: str | None = None,
        path_root: str | None = None,
        path_imgidx: str | None = None,
        shuffle: bool = False,
        part_index: int = 0,
        num_parts: int = 1,
        aug_list: Sequence[Any] | None = None,
        imglist: Sequence[Any] | None = None,
        data_name: str = "data",
        label_name: str = "label",
        last_batch_handle: str = "pad",
        **kwargs: Any,
    ) -> None:
        paths, part = (path_imgrec, path_imglist, path_root, path_imgidx), (shuffle, part_index, num_parts)
        given: Any = (*paths, *part, [], imglist, data_name, label_name, "float32", last_batch_handle)
        super().__init__(batch_size, data_shape, 1, *given)
        self.auglist = list(CreateDetAugmenter(data_shape, **kwargs) if aug_list is None else aug_list)
        self.label_shape = self._largest_label()
        self.reshape(label_shape=self.label_shape)

    def augmentation_transform(self, data: Any, label: Any = None) -> Any:
        """An image and its boxes after all augmenters."""
        for one in self.auglist:
            data, label = one(data, label)
        return data, label

    def reshape(
        self, data_shape: Sequence[int] | None = None, label_shape: tuple[int, int] | None = None
    ) -> None:
        """Give batches of another shape; augmenters that make images of it are up to the caller.

        Raises:
            ShapeError: A label would have fewer rows than an image has objects, or others.
        """
        if data_shape is not None:
            self.data_shape = tuple(data_shape)
            (described,) = self.provide_data
            self.provide_data = [operad.io.DataDesc(described.name, (self.batch_size, *self.data_shape))]
        if label_shape is None:
            return
        if label_shape[0] < self.label_shape[0] or label_shape[1:] != self.label_shape[1:]:
            raise ShapeError(
                f"ImageDetIter: label_shape is {label_shape}, expected {self.label_shape} or more rows"
            )
        self.label_shape = label_shape
        (described,) = self.provide_label
        self.provide_label = [operad.io.DataDesc(described.name, (self.batch_size, *label_shape))]

    def sync_label_shape(self, it: Self, verbose: bool = False) -> Self:
        """Let this iterator and another one have labels of one shape, the larger; gives the other one.

        Args:
            it: The other iterator.
            verbose: Accepted and without effect.
        """
        if not isinstance(it, ImageDetIter):
            raise ArgumentError(f"sync_label_shape: got {type(it).__name__}, expected an ImageDetIter")
        rows = max(self.label_shape[0], it.label_shape[0])
        it.reshape(label_shape=(rows, self.label_shape[1]))
        self.reshape(label_shape=(rows, self.label_shape[1]))
        return it

    def _write(self, content: bytes, label: Any, slot: Image, label_slot: Any, lap: Lap) -> None:
        decoded = decode(content)
        lap("decode")
        image, boxes = self.augmentation_transform(decoded, _boxes(label))
        lap("augment")
        self._put(as_pixels(image).transpose(2, 0, 1), slot)
        label_slot[...] = _NO_OBJECT
        label_slot[0, : len(boxes)] = boxes
        lap("copy")

    def _largest_label(self) -> tuple[int, int]:
        rows = width = 0
        for number in range(self.num_image):
            label, _ = self._samples.read(number)
            try:
                boxes = _boxes(label)
                if width not in (0, boxes.shape[1]):
                    raise FormatError(f"its objects have {boxes.shape[1]} numbers, those before {width}")
            except FormatError as error:
                raise FormatError(f"ImageDetIter: {self._samples.name(number)}: {error}") from error
            rows, width = max(rows, len(boxes)), boxes.shape[1]
        return rows, width


def _boxes(label: Any) -> Boxes:
    """The objects of an image; those without any area are left out."""
    _, found = split_label(label)
    found = found[(found[:, 3] > found[:, 1]) & (found[:, 4] > found[:, 2])]
    if not len(found):
        raise FormatError("it has no object whose right is behind its left and its bottom below its top")
    return found
