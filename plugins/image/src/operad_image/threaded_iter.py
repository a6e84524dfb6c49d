"""Base of iterators over images of record files: orders, passes, threads and states.

The order of a pass depends on the seed and the number of the pass alone, and an image's random numbers on
these and the image's own number. So a state is a pass, the batch that comes next, and the row that the pass
began with: `round_batch` lets it begin behind the images that filled up the last batch of the pass before,
unless that pass was left in the middle.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import numpy as np
from operad.io.iterator import CurrentBatchIter  # type: ignore[import-not-found]  # of the plugin of iterators
from operad.io.order import BatchOrder  # type: ignore[import-not-found]  # likewise

import operad
from operad import NDArray, current_context, nd
from operad.dtypes import as_dtype
from operad.errors import EngineError, FormatError, ParamError, ShapeError
from operad.files import translated
from operad.profiler import stage
from operad_image.batches import BatchMaker, Job
from operad_image.filling import Make, fill_one
from operad_image.finish import Finisher
from operad_image.options import Finish, Source
from operad_image.samples import Records, labels_in

_SUFFIX: Final = ".rec"
_DRAWN_BY: Final = ("shuffle", "seed", "seed_aug", "num_parts", "part_index")
"""Parameters that decide which images a batch has, and their random numbers."""


class ThreadedIter(CurrentBatchIter):  # type: ignore[misc]  # of another plugin
    """Batches of images that threads make.

    Args:
        source: The parameters.
        samples: The images.
        make: Changes one of them and fills in its labels.
        finish: How pixels become numbers.
        label_width: Numbers that label an image; `is_flat` says whether labels have one axis for 1.
        is_flat: See `label_width`.
        dtype: Of the images.
    Attributes:
        num_data: How many images there are.
    """

    def __init__(
        self,
        source: Source,
        samples: Records,
        make: Make,
        finish: Finish,
        label_width: int,
        is_flat: bool = False,
        dtype: Any = "float32",
    ) -> None:
        super().__init__(source.batch_size)
        who, dtype = type(self).__name__, np.dtype(as_dtype(dtype))
        finisher = Finisher(who, finish, source.data_shape, dtype)
        fill = partial(fill_one, who, samples, make, finisher)
        self._source = source
        self.num_data = len(samples)
        tail = "round" if source.round_batch else "pad"
        self._order = BatchOrder(who, self.num_data, source.batch_size, tail)
        shape, labels = (source.batch_size, *source.data_shape), (source.batch_size, label_width)
        seed = source.seed if source.seed_aug is None else source.seed_aug
        self._new_maker = partial(BatchMaker, fill, (shape, labels), dtype, seed, source.preprocess_threads)
        self._maker: BatchMaker | None = None
        self.current_batch: Any = None
        self._label_shape = labels[:1] if is_flat and label_width == 1 else labels
        self.provide_data = [operad.io.DataDesc(source.data_name, shape, dtype.type)]
        self.provide_label = [operad.io.DataDesc(source.label_name, self._label_shape)]
        self._ordering = np.arange(self.num_data)
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
        self._pass_over(batch)

    def state_dict(self) -> dict[str, Any]:
        """State of the iterator, whatever threads made ahead; see `DataIter.state_dict`.

        Unlike `tell` it also says which passes were left in the middle.
        """
        return {
            "epoch": self._epoch,
            "batch": self._taken,
            "pass": self._pass,
            "drawn_by": {name: getattr(self._source, name) for name in _DRAWN_BY},
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where `state_dict` was called: the next batch is bit by bit the one that came next there.

        Threads, batches made ahead, and whatever was taken here before have no part in that.

        Raises:
            FormatError: The state is not one of an iterator that was made alike.
        """
        who = type(self).__name__
        if not {"epoch", "batch", "pass", "drawn_by"} <= set(state):
            raise FormatError(
                f"{who}: expected a state with epoch, batch, pass and drawn_by, as state_dict of a {who} "
                f"gives, got {state!r:.60}"
            )
        for name, was in state["drawn_by"].items():
            if was != (own := getattr(self._source, name, None)):
                raise FormatError(
                    f"{who}: the state is of an iterator with {name}={was!r}, and this one has {own!r}"
                )
        epoch = int(state["epoch"])
        wanted = self._wanted(epoch) if self._source.shuffle else None
        self._order.go_on({**state["pass"], "order": wanted})
        self._ordering = self._ordering if wanted is None else wanted
        self._restart(epoch)
        self._pass_over(int(state["batch"]))
        self.current_batch = None

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
        data: NDArray | None
        if current_context().is_gpu:
            with stage("copy"):
                data = nd.array(made.data, dtype=made.data.dtype)
        else:
            (data,) = nd.over([made.data], current_context())
        labels = nd.array(made.labels.reshape(self._label_shape))
        return operad.io.DataBatch([data], [labels], made.job.pad, made.job.rows.astype(np.uint64))

    def iter_next(self) -> bool:
        """Move to the next batch; False where the pass has ended."""
        self.current_batch = next(self, None)
        return self.current_batch is not None

    def getdata(self) -> Any:
        """The images of the current batch: an array, as of every iterator over files."""
        return super().getdata()[0]

    def getlabel(self) -> Any:
        """The labels of the current batch."""
        return super().getlabel()[0]

    def close(self) -> None:
        """End the threads; `reset` begins again."""
        maker, self._maker = self._maker, None
        if maker is not None and self._process == os.getpid():
            maker.close()

    def _restart(self, epoch: int) -> None:
        """Take note of a pass that the order has begun."""
        self.close()
        self._process = os.getpid()
        self._epoch, self._taken = epoch, 0
        self._pass = {**self._order.state(), "order": None}  # the seed makes it again

    def _pass_over(self, batches: int) -> None:
        for _ in range(batches):
            if self._order.take() is None:
                raise ParamError(f"{type(self).__name__}: seek to batch {batches} of a pass that has fewer")
        self._taken = batches

    def _permute(self, epoch: int) -> None:
        if self._source.shuffle:
            wanted = self._wanted(epoch)
            position = np.empty_like(self._ordering)
            position[self._ordering] = np.arange(self.num_data)
            self._order.permute(position[wanted])
            self._ordering = wanted

    def _wanted(self, epoch: int) -> np.ndarray[Any, Any]:
        """The order of a pass, which depends on seed and number of the pass alone."""
        return np.random.default_rng([self._source.seed, epoch]).permutation(self.num_data)


def samples_of(who: str, source: Source) -> Records:
    """Source of the images that the parameters name.

    Raises:
        FormatError: A file is damaged, or a folder has none.
    """
    labels = labels_in(source.path_imglist)
    paths = source.path_imgrec.split(";")
    if os.path.isdir(paths[0]):
        with translated(f"{who}: the folder {paths[0]!r}", "a folder"):
            entries = sorted(os.scandir(paths[0]), key=lambda entry: entry.name)
        paths = [entry.path for entry in entries if entry.name.endswith(_SUFFIX)]
        if not paths:
            raise FormatError(f"{who}: {source.path_imgrec!r} is a folder without {_SUFFIX} files")
    return Records(paths, source.path_imgidx or None, labels, source.num_parts, source.part_index)


def check_source(who: str, source: Source, channels: tuple[int, ...]) -> None:
    """Refuse parameters that contradict each other or have no meaning.

    Args:
        channels: How many an image may have.
    Raises:
        ShapeError: `data_shape` is no shape of an image.
        ParamError: A number is out of its range.
    """
    shape = source.data_shape
    if len(shape) != 3 or shape[0] not in channels or min(shape) < 1:
        *most, last = map(str, channels)
        raise ShapeError(
            f"{who}: data_shape is {shape!r}, expected ({', '.join(most)} or {last} channels, height, width)"
        )
    for name, least in (("preprocess_threads", 1), ("prefetch_buffer", 0), ("seed", 0)):
        if getattr(source, name) < least:
            raise ParamError(f"{who}: {name} is {getattr(source, name)}, expected {least} or more")
