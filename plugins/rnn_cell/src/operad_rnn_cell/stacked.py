"""Cells of cells: layers on top of each other, and both directions of a sequence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

from operad import NDArray, Symbol, sym
from operad.errors import ArgumentError, GraphError, UnsupportedError
from operad_rnn_cell.base import BaseRNNCell, RNNParams, States, arranged


class _Group(BaseRNNCell):
    """Cells whose states and weights are those of all of them."""

    def __init__(self, params: RNNParams | None) -> None:
        self._cells: list[BaseRNNCell] = []
        super().__init__("", params)
        self._override_cell_params = params is not None

    def reset(self) -> None:
        """Count steps and states of every cell from 0 again."""
        super().reset()
        for cell in self._cells:
            cell.reset()

    @property
    def state_info(self) -> list[dict[str, Any]]:
        """States of all cells, in order."""
        return [info for cell in self._cells for info in cell.state_info]

    def begin_state(self, func: Callable[..., Symbol] = sym.zeros, **kwargs: Any) -> list[Symbol]:
        """The states of all cells before the first step.

        Raises:
            GraphError: A cell around this one takes its place.
        """
        if self._modified:
            raise GraphError("begin_state: the cells are inside one that modifies them; call that one's")
        return [state for cell in self._cells for state in cell.begin_state(func, **kwargs)]

    def unpack_weights(self, args: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """Weights with one array for each gate, of every cell."""
        return reduce(lambda unpacked, cell: cell.unpack_weights(unpacked), self._cells, dict(args))

    def pack_weights(self, args: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """The inverse of `unpack_weights`."""
        return reduce(lambda packed, cell: cell.pack_weights(packed), self._cells, dict(args))

    def _take(self, cell: BaseRNNCell) -> None:
        if self._override_cell_params:
            if not cell._own_params:
                raise ArgumentError("give params to the group of cells or to the cells in it, not to both")
            cell.params._params.update(self._params._params)
        self._params._params.update(cell.params._params)
        self._cells.append(cell)

    def _shared_out(self, states: Sequence[Symbol]) -> list[Sequence[Symbol]]:
        """Each cell's part of the states."""
        parts, start = [], 0
        for cell in self._cells:
            stop = start + len(cell.state_info)
            parts.append(states[start:stop])
            start = stop
        return parts


class SequentialRNNCell(_Group):
    """Cells on top of each other: each one's output is the next one's input.

    `unroll` goes layer by layer.

    Args:
        params: Variables that all cells share; None: each has its own.
    """

    def __init__(self, params: RNNParams | None = None) -> None:
        super().__init__(params)

    def add(self, cell: BaseRNNCell) -> None:
        """Put a cell on top."""
        self._take(cell)

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list[Symbol]]:
        """One step of every cell."""
        self._counter += 1
        following: list[Symbol] = []
        for cell, own in zip(self._cells, self._shared_out(states), strict=True):
            inputs, after = cell(inputs, own)
            following.extend(after)
        return inputs, following

    def _unrolled(
        self, length: int, inputs: Any, begin_state: States, layout: str, merge_outputs: bool | None
    ) -> tuple[Any, list[Any]]:
        states = self.begin_state() if begin_state is None else begin_state
        following: list[Any] = []
        for cell, own in zip(self._cells, self._shared_out(states), strict=True):
            merge = merge_outputs if cell is self._cells[-1] else None
            inputs, after = cell.unroll(length, inputs, own, layout, merge)
            following.extend(after)
        return inputs, following


class BidirectionalCell(_Group):
    """Two cells, of which the second sees the sequence backwards; outputs of both stand beside each other.

    The states after `unroll` are a list of each cell's.

    Args:
        l_cell: The cell that goes forwards.
        r_cell: The cell that goes backwards.
        params: Variables that both share; None: each has its own.
        output_prefix: What names of outputs begin with.
    """

    has_steps = False

    def __init__(
        self,
        l_cell: BaseRNNCell,
        r_cell: BaseRNNCell,
        params: RNNParams | None = None,
        output_prefix: str = "bi_",
    ) -> None:
        super().__init__(params)
        self._output_prefix = output_prefix
        self._take(l_cell)
        self._take(r_cell)

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list[Symbol]]:
        """Refused: the backward direction begins with the last step.

        Raises:
            UnsupportedError: Always.
        """
        raise UnsupportedError("BidirectionalCell cannot be stepped; use unroll")

    def _unrolled(
        self, length: int, inputs: Any, begin_state: States, layout: str, merge_outputs: bool | None
    ) -> tuple[Any, list[Any]]:
        steps, axis = arranged(length, inputs, layout, merge=False)
        states = self.begin_state() if begin_state is None else begin_state
        outputs, after = [], []
        for cell, own, order in zip(self._cells, self._shared_out(states), (steps, steps[::-1]), strict=True):
            output, last = cell.unroll(length, order, own, layout, merge_outputs)
            outputs.append(output)
            after.append(last)
        if merge_outputs is None:
            merge_outputs = all(isinstance(output, Symbol) for output in outputs)
        forward, backward = (arranged(length, output, layout, merge_outputs)[0] for output in outputs)
        if merge_outputs:
            backward = sym.reverse(backward, axis=axis)
            return sym.concat(forward, backward, dim=2, name=f"{self._output_prefix}out"), after
        both = zip(forward, reversed(backward), strict=True)
        names = (f"{self._output_prefix}t{number}" for number in range(length))
        return [sym.concat(*pair, dim=1, name=name) for pair, name in zip(both, names, strict=True)], after
