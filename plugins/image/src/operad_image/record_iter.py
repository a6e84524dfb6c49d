"""`ImageRecordIter`: batches of images out of record files, decoded and changed by threads.

Source: ImageRecordIter, src/io/iter_image_recordio_2.cc. Differs: results do not depend on the number of
threads; `preprocess_threads` is taken as given; a damaged image is an error of its batch, which names the
record, and the iterator goes on; the last batch of `round_batch=False` has a `pad`; the whole file is
shuffled.
"""

from __future__ import annotations

import os
from functools import partial
from typing import Any, ClassVar, Final

import numpy as np
from operad.io.order import BatchOrder  # type: ignore[import-not-found]  # of the plugin of iterators

import operad
from operad import current_context, nd
from operad.dtypes import as_dtype
from operad.errors import ArgumentError, EngineError, FormatError, ParamError, ShapeError
from operad_image.batches import Array, BatchMaker, Job, Workspace
from operad_image.codec import decode
from operad_image.finish import Finisher
from operad_image.options import Colour, Geometry, Source, grouped, signature
from operad_image.samples import Records, Samples, read_list
from operad_image.transform import coloured, placed

_SUFFIX: Final = ".rec"


class ImageRecordIter(operad.io.DataIter):  # type: ignore[misc]  # of another plugin
    """Batches of images out of record files, as `operad im2rec` and MXNet's tool of that name write them.

    All arguments are given by name; they are those of `operad_image.options`: `path_imgrec`, `data_shape` and
    `batch_size` must be there.

    Raises:
        ParamError: A parameter is unknown, missing or cannot be used.
        FormatError: The record file or its index is damaged; an image is, at its batch.
        ShapeError: An image is smaller than `data_shape`, at its batch.
    """

    _default_dtype: ClassVar[str] = "float32"
    __signature__ = signature()

    def __init__(self, **params: Any) -> None:
        who = type(self).__name__
        source, geometry, colour, finish = grouped(who, params)
        _check(who, source, geometry)
        super().__init__(source.batch_size)
        self._source = source
        shape = tuple(int(length) for length in source.data_shape)
        dtype = np.dtype(as_dtype(source.dtype or self._default_dtype))
        self._samples = _samples(source)
        self.num_data = len(self._samples)
        self._order = BatchOrder(
            who, self.num_data, source.batch_size, "round" if source.round_batch else "pad"
        )
        finisher = Finisher(finish, shape, dtype)
        fill = partial(_fill, who, self._samples, source, geometry, colour, finisher)
        labels = (source.batch_size, source.label_width)
        seed = source.seed if source.seed_aug is None else source.seed_aug
        self._new_maker = partial(
            BatchMaker, fill, ((source.batch_size, *shape), labels), dtype, seed, source.preprocess_threads
        )
        self._maker: BatchMaker | None = None
        self._current: Any = None
        self._epoch = self._taken = 0
        self._ordering = np.arange(self.num_data)
        label_shape = labels[:1] if source.label_width == 1 else labels
        self._label_shape = label_shape
        self.provide_data = [operad.io.DataDesc(source.data_name, (source.batch_size, *shape), dtype.type)]
        self.provide_label = [operad.io.DataDesc(source.label_name, label_shape)]
        self._process = os.getpid()
        self._permute(0)
        self._order.rewind()
        self._restart(0)

    def reset(self) -> None:
        """Begin the next pass: also after an error, in the middle of a pass, and in a forked child.

        A pass that is left in the middle counts, and nothing of it is rolled over.
        """
        is_whole = not self._maker and self._order.take() is None
        self._permute(self._epoch + 1)
        self._order.begin() if is_whole else self._order.rewind()
        self._restart(self._epoch + 1)

    def tell(self) -> tuple[int, int]:
        """The pass, from 0, and how many of its batches were taken; `seek` goes there."""
        return self._epoch, self._taken

    def seek(self, epoch: int, batch: int) -> None:
        """Go on with the batch `batch` of the pass `epoch`, as if all batches before had been taken."""
        self._permute(0)
        self._order.rewind()
        for number in range(epoch):
            while self._order.take() is not None:
                pass
            self._permute(number + 1)
            self._order.begin()
        self._restart(epoch)
        for _ in range(batch):
            if self._order.take() is None:
                raise ParamError(f"{type(self).__name__}: seek to batch {batch} of a pass that has fewer")
        self._taken = batch

    def next(self) -> Any:
        """The next batch; waits for it.

        Raises:
            StopIteration: The pass has ended.
            FormatError: An image is damaged; the call after this gives the batch behind it.
            EngineError: The iterator was begun by the process that forked this one.
        """
        if self._process != os.getpid():
            raise EngineError(
                f"{type(self).__name__}: its threads are in the process that forked this one; "
                "call reset() here to begin a pass"
            )
        if self._maker is None:
            self._maker = self._new_maker()
        while len(self._maker) <= self._source.prefetch_buffer and (rows := self._order.take()) is not None:
            self._maker.begin(Job(rows.indices, rows.pad, self._epoch))
        if not len(self._maker):
            raise StopIteration
        self._taken += 1
        made = self._maker.take()
        on_host = not current_context().is_gpu
        data = nd.from_dlpack(made.data) if on_host else nd.array(made.data, dtype=made.data.dtype)
        labels = nd.array(made.labels.reshape(self._label_shape))
        return operad.io.DataBatch([data], [labels], made.job.pad, made.job.rows.astype(np.uint64))

    def iter_next(self) -> bool:
        """Move to the next batch; False where the pass has ended."""
        self._current = next(self, None)
        return self._current is not None

    def getdata(self) -> Any:
        """The images of the current batch."""
        return self._batch().data

    def getlabel(self) -> Any:
        """The labels of the current batch."""
        return self._batch().label

    def getpad(self) -> Any:
        """How many images of the current batch only fill it up."""
        return self._batch().pad

    def getindex(self) -> Any:
        """Numbers of the current batch's images in the file."""
        return self._batch().index

    def close(self) -> None:
        """End the threads; `reset` begins again."""
        maker, self._maker = self._maker, None
        if maker is not None and self._process == os.getpid():
            maker.close()

    def _batch(self) -> Any:
        if self._current is None:
            raise ArgumentError(f"{type(self).__name__}: there is no current batch; call iter_next first")
        return self._current

    def _restart(self, epoch: int) -> None:
        self.close()
        self._process = os.getpid()
        self._epoch, self._taken = epoch, 0

    def _permute(self, epoch: int) -> None:
        """Put the order of a pass, which depends on seed and number of the pass alone."""
        if self._source.shuffle:
            wanted = np.random.default_rng([self._source.seed, epoch]).permutation(self.num_data)
            place = np.empty_like(self._ordering)
            place[self._ordering] = np.arange(self.num_data)
            self._order.permute(place[wanted])
            self._ordering = wanted


class ImageRecordUInt8Iter(ImageRecordIter):
    """`ImageRecordIter` of pixels as they are, uint8."""

    _default_dtype = "uint8"


class ImageRecordInt8Iter(ImageRecordIter):
    """`ImageRecordIter` of pixels as int8, which has at most 127."""

    _default_dtype = "int8"


def _fill(
    who: str,
    samples: Samples,
    source: Source,
    geometry: Geometry,
    colour: Colour,
    finisher: Finisher,
    number: int,
    slot: Array,
    labels: Array,
    workspace: Workspace,
) -> None:
    """Make one image and its labels."""
    channels, height, width = slot.shape
    try:
        found, content = samples.read(number)
        if len(found) != source.label_width:
            raise FormatError(f"it has {len(found)} labels, expected label_width={source.label_width}")
        labels[:] = found
        wanted = None if channels == 4 else channels
        image = decode(content, wanted, into=workspace.pixels, is_upright=False)
        workspace.hold(image.nbytes)
        if image.shape[2] != channels:
            raise FormatError(f"it has {image.shape[2]} channels, expected {channels}")
        part = placed(image, geometry, height, width, workspace.rng)
        part = coloured(part, colour, height, width, workspace.rng)
        finisher.write(part, slot, workspace.rng)
    except (FormatError, ShapeError) as error:
        raise type(error)(f"{who}: {samples.name(number)}: {error}") from error


def _samples(source: Source) -> Samples:
    labels = None
    if source.path_imglist:
        labels = {number: label for number, (label, _) in read_list(source.path_imglist).items()}
    paths = source.path_imgrec.split(";")
    if os.path.isdir(paths[0]):
        entries = sorted(os.scandir(paths[0]), key=lambda entry: entry.name)
        paths = [entry.path for entry in entries if entry.name.endswith(_SUFFIX)]
        if not paths:
            raise FormatError(f"ImageRecordIter: {source.path_imgrec!r} is a folder without {_SUFFIX} files")
    return Records(paths, source.path_imgidx or None, labels, source.num_parts, source.part_index)


def _check(who: str, source: Source, geometry: Geometry) -> None:
    shape = source.data_shape
    if len(shape) != 3 or shape[0] not in (1, 3, 4) or min(shape) < 1:
        raise ShapeError(f"{who}: data_shape is {shape!r}, expected (1, 3 or 4 channels, height, width)")
    if source.aug_seq != "aug_default":
        raise ParamError(f"{who}: aug_seq is {source.aug_seq!r}, expected 'aug_default': there is no other")
    for name, least in (("preprocess_threads", 1), ("prefetch_buffer", 0), ("label_width", 1), ("seed", 0)):
        if getattr(source, name) < least:
            raise ParamError(f"{who}: {name} is {getattr(source, name)}, expected {least} or more")
    least, largest = geometry.min_crop_size, geometry.max_crop_size
    if largest < least or (largest > 0) != (least > 0):
        raise ParamError(
            f"{who}: min_crop_size is {least} and max_crop_size {largest}, "
            "expected both, the first not above the second"
        )
    if geometry.inter_method not in (0, 1, 2, 3, 4, 9, 10):
        raise ParamError(f"{who}: inter_method is {geometry.inter_method}, expected 0 to 4, 9 or 10")
