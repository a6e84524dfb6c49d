"""Which rows each batch has.

Rows are visited in the order of a permutation. What becomes of rows that do not fill a batch, with four rows
and batches of three:

    pad        0 1 2 | 3 0 1 (two of them padding)     every pass is the same
    round      0 1 2 | 3 0 1 (two of them padding)     the next pass begins with row 2
    discard    0 1 2                                   row 3 is left out
    roll_over  0 1 2                                   the next pass begins with row 3
"""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple, final

import numpy as np

from operad.errors import ParamError, ShapeError
from operad_iterators.checks import is_count

Indices = np.ndarray[Any, np.dtype[np.intp]]
Tail = Literal["pad", "round", "discard", "roll_over"]

_NONE: Final = np.empty(0, np.intp)


@final
class Rows(NamedTuple):
    """The rows of one batch.

    Attributes:
        indices: Their numbers in the data.
        pad: What `DataBatch.pad` says of the batch.
    """

    indices: Indices
    pad: int


@final
class BatchOrder:
    """Walks over rows in batches.

    Args:
        who: The iterator, for messages.
        count: How many rows there are.
        batch_size: Rows in a batch.
        tail: What becomes of rows that do not fill a batch; see the module.
    """

    def __init__(self, who: str, count: int, batch_size: int, tail: Tail) -> None:
        if not is_count(batch_size):
            raise ParamError(f"{who}: batch_size is {batch_size!r}, expected a positive integer")
        if count < 1:
            raise ShapeError(f"{who}: the data has no rows")
        self._batch_size = int(batch_size)
        self._tail = tail
        self._order: Indices = np.arange(count)
        self.rewind()

    def permute(self, permutation: Indices) -> None:
        """Let the next pass visit the rows of the current order in the order of `permutation`."""
        self._order = self._order[permutation]

    def rewind(self) -> None:
        """Begin a pass with the first row, whatever the last pass left over."""
        self._left_over: Indices = _NONE
        self._first = 0
        self.begin()

    def begin(self) -> None:
        """Begin a pass, with what the last pass left over."""
        self._num_rolled = len(self._left_over)
        self._rows: Indices = np.concatenate([self._left_over, self._order[self._first :]])
        self._left_over, self._first, self._at = _NONE, 0, 0

    def take(self) -> Rows | None:
        """The rows of the next batch; None where the pass has ended."""
        start, stop = self._at, self._at + self._batch_size
        rows = self._rows[start:stop]
        self._at = stop
        if len(rows) == self._batch_size:
            # MXNet counts rows that rolled over in `pad`, though they fill nothing up.
            return Rows(rows, self._num_rolled if start == 0 else 0)
        if not len(rows):
            return None
        return self._incomplete(rows)

    def _incomplete(self, rows: Indices) -> Rows | None:
        if self._tail == "discard":
            return None
        if self._tail == "roll_over":
            self._left_over = rows
            return None
        pad = self._batch_size - len(rows)
        filling = np.arange(pad) % len(self._order)
        if self._tail == "round":
            self._first = pad % len(self._order)
        return Rows(np.concatenate([rows, self._order[filling]]), pad)
