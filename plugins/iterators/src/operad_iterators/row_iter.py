"""Base of iterators over rows in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from operad import NDArray
from operad.errors import ArgumentError
from operad_iterators.batch import DataBatch, DataDesc
from operad_iterators.checks import own_state
from operad_iterators.iterator import DataIter
from operad_iterators.order import BatchOrder, Rows, Tail
from operad_iterators.table import Column, check_lengths


class RowIter(DataIter):
    """Batches of the rows of columns.

    Attributes:
        num_data: How many rows there are.
    """

    def __init__(self, data: Sequence[Column], label: Sequence[Column], batch_size: int, tail: Tail) -> None:
        who = type(self).__name__
        self.num_data = check_lengths(who, [*data, *label])
        self._order = BatchOrder(who, self.num_data, batch_size, tail)
        super().__init__(batch_size)
        self._data, self._label = data, label
        self._current: Rows | None = None

    @property
    def provide_data(self) -> list[DataDesc]:
        """Descriptions of a batch's inputs."""
        return [column.description(self.batch_size) for column in self._data]

    @property
    def provide_label(self) -> list[DataDesc]:
        """Descriptions of a batch's labels."""
        return [column.description(self.batch_size) for column in self._label]

    def reset(self) -> None:
        """Begin the next pass."""
        self._order.begin()
        self._current = None

    def state_dict(self) -> dict[str, Any]:
        """State of the iterator; see `DataIter.state_dict`."""
        return {"order": self._order.state()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where `state_dict` was called.

        Raises:
            FormatError: The state is not one of an iterator over as many rows, in batches of this size.
        """
        self._order.go_on(own_state(type(self).__name__, state, "order")["order"])
        self._current = None

    def iter_next(self) -> bool:
        """Move to the next batch; False where the pass has ended."""
        self._current = self._order.take()
        return self._current is not None

    def getdata(self) -> list[NDArray]:
        """The inputs of the current batch."""
        rows = self._rows()
        return [column.rows(rows.indices) for column in self._data]

    def getlabel(self) -> list[NDArray]:
        """The labels of the current batch."""
        rows = self._rows()
        return [column.rows(rows.indices) for column in self._label]

    def getpad(self) -> int:
        """Number of rows that only fill up the current batch."""
        return self._rows().pad

    def getindex(self) -> np.ndarray[Any, Any] | None:
        """Numbers of the current batch's rows in the data."""
        return self._rows().indices.astype(np.uint64)

    def _rows(self) -> Rows:
        if self._current is None:
            raise ArgumentError(
                f"{type(self).__name__}: there is no current batch; call iter_next, "
                "and go on only where it gives True"
            )
        return self._current


class FileRowIter(RowIter):
    """A `RowIter` of one input and one label, which `getdata` and `getlabel` give as arrays, not in lists.

    Source: MXDataIter, python/mxnet/io/io.py.
    """

    def next(self) -> DataBatch:
        """The next batch.

        Raises:
            StopIteration: The pass has ended.
        """
        if not self.iter_next():
            raise StopIteration
        return DataBatch([self.getdata()], [self.getlabel()], self.getpad(), self.getindex())

    def getdata(self) -> Any:
        """The input of the current batch."""
        return super().getdata()[0]

    def getlabel(self) -> Any:
        """The label of the current batch."""
        return super().getlabel()[0]
