"""Rows of each batch.

Rows are visited in the order of a permutation. What becomes of rows that do not fill a batch, with four rows
and batches of three:

    pad        0 1 2 | 3 0 1 (two of them padding)     every pass is the same
    round      0 1 2 | 3 0 1 (two of them padding)     the next pass begins with row 2
    discard    0 1 2                                   row 3 is left out
    roll_over  0 1 2                                   the next pass begins with row 3
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple, final

import numpy as np

from operad.errors import FormatError, ParamError, ShapeError
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
        tail: What becomes of rows that do not fill a batch; see the module. May be set.

    Attributes:
        order: The rows in the order in which passes visit them.
    """

    def __init__(self, who: str, count: int, batch_size: int, tail: Tail) -> None:
        if not is_count(batch_size):
            raise ParamError(f"{who}: batch_size is {batch_size!r}, expected a positive integer")
        if count < 1:
            raise ShapeError(f"{who}: the data has no rows")
        self._who = who
        self._count = count
        self._batch_size = int(batch_size)
        self.tail: Tail = tail
        self._is_permuted = False
        self.order: Indices = np.arange(count)
        self._left_over: Indices = _NONE
        self._rolled: Indices = _NONE
        self.rewind()

    @property
    def position(self) -> int:
        """Position of the next batch in `order`; negative at rows that rolled over."""
        return self._at - len(self._rolled)

    def seek(self, position: int) -> None:
        """Let the next batch begin at `position`. Rows that this pass has left over are forgotten.

        Raises:
            ParamError: It is before the first row of the pass.
        """
        if position < -len(self._rolled):
            raise ParamError(
                f"{self._who}: a batch cannot begin at row {position}, expected at least "
                f"{-len(self._rolled)}; `reset` begins a pass"
            )
        # state change: as if the batches before had been taken.
        self._at, self._left_over, self._first = int(position) + len(self._rolled), _NONE, 0

    def permute(self, permutation: Indices) -> None:
        """Let the next pass visit the rows of the current order in the order of `permutation`."""
        self.order = self.order[permutation]
        self._is_permuted = True

    def rewind(self) -> None:
        """Begin a pass with the first row, whatever the last pass left over."""
        self._left_over = _NONE
        self._first = 0
        self.begin()

    def begin(self) -> None:
        """Begin a pass, with what the last pass left over."""
        self._rolled, self._begun = self._left_over, self._first
        self._collect()
        self._left_over, self._first, self._at = _NONE, 0, 0

    def _collect(self) -> None:
        """Put the rows of this pass together: those that rolled over, and the order from its first row on."""
        self._rows: Indices = np.concatenate([self._rolled, self.order[self._begun :]])

    def state(self) -> dict[str, Any]:
        """State of the order. Arrays are never written to once they are in a state."""
        return {
            "count": self._count,
            "batch_size": self._batch_size,
            "order": self.order if self._is_permuted else None,
            "rolled": self._rolled,
            "begun": self._begun,
            "at": self._at,
            "left_over": self._left_over,
            "first": self._first,
        }

    def go_on(self, state: Mapping[str, Any]) -> None:
        """Go on where `state` was called.

        Raises:
            FormatError: It is the state of something else.
        """
        for what, own in (("count", self._count), ("batch_size", self._batch_size)):
            if state.get(what) != own:
                raise FormatError(
                    f"{self._who}: the state is of an iterator with {what} {state.get(what)!r}, "
                    f"and this one has {own}"
                )
        order = state["order"]
        self._is_permuted = order is not None
        self.order = np.arange(self._count) if order is None else np.asarray(order, np.intp)
        self._rolled, self._left_over = (np.asarray(state[name], np.intp) for name in ("rolled", "left_over"))
        self._begun, self._at, self._first = (int(state[name]) for name in ("begun", "at", "first"))
        self._collect()

    def take(self) -> Rows | None:
        """The rows of the next batch; None where the pass has ended."""
        self._at += self._batch_size
        return self.current()

    def current(self) -> Rows | None:
        """The rows of the batch before `position`; None before the first batch and behind the last."""
        start = self._at - self._batch_size
        if start < 0:
            return None
        rows = self._rows[start : self._at]
        if len(rows) == self._batch_size:
            # MXNet counts rows that rolled over in `pad`, though they fill nothing up.
            return Rows(rows, len(self._rolled) if start == 0 else 0)
        if not len(rows):
            return None
        return self._incomplete(rows)

    def _incomplete(self, rows: Indices) -> Rows | None:
        if self.tail == "discard":
            return None
        if self.tail == "roll_over":
            self._left_over = rows
            return None
        pad = self._batch_size - len(rows)
        filling = np.arange(pad) % len(self.order)
        if self.tail == "round":
            self._first = pad % len(self.order)
        return Rows(np.concatenate([rows, self.order[filling]]), pad)
