"""`NDArrayIter`: batches of arrays in memory.

Source: NDArrayIter, python/mxnet/io/io.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast, final

import numpy as np

from operad import NDArray
from operad.errors import ArgumentError, FormatError, ParamError, ShapeError
from operad_iterators.checks import own_state
from operad_iterators.order import Tail
from operad_iterators.row_iter import RowIter
from operad_iterators.table import Column, check_lengths, columns

_TAILS: Final = ("pad", "discard", "roll_over")
_DEFAULT_NAMES: Final = {"data": "data", "label": "softmax_label"}


@final
class NDArrayIter(RowIter):
    """Batches of arrays in memory: of one, of a list, or of a dict by name.

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
        if last_batch_handle not in _TAILS:
            raise ParamError(
                f"{who}: last_batch_handle is {last_batch_handle!r}, expected one of {', '.join(_TAILS)}"
            )
        inputs = columns(who, "data", data, data_name, layout)
        if not inputs:
            raise ArgumentError(f"{who}: data is {data!r}, expected at least one array")
        labels = columns(who, "label", label, label_name, layout)
        super().__init__(inputs, labels, batch_size, cast("Tail", last_batch_handle))
        self._numbers = np.arange(self.num_data) if shuffle else None
        self._generator = None if seed is None else np.random.default_rng(seed)
        self._layout = layout
        self.reset()

    @property
    def data(self) -> list[tuple[str, NDArray]]:
        """Names and arrays of the inputs; may be set, to anything that the constructor takes.

        Raises:
            ArgumentError: It is set to something else.
            ShapeError: Its arrays have other numbers of rows.
        """
        return [(column.name, column.whole()) for column in self._data]

    @data.setter
    def data(self, given: object) -> None:
        self._data = self._replaced("data", given, [column.name for column in self._data], self._label)

    @property
    def label(self) -> list[tuple[str, NDArray]]:
        """Names and arrays of the labels, likewise."""
        return [(column.name, column.whole()) for column in self._label]

    @label.setter
    def label(self, given: object) -> None:
        self._label = self._replaced("label", given, [column.name for column in self._label], self._data)

    def _replaced(self, what: str, given: object, names: list[str], others: Sequence[Column]) -> list[Column]:
        who = type(self).__name__
        default = names[0] if len(names) == 1 else _DEFAULT_NAMES[what]
        found = columns(who, what, given, default, self._layout)
        if what == "data" and not found:
            raise ArgumentError(f"{who}: data is {given!r}, expected at least one array")
        count = check_lengths(who, [*found, *others])
        if count != self.num_data:
            raise ShapeError(f"{who}: {what} has {count} rows, expected {self.num_data} as before")
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
        """Where the iterator is; see `DataIter.state_dict`."""
        drawn = None if self._generator is None else self._generator.bit_generator.state
        return {**super().state_dict(), "numbers": self._numbers, "generator": drawn}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where `state_dict` was called.

        Raises:
            FormatError: The state is not one of an iterator that was made alike.
        """
        who = type(self).__name__
        found = own_state(who, state, "order", "numbers", "generator")
        for what, name, own in (
            ("shuffle", "numbers", self._numbers),
            ("seed", "generator", self._generator),
        ):
            if (found[name] is None) != (own is None):
                raise FormatError(
                    f"{who}: the state is of an iterator {'without' if own is not None else 'with'} {what}, "
                    f"and this one has {'a' if own is not None else 'no'} {what}"
                )
        super().load_state_dict(state)
        if self._generator is not None:
            self._generator.bit_generator.state = found["generator"]
        if self._numbers is not None:
            self._numbers = np.array(found["numbers"], np.intp)

    def getindex(self) -> None:
        """None, as in MXNet."""

    def _permute(self) -> None:
        if self._numbers is not None:
            # The numbers stay shuffled, and permute an order that is permuted already: the orders of MXNet.
            self._numbers = self._numbers.copy()  # the other one may be part of a state
            (np.random if self._generator is None else self._generator).shuffle(self._numbers)
            self._order.permute(self._numbers)
