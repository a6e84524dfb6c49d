"""`ImageIter`: batches of images, each changed by a list of augmenters.

Source: ImageIter, python/mxnet/image/image.py. Differs: a record file without an index may be shuffled and
divided; `roll_over` has no `pad`, since its batches are full; a damaged image is an error that names its
record or file.
"""

from __future__ import annotations

import os
import random
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from operad.io.order import BatchOrder  # type: ignore[import-not-found]  # of the plugin of iterators

import operad
from operad import nd
from operad.errors import ArgumentError, FormatError, OutOfMemoryError, ParamError, ShapeError
from operad.profiler import laps
from operad_image.augmenters import augment, load_states, states_of
from operad_image.batches import STAGES
from operad_image.codec import Image, decode
from operad_image.create import CreateAugmenter
from operad_image.functions import as_pixels, imdecode
from operad_image.samples import Files, Records, Samples, labels_in, listed, read_list

_TAILS: Final = ("pad", "discard", "roll_over")
Lap = Callable[[str], None]
"""Called with the name of a stage at its end; see `operad.profiler.laps`."""
_LABEL_TYPES: Final = ("int32", "int64", "float32", "float64")


class ImageIter(operad.io.DataIter):  # type: ignore[misc]  # of another plugin
    """Batches of images out of a record file, or of files named in a list.

    Orders and augmentations are drawn from Python's `random`, so `random.seed` repeats them. For speed take
    `io.ImageRecordIter`, which decodes in threads.

    Args:
        batch_size: Images in a batch.
        data_shape: (3, height, width).
        label_width: Labels of an image.
        path_imgrec: The record file, or
        path_imglist: a file of lines of number, labels and path, or
        imglist: a list of labels and paths: `[[0, "a.jpg"], [1, "b.jpg"]]`.
        path_root: The folder in which the paths begin; None: the current one. Those of `path_imglist` must
            not lead out of it, by `..`, as absolute paths or by links: "/" allows any absolute path, and
            `OPERAD_OUTSIDE_ROOT=1` all of them.
        path_imgidx: Index of the record file; saves reading its heads.
        shuffle: Visit the images in another random order in each pass.
        part_index: The part that this iterator gives.
        num_parts: Into how many parts the images are divided.
        aug_list: Augmenters; None: those that `CreateAugmenter` makes of `kwargs`.
        data_name: Of the images' variable.
        label_name: Of the labels' variable.
        dtype: Of the labels.
        last_batch_handle: What becomes of images that do not fill a batch: `pad` fills it up with the first
            ones, `discard` leaves them out, `roll_over` begins the next pass with them.
        kwargs: Of `CreateAugmenter`.
    Raises:
        FormatError: An image, the record file or the list is damaged.
    """

    def __init__(
        self,
        batch_size: int,
        data_shape: Sequence[int],
        label_width: int = 1,
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
        label_name: str = "softmax_label",
        dtype: str = "float32",
        last_batch_handle: str = "pad",
        **kwargs: Any,
    ) -> None:
        who = type(self).__name__
        if last_batch_handle not in _TAILS:
            raise ParamError(
                f"{who}: last_batch_handle is {last_batch_handle!r}, expected one of {', '.join(_TAILS)}"
            )
        if str(dtype) not in _LABEL_TYPES:
            raise ParamError(f"{who}: dtype is {dtype!r}, expected one of {', '.join(_LABEL_TYPES)}")
        if len(data_shape) != 3 or data_shape[0] != 3:
            raise ShapeError(f"{who}: data_shape is {data_shape!r}, expected (3, height, width)")
        super().__init__(batch_size)
        part = (num_parts, part_index)
        self._samples = _samples(who, path_imgrec, path_imgidx, path_imglist, path_root, imglist, part)
        self._order = BatchOrder(who, len(self._samples), batch_size, last_batch_handle)
        self._rows: deque[int] = deque()
        self._is_rolling = last_batch_handle == "roll_over"
        self.num_image = len(self._samples)
        self.data_shape, self.label_width, self.shuffle = tuple(data_shape), label_width, shuffle
        self.auglist = list(CreateAugmenter(self.data_shape, **kwargs) if aug_list is None else aug_list)
        labels = (batch_size,) if label_width == 1 else (batch_size, label_width)
        self._label_type = np.dtype(dtype)
        self.provide_data = [operad.io.DataDesc(data_name, (batch_size, *self.data_shape))]
        self.provide_label = [operad.io.DataDesc(label_name, labels, self._label_type.type)]
        self.reset()

    @property
    def cur(self) -> int:
        """Position of the next image in the order of the pass; may be set, and 0 begins a pass."""
        return int(self._order.position)

    @cur.setter
    def cur(self, number: int) -> None:
        self._order.seek(number)
        self._rows.clear()

    def reset(self) -> None:
        """Begin the next pass."""
        self._permute()
        self._order.begin()
        self._rows.clear()

    def hard_reset(self) -> None:
        """Begin a pass without the images that `roll_over` has kept."""
        self._permute()
        self._order.rewind()
        self._rows.clear()

    def state_dict(self) -> dict[str, Any]:
        """State of the iterator; see `DataIter.state_dict`.

        What comes from Python's `random` and NumPy's global generator is drawn from wherever these are then.
        """
        return {"order": self._order.state(), "augmenters": states_of(self.auglist)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where `state_dict` was called: the next batch has the images that came next there.

        Raises:
            FormatError: The state is not one of an iterator that was made alike.
        """
        who = type(self).__name__
        if not {"order", "augmenters"} <= set(state):
            raise FormatError(f"{who}: expected a state with order and augmenters, got {state!r:.60}")
        if (state["order"]["order"] is not None) != self.shuffle:
            raise FormatError(
                f"{who}: the state is of an iterator with shuffle={not self.shuffle}, and this one has "
                f"{self.shuffle}"
            )
        self._order.go_on(state["order"])
        load_states(self.auglist, state["augmenters"])
        self._rows.clear()

    def next(self) -> Any:
        """The next batch.

        Raises:
            StopIteration: The pass has ended.
            FormatError: An image of the batch is damaged; the next call gives the batch behind it.
        """
        rows = self._order.take()
        if rows is None:
            raise StopIteration
        data = np.empty((self.batch_size, *self.data_shape), np.float32)
        labels = np.empty(self.provide_label[0].shape, self._label_type)
        self._rows = deque(rows.indices.tolist())
        with laps(*STAGES) as lap:
            for row in range(self.batch_size):
                label, content = self.next_sample()
                lap("read")
                try:
                    self._write(content, label, data[row], labels[row : row + 1], lap)
                except (FormatError, OutOfMemoryError) as error:
                    raise type(error)(f"{type(self).__name__}: {self._name}: {error}") from error
            arrays = [nd.array(data)], [nd.array(labels, dtype=labels.dtype)]
            lap("copy")
        return operad.io.DataBatch(
            *arrays,
            0 if self._is_rolling else rows.pad,
            rows.indices.astype(np.uint64),
        )

    def next_sample(self) -> tuple[Any, bytes]:
        """Labels of the next image, and the bytes of its file; of the batch that `next` makes."""
        if not self._rows:
            raise StopIteration
        number = self._rows.popleft()
        self._name = self._samples.name(number)
        return self._samples.read(number)

    def imdecode(self, s: Any) -> Any:
        """The image of the bytes of a file, uint8, (height, width, 3)."""
        return imdecode(s)

    def augmentation_transform(self, data: Any) -> Any:
        """An image after all augmenters."""
        for one in self.auglist:
            data = one(data)
        return data

    def postprocess_data(self, datum: Any) -> Any:
        """The image as it stands in a batch, (channels, height, width)."""
        return nd.transpose(datum, axes=(2, 0, 1))

    def _write(self, content: bytes, label: Any, slot: Image, label_slot: Any, lap: Lap) -> None:
        """Write an image and its labels into their rows of a batch; in NumPy where no subclass has a say."""
        kind = type(self)
        is_plain = all(
            getattr(kind, name) is getattr(ImageIter, name)
            for name in ("imdecode", "augmentation_transform", "postprocess_data")
        )
        decoded = decode(content) if is_plain else self.imdecode(content)
        lap("decode")
        if is_plain:
            image = augment(self.auglist, decoded).transpose(2, 0, 1)
        else:
            image = as_pixels(self.postprocess_data(self.augmentation_transform(decoded)))
        lap("augment")
        self._put(image, slot)
        labels = np.asarray(label).reshape(-1)
        if len(labels) != self.label_width:
            raise FormatError(f"it has {len(labels)} labels, expected label_width={self.label_width}")
        label_slot[...] = labels
        lap("copy")

    def _put(self, image: Image, slot: Image) -> None:
        if image.shape != slot.shape:
            raise ShapeError(
                f"{type(self).__name__}: augmenters made {self._name} an image of shape {image.shape}, "
                f"expected {slot.shape}"
            )
        slot[...] = image

    def _permute(self) -> None:
        if self.shuffle:
            # A shuffled list of numbers permutes the order of the pass before: the orders of MXNet.
            numbers = list(range(self.num_image))
            random.shuffle(numbers)
            self._order.permute(np.array(numbers))


def _samples(
    who: str,
    path_imgrec: str | None,
    path_imgidx: str | None,
    path_imglist: str | None,
    path_root: str | None,
    imglist: Sequence[Any] | None,
    part: tuple[int, int],
) -> Samples:
    if path_imgrec:
        return Records([path_imgrec], path_imgidx or None, labels_in(path_imglist), *part)
    if path_imglist:
        found = list(read_list(path_imglist).values())
        return Files(path_root, found, *part, source=f"{who}: list {os.fspath(path_imglist)!r}")
    if imglist is not None:
        return Files(path_root, listed(imglist), *part)
    raise ArgumentError(f"{who}: expected path_imgrec, path_imglist or imglist")
