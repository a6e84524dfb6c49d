"""`NDArrayIter`: batches of arrays in memory.

Source: NDArrayIter, python/mxnet/io/io.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import numpy as np

from operad import NDArray
from operad.errors import ArgumentError, FormatError, ParamError, ShapeError
from operad_iterators.checks import own_state
from operad_iterators.order import Tail
from operad_iterators.row_iter import RowIter
from operad_iterators.table import Column, check_lengths, columns

_TAILS: Final = ("pad", "discard", "roll_over")
_DEFAULT_NAMES: Final = {"data": "data", "label": "softmax_label"}


class NDArrayIter(RowIter):
    """Batches of arrays in memory: of one, of a list, or of a dict by name. May be subclassed.

    Args:
        data: The inputs. NumPy's arrays are copied and become float32; an `NDArray` keeps its type, and its
            batches are made on its context.
        label: The labels, likewise; None: there are none.
        batch_size: Rows in a batch.
        shuffle: Visit the rows in random order, another one after each `reset`.
        last_batch_handle: What becomes of rows at the end that do not fill a batch: `pad` fills it up
            with the first rows, `discard` leaves the rows out, `roll_over` begins the next pass with
            them. The `pad` of a batch that begins with such rows is their number, as in MXNet.
        data_name: Of the only input; several in a list are called `_0_data`, `_1_data`.
        label_name: Of the only label, likewise.
        layout: Of all arrays, for their descriptions.
        seed: Makes the order repeatable; None: NumPy's global generator draws it, as in MXNet.

    Attributes:
        idx: The permutation that the last `reset` of a shuffled iterator applied; else the rows' numbers.
        shuffle: Whether `reset` permutes the rows.

    Example:
        >>> import numpy as np
        >>> import operad as od
        >>> batches = od.io.NDArrayIter(np.arange(5), batch_size=3)
        >>> [(batch.data[0].asnumpy().tolist(), batch.pad) for batch in batches]
        [([0.0, 1.0, 2.0], 0), ([3.0, 4.0, 0.0], 1)]
    """

    def __init__(
        self,
        data: object,
        label: object = None,
        batch_size: int = 1,
        shuffle: bool = False,
        last_batch_handle: str = "pad",
        data_name: str = "data",
        label_name: str = "softmax_label",
        layout: str | None = "NCHW",
        seed: int | None = None,
    ) -> None:
        who = type(self).__name__
        inputs = columns(who, "data", data, data_name, layout)
        if not inputs:
            raise ArgumentError(f"{who}: data is {data!r}, expected at least one array")
        labels = columns(who, "label", label, label_name, layout)
        super().__init__(inputs, labels, batch_size, _tail(who, last_batch_handle))
        self.idx, self.shuffle = np.arange(self.num_data), bool(shuffle)
        self._generator = None if seed is None else np.random.default_rng(seed)
        self.layout = layout
        self.reset()

    @property
    def cursor(self) -> int:
        """The row at which the current batch begins; `-batch_size` before the first batch.

        It may be set, and decides which rows the next batch has: `-batch_size` begins a pass. A batch whose
        first rows rolled over begins at a negative number.
        """
        return self._order.position - self.batch_size

    @cursor.setter
    def cursor(self, row: int) -> None:
        self._order.seek(row + self.batch_size)
        self._current = self._order.current()

    @property
    def last_batch_handle(self) -> str:
        """Treatment of rows that do not fill a batch; may be set."""
        return self._order.tail

    @last_batch_handle.setter
    def last_batch_handle(self, given: str) -> None:
        self._order.tail = _tail(type(self).__name__, given)

    @property
    def data_list(self) -> list[NDArray]:
        """The arrays of `data` and then of `label`."""
        return [array for _, array in [*self.data, *self.label]]

    @property
    def num_source(self) -> int:
        """Number of arrays."""
        return len(self._data) + len(self._label)

    @property
    def data(self) -> list[tuple[str, NDArray]]:
        """Names and arrays of the inputs, rows in the order of batches.

        May be set, to anything that the constructor takes, with rows in that order.

        Raises:
            ArgumentError: It is set to something else.
            ShapeError: Its arrays have other numbers of rows.
        """
        return [(column.name, column.rows(self._order.order)) for column in self._data]

    @data.setter
    def data(self, given: object) -> None:
        self._data = self._replaced("data", given, [column.name for column in self._data], self._label)

    @property
    def label(self) -> list[tuple[str, NDArray]]:
        """Names and arrays of the labels, likewise."""
        return [(column.name, column.rows(self._order.order)) for column in self._label]

    @label.setter
    def label(self, given: object) -> None:
        self._label = self._replaced("label", given, [column.name for column in self._label], self._data)

    def _replaced(self, what: str, given: object, names: list[str], others: Sequence[Column]) -> list[Column]:
        who = type(self).__name__
        default = names[0] if len(names) == 1 else _DEFAULT_NAMES[what]
        found = columns(who, what, given, default, self.layout)
        if what == "data" and not found:
            raise ArgumentError(f"{who}: data is {given!r}, expected at least one array")
        count = check_lengths(who, [*found, *others])
        if count != self.num_data:
            raise ShapeError(f"{who}: {what} has {count} rows, expected {self.num_data} as before")
        for column in found:
            column.place(self._order.order)
        return found

    def reset(self) -> None:
        """Begin the next pass, in a new order where the data is shuffled."""
        self._permute()
        super().reset()

    def hard_reset(self) -> None:
        """Begin a pass without the rows that `roll_over` has kept."""
        self._permute()
        self._order.rewind()
        super().reset()

    def state_dict(self) -> dict[str, Any]:
        """State of the iterator; see `DataIter.state_dict`."""
        drawn = None if self._generator is None else self._generator.bit_generator.state
        numbers = self.idx.copy() if self.shuffle else None
        return {**super().state_dict(), "numbers": numbers, "generator": drawn}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where `state_dict` was called.

        Raises:
            FormatError: The state is not one of an iterator that was made alike.
        """
        who = type(self).__name__
        found = own_state(who, state, "order", "numbers", "generator")
        for what, name, is_own in (
            ("shuffle", "numbers", self.shuffle),
            ("seed", "generator", self._generator is not None),
        ):
            if (found[name] is not None) != is_own:
                raise FormatError(
                    f"{who}: the state was saved {'without' if is_own else 'with'} {what}; create the "
                    f"iterator {'without' if is_own else 'with'} {what} too"
                )
        super().load_state_dict(state)
        if self._generator is not None:
            self._generator.bit_generator.state = found["generator"]
        if self.shuffle:
            self.idx = np.array(found["numbers"], np.intp)

    def getindex(self) -> None:
        """None, as in MXNet."""

    def _permute(self) -> None:
        if self.shuffle:
            # The numbers stay shuffled, and permute an order that is permuted already: the orders of MXNet.
            (np.random if self._generator is None else self._generator).shuffle(self.idx)
            self._order.permute(self.idx)


def _tail(who: str, given: str) -> Tail:
    if given not in _TAILS:
        raise ParamError(f"{who}: last_batch_handle is {given!r}, expected one of {', '.join(_TAILS)}")
    return cast("Tail", given)
