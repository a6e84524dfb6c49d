"""The interface of all iterators.

Source: DataIter, python/mxnet/io/io.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from operad import NDArray
from operad.errors import ArgumentError, UnsupportedError
from operad_iterators.batch import DataBatch
from operad_sdk.arguments import Suggesting
from operad_sdk.notebook import html_table


class DataIter(metaclass=Suggesting):
    """Gives batches until the data ends; `reset` begins again.

    A subclass gives either `next`, or `iter_next` and the `get...` functions that `next` calls. It has
    `provide_data` and `provide_label`, the descriptions of its arrays.

    Attributes:
        batch_size: Rows in a batch.
    """

    def __init__(self, batch_size: int = 0) -> None:
        self.batch_size = batch_size

    def __repr__(self) -> str:
        arrays = ", ".join(f"{name} {shape}" for name, shape in self._shapes())
        return f"<{type(self).__name__}: {arrays or 'no arrays'}>"

    def _repr_html_(self) -> str:
        return html_table(type(self).__name__, [("batch_size", self.batch_size), *self._shapes()])

    def _shapes(self) -> Iterator[tuple[str, Any]]:
        for kind in ("provide_data", "provide_label"):
            for name, shape, *_ in getattr(self, kind, None) or ():
                yield name, shape

    def __iter__(self) -> Iterator[DataBatch]:
        return self

    def __next__(self) -> DataBatch:
        return self.next()

    def reset(self) -> None:
        """Begin again with the first batch."""

    def next(self) -> DataBatch:
        """The next batch.

        Raises:
            StopIteration: The data has ended.
        """
        if not self.iter_next():
            raise StopIteration
        return DataBatch(self.getdata(), self.getlabel(), self.getpad(), self.getindex())

    def iter_next(self) -> bool:
        """Move to the next batch; False where the data has ended."""
        return False

    def getdata(self) -> Sequence[NDArray]:
        """The inputs of the batch that `iter_next` moved to."""
        return []

    def getlabel(self) -> Sequence[NDArray] | None:
        """The labels of that batch."""
        return None

    def getpad(self) -> int | None:
        """Number of rows that only fill up that batch."""
        return None

    def getindex(self) -> np.ndarray[Any, Any] | None:
        """Numbers of that batch's rows in the data, where they are known."""
        return None

    def state_dict(self) -> dict[str, Any]:
        """State of the iterator, from which `load_state_dict` of one that is made alike goes on.

        Cheap, since a `PrefetchingIter` asks after every batch: a dict of dicts, lists, texts, numbers,
        NumPy's arrays and None, which the iterator does not change afterwards. What comes from NumPy's
        global generator is drawn from wherever that is then.

        Raises:
            UnsupportedError: The iterator cannot tell.
        """
        raise self._without_state("state_dict")

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where `state_dict` was called: the next batch is the one that came next there.

        Raises:
            UnsupportedError: The iterator cannot do that.
        """
        raise self._without_state("load_state_dict")

    def _without_state(self, call: str) -> UnsupportedError:
        return UnsupportedError(
            f"{type(self).__name__} has no {call}, so training on it cannot be resumed; "
            "define state_dict and load_state_dict"
        )


class CurrentBatchIter(DataIter):
    """An iterator that keeps the batch it moved to as `current_batch`, which a subclass sets."""

    current_batch: DataBatch | None

    def getdata(self) -> Sequence[NDArray]:
        """The inputs of the current batch."""
        return self._batch().data

    def getlabel(self) -> Sequence[NDArray] | None:
        """The labels of the current batch."""
        return self._batch().label

    def getpad(self) -> int | None:
        """Number of rows that only fill up the current batch."""
        return self._batch().pad

    def getindex(self) -> np.ndarray[Any, Any] | None:
        """Numbers of the current batch's rows."""
        return self._batch().index

    def _batch(self) -> DataBatch:
        if self.current_batch is None:
            raise ArgumentError(f"{type(self).__name__}: there is no current batch; call iter_next first")
        return self.current_batch
