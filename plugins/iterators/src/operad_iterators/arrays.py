"""`NDArrayIter`: batches of arrays in memory.

Source: NDArrayIter, python/mxnet/io/io.py.
"""

from __future__ import annotations

from typing import Any, Final, cast, final

import numpy as np

from operad.errors import ArgumentError, ParamError
from operad_iterators.order import Tail
from operad_iterators.row_iter import RowIter
from operad_iterators.table import columns

_TAILS: Final = ("pad", "discard", "roll_over")


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
        self._shuffle: Any = np.random.shuffle if seed is None else np.random.default_rng(seed).shuffle
        self.reset()

    def reset(self) -> None:
        """Begin the next pass, in a new order where the data is shuffled."""
        self._permute()
        super().reset()

    def hard_reset(self) -> None:
        """Begin a pass without the rows that `roll_over` has kept."""
        self._permute()
        self._order.rewind()
        super().reset()

    def getindex(self) -> None:
        """None, as in MXNet."""

    def _permute(self) -> None:
        if self._numbers is not None:
            # The numbers stay shuffled, and permute an order that is permuted already: the orders of MXNet.
            self._shuffle(self._numbers)
            self._order.permute(self._numbers)
