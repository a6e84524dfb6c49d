"""Cells of cells: one upon another, or one in each direction.

Source: python/mxnet/gluon/rnn/rnn_cell.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from operad.errors import UnsupportedError
from operad_gluon.block.block import indented
from operad_gluon.rnn.base import (
    HybridRecurrentCell,
    RecurrentCell,
    Sequence,
    begin_states_of,
    get_begin_state,
    states_of,
)
from operad_gluon.rnn.sequences import format_sequence, mask_sequence, reverse_sequences, tensor_types


class _CellsOfCells(RecurrentCell):
    """States of cells that have others as children."""

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """States of the children, in order."""
        return states_of(self._children.values(), batch_size)

    def begin_state(self, **kwargs: Any) -> list[Any]:  # type: ignore[override]  # by name alone, as in MXNet
        """States of the children before the first step; see `RecurrentCell.begin_state`."""
        self._require_unmodified()
        return begin_states_of(self._children.values(), **kwargs)

    def _states_of_each(self, states: Any) -> Iterable[tuple[Any, list[Any]]]:
        """The children, each with its part of `states`."""
        position = 0
        for cell in self._children.values():
            count = len(cell.state_info())  # type: ignore[attr-defined]  # a cell, which is a block
            yield cell, states[position : position + count]
            position += count


class _Stack(_CellsOfCells):
    """Cells one upon another."""

    def __repr__(self) -> str:
        lines = "\n".join(f"({name}): {indented(repr(cell))}" for name, cell in self._children.items())
        return f"{type(self).__name__}(\n{lines}\n)"

    def add(self, cell: Any) -> None:
        """Put a cell on top."""
        self.register_child(cell)

    def __call__(self, inputs: Any, states: Any) -> tuple[Any, list[Any]]:
        """Run one step."""
        self._counter += 1
        new: list[Any] = []
        for cell, own in self._states_of_each(states):
            inputs, own = cell(inputs, own)
            new += own
        return inputs, new

    def _unroll(self, given: Sequence) -> tuple[Any, Any]:
        """Run a whole sequence through one cell after another."""
        length, inputs, begin_state, layout, merge_outputs, valid_length = given
        inputs, _, F, batch_size = format_sequence(length, inputs, layout, None)
        begin_state = get_begin_state(self, F, begin_state, inputs, batch_size)
        last, new = len(self._children) - 1, []
        for number, (cell, own) in enumerate(self._states_of_each(begin_state)):
            merge = merge_outputs if number == last else None
            inputs, states = cell.unroll(length, inputs, own, layout, merge, valid_length)
            new += states
        return inputs, new

    def __getitem__(self, i: int) -> Any:
        return self._children[str(i)]

    def __len__(self) -> int:
        return len(self._children)


class SequentialRNNCell(_Stack):
    """Cells one upon another."""


class HybridSequentialRNNCell(_Stack, HybridRecurrentCell):
    """Cells one upon another that can be compiled."""

    def hybrid_forward(self, F: Any, inputs: Any, states: Any) -> tuple[Any, list[Any]]:
        """Compute one step."""
        return self(inputs, states)  # of `_Stack.__call__`


class BidirectionalCell(_CellsOfCells, HybridRecurrentCell):
    """One cell forwards and one backwards; their outputs are joined.

    Args:
        l_cell: Goes forwards.
        r_cell: Goes backwards.
        output_prefix: Begins the names of the outputs.
    """

    def __init__(self, l_cell: Any, r_cell: Any, output_prefix: str = "bi_") -> None:
        super().__init__(prefix="", params=None)
        self.register_child(l_cell, "l_cell")
        self.register_child(r_cell, "r_cell")
        self._output_prefix = output_prefix

    def __call__(self, inputs: Any, states: Any) -> Any:
        """Refuse a single step."""
        raise UnsupportedError("BidirectionalCell: a step needs the end of the sequence; call unroll")

    def __repr__(self) -> str:
        forward, backward = self._children.values()
        return f"{type(self).__name__}(forward={forward}, backward={backward})"

    def _unroll(self, given: Sequence) -> tuple[Any, Any]:
        """Run a whole sequence in both directions."""
        length, inputs, begin_state, layout, merge_outputs, valid_length = given
        steps, axis, F, batch_size = format_sequence(length, inputs, layout, False)
        begin_state = get_begin_state(self, F, begin_state, steps, batch_size)
        (l_cell, l_begin), (r_cell, r_begin) = self._states_of_each(begin_state)
        l_outputs, l_states = l_cell.unroll(length, steps, l_begin, layout, merge_outputs, valid_length)
        backwards = reverse_sequences(steps, length, valid_length)
        r_outputs, r_states = r_cell.unroll(length, backwards, r_begin, layout, False, valid_length)
        r_outputs = reverse_sequences(r_outputs, length, valid_length)
        if merge_outputs is None:
            merge_outputs = isinstance(l_outputs, tensor_types)
        outputs = self._joined(F, l_outputs, r_outputs, layout, merge_outputs)
        if valid_length is not None:
            outputs = mask_sequence(F, outputs, length, valid_length, axis, merge_outputs)
        return outputs, l_states + r_states

    def _joined(self, F: Any, l_outputs: Any, r_outputs: Any, layout: str, merge: bool) -> Any:
        """Outputs of both directions, along the features."""
        l_outputs, r_outputs = (
            format_sequence(None, one, layout, merge).inputs for one in (l_outputs, r_outputs)
        )
        prefix = self._output_prefix
        if merge:
            return F.concat(l_outputs, r_outputs, dim=2, name=f"{prefix}out")
        pairs = enumerate(zip(l_outputs, r_outputs, strict=True))
        return [F.concat(left, right, dim=1, name=f"{prefix}t{number}") for number, (left, right) in pairs]
