"""Cells around another cell, and dropout between cells.

Source: python/mxnet/gluon/rnn/rnn_cell.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import operad
from operad import sym
from operad.errors import ArgumentError, GraphError, UnsupportedError
from operad_gluon.rnn.base import HybridRecurrentCell, Sequence
from operad_gluon.rnn.sequences import format_sequence, mask_sequence, tensor_types
from operad_gluon.rnn.stacked import BidirectionalCell


class DropoutCell(HybridRecurrentCell):
    """Dropout of the input; it has no state.

    Args:
        rate: Share of elements that become 0 in training.
        axes: Axes along which elements share their fate.
        prefix: As of `Block`.
        params: As of `Block`.
    """

    def __init__(
        self, rate: float, axes: tuple[int, ...] = (), prefix: str | None = None, params: Any = None
    ) -> None:
        super().__init__(prefix, params)
        if not isinstance(rate, operad.base.numeric_types):
            raise ArgumentError(f"DropoutCell: rate is {rate!r}, expected a number")
        self._rate = rate
        self._axes = axes

    def __repr__(self) -> str:
        return f"{type(self).__name__}(rate={self._rate}, axes={self._axes})"

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """No state."""
        return []

    def _alias(self) -> str:
        return "dropout"

    def hybrid_forward(self, F: Any, inputs: Any, states: Any) -> tuple[Any, Any]:
        """Compute one step, or all at once."""
        if self._rate > 0:
            inputs = F.Dropout(inputs, p=self._rate, axes=self._axes, name=f"t{self._counter}_fwd")
        return inputs, states

    def _unroll(self, given: Sequence) -> tuple[Any, Any]:
        """Run a whole sequence, at once where it is one piece."""
        inputs, _, F, _ = format_sequence(given.length, given.inputs, given.layout, given.merge_outputs)
        if isinstance(inputs, tensor_types):
            return self.hybrid_forward(F, inputs, given.begin_state or [])
        return super()._unroll(given._replace(inputs=inputs, valid_length=None))


class ModifierCell(HybridRecurrentCell):
    """Base of cells around another one, whose parameters they have.

    Args:
        base_cell: The other one, which can then be called through this one alone.
    Raises:
        GraphError: It is inside another such cell.
    """

    def __init__(self, base_cell: Any) -> None:
        if base_cell._modified:
            raise GraphError(f"cell {base_cell.name!r} is modified already, and cannot be modified twice")
        base_cell._modified = True
        super().__init__(prefix=base_cell.prefix + self._alias(), params=None)
        self.base_cell = base_cell

    @property
    def params(self) -> Any:
        """Parameters of the cell inside."""
        return self.base_cell.params

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """States of the cell inside."""
        return self.base_cell.state_info(batch_size)  # type: ignore[no-any-return]  # any cell

    def begin_state(self, func: Callable[..., Any] = sym.zeros, **kwargs: Any) -> list[Any]:  # type: ignore[override]
        """States before the first step; see `RecurrentCell.begin_state`."""
        self._require_unmodified()
        self.base_cell._modified = False
        try:
            return self.base_cell.begin_state(func=func, **kwargs)  # type: ignore[no-any-return]  # any cell
        finally:
            self.base_cell._modified = True

    def hybrid_forward(self, F: Any, inputs: Any, states: Any) -> Any:
        """Compute one step."""
        raise NotImplementedError(f"{type(self).__name__} does not define hybrid_forward")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_cell})"


def refuse_bidirectional(who: str, cell: Any) -> None:
    """Raise an error where a cell cannot be run step by step.

    Raises:
        UnsupportedError: It is a `BidirectionalCell`.
    """
    if isinstance(cell, BidirectionalCell):
        raise UnsupportedError(f"{who}: a BidirectionalCell has no steps; modify the cells inside of it")


class ZoneoutCell(ModifierCell):
    """Zoneout: in training, random elements keep their value of the step before.

    Args:
        base_cell: The cell.
        zoneout_outputs: Share of the outputs' elements.
        zoneout_states: Share of the states' elements.
    """

    def __init__(self, base_cell: Any, zoneout_outputs: float = 0.0, zoneout_states: float = 0.0) -> None:
        refuse_bidirectional("ZoneoutCell", base_cell)
        super().__init__(base_cell)
        self.zoneout_outputs = zoneout_outputs
        self.zoneout_states = zoneout_states
        self._prev_output: Any = None

    def __repr__(self) -> str:
        rates = f"p_out={self.zoneout_outputs}, p_state={self.zoneout_states}"
        return f"{type(self).__name__}({rates}, {self.base_cell})"

    def _alias(self) -> str:
        return "zoneout"

    def reset(self) -> None:
        """Begin another sequence."""
        super().reset()
        self._prev_output = None

    def hybrid_forward(self, F: Any, inputs: Any, states: Any) -> tuple[Any, Any]:
        """Compute one step."""
        output, new_states = self.base_cell(inputs, states)

        def mixed(share: float, new: Any, old: Any) -> Any:
            # Dropout leaves 0 where the element is to be kept, and something else where it is not.
            return F.where(F.Dropout(F.ones_like(new), p=share), new, old) if share else new

        before = F.zeros_like(output) if self._prev_output is None else self._prev_output
        output = mixed(self.zoneout_outputs, output, before)
        pairs = zip(new_states, states, strict=True)
        self._prev_output = output
        return output, [mixed(self.zoneout_states, new, old) for new, old in pairs]


class ResidualCell(ModifierCell):
    """A cell whose input is added to its output.

    Args:
        base_cell: The cell.
    """

    def hybrid_forward(self, F: Any, inputs: Any, states: Any) -> tuple[Any, Any]:
        """Compute one step."""
        output, states = self.base_cell(inputs, states)
        return F.elemwise_add(output, inputs, name=f"t{self._counter}_fwd"), states

    def _unroll(self, given: Sequence) -> tuple[Any, Any]:
        """Run a whole sequence."""
        length, inputs, _, layout, merge_outputs, valid_length = given
        self.base_cell._modified = False
        try:
            outputs, states = self.base_cell.unroll(*given)
        finally:
            self.base_cell._modified = True
        merge = isinstance(outputs, tensor_types) if merge_outputs is None else merge_outputs
        inputs, axis, F, _ = format_sequence(length, inputs, layout, merge)
        if valid_length is not None:
            inputs = mask_sequence(F, inputs, length, valid_length, axis, merge)
        if merge:
            return F.elemwise_add(outputs, inputs), states
        return [F.elemwise_add(*pair) for pair in zip(outputs, inputs, strict=True)], states
