"""Cells that change what another cell does, or drop elements between cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from operad import NDArray, Symbol, sym
from operad.errors import ArgumentError
from operad_rnn_cell.base import BaseRNNCell, RNNParams, States, arranged


class DropoutCell(BaseRNNCell):
    """Drops elements of its inputs in training; has no states.

    `unroll` takes all steps at once where they are one symbol.

    Args:
        dropout: The part that is dropped.
        prefix: As in `BaseRNNCell`, with what follows.
    """

    def __init__(self, dropout: float, prefix: str = "dropout_", params: RNNParams | None = None) -> None:
        super().__init__(prefix, params)
        self.dropout = dropout

    @property
    def state_info(self) -> list[dict[str, Any]]:
        """None."""
        return []

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list[Symbol]]:
        """One step, or all steps at once."""
        return (sym.Dropout(inputs, p=self.dropout) if self.dropout > 0 else inputs), list(states)

    def _unrolled(
        self, length: int, inputs: Any, begin_state: States, layout: str, merge_outputs: bool | None
    ) -> tuple[Any, list[Any]]:
        inputs, _ = arranged(length, inputs, layout, merge_outputs)
        if isinstance(inputs, Symbol):
            return self(inputs, [])
        return super()._unrolled(length, inputs, begin_state, layout, merge_outputs)


class ModifierCell(BaseRNNCell):
    """A cell around another, whose weights and states it has.

    Args:
        base_cell: The other; it is called through this one from now on.
    """

    def __init__(self, base_cell: BaseRNNCell) -> None:
        self.base_cell = base_cell
        super().__init__("", base_cell.params)
        base_cell._modified = True

    def reset(self) -> None:
        """Count steps and states from 0 again."""
        super().reset()
        self.base_cell.reset()

    @property
    def params(self) -> RNNParams:
        """The other cell's variables."""
        self._own_params = False
        return self.base_cell.params

    @property
    def state_info(self) -> list[dict[str, Any]]:
        """The other cell's."""
        return self.base_cell.state_info

    def begin_state(self, func: Callable[..., Symbol] = sym.zeros, **kwargs: Any) -> list[Symbol]:
        """The other cell's states before the first step; `init_sym` is MXNet's other name of `func`."""
        self.base_cell._modified = False
        try:
            return self.base_cell.begin_state(kwargs.pop("init_sym", func), **kwargs)
        finally:
            self.base_cell._modified = True

    def unpack_weights(self, args: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """Unpack weights as the other cell does."""
        return self.base_cell.unpack_weights(args)

    def pack_weights(self, args: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """Pack weights as the other cell does."""
        return self.base_cell.pack_weights(args)


class ZoneoutCell(ModifierCell):
    """Keeps elements of outputs and states of the step before, at random, in training.

    Args:
        base_cell: The cell it is around.
        zoneout_outputs: The part of outputs that is kept; before the first step they are 0.
        zoneout_states: The part of states that is kept.

    Raises:
        ArgumentError: The cell is a fused one, which has no steps.

    Source: Krueger et al., "Zoneout: regularizing RNNs by randomly preserving hidden activations", 2017.
    """

    def __init__(
        self, base_cell: BaseRNNCell, zoneout_outputs: float = 0.0, zoneout_states: float = 0.0
    ) -> None:
        if not base_cell.has_steps:
            raise ArgumentError(
                f"ZoneoutCell: {type(base_cell).__name__} has no steps; call its unfuse() first"
            )
        super().__init__(base_cell)
        self.zoneout_outputs = zoneout_outputs
        self.zoneout_states = zoneout_states

    def reset(self) -> None:
        """Begin again without an output of the step before."""
        super().reset()
        self.prev_output: Symbol | None = None

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list[Symbol]]:
        """One step."""
        output, after = self.base_cell(inputs, states)
        former = sym.zeros_like(output) if self.prev_output is None else self.prev_output
        output = _zoned(self.zoneout_outputs, output, former)
        self.prev_output = output
        return output, [_zoned(self.zoneout_states, *pair) for pair in zip(after, states, strict=True)]


def _zoned(part: float, new: Symbol, old: Symbol) -> Symbol:
    if part == 0:
        return new
    return sym.where(sym.Dropout(sym.ones_like(new), p=part), new, old)  # type: ignore[no-any-return]


class ResidualCell(ModifierCell):
    """Adds the inputs to the other cell's outputs.

    Source: Wu et al., "Google's neural machine translation system", 2016, section 3.1.
    """

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list[Symbol]]:
        """One step."""
        output, after = self.base_cell(inputs, states)
        return _plus_residual(output, inputs), after

    def _unrolled(
        self, length: int, inputs: Any, begin_state: States, layout: str, merge_outputs: bool | None
    ) -> tuple[Any, list[Any]]:
        begin = self.begin_state() if begin_state is None else begin_state
        outputs, after = self.base_cell.unroll(length, inputs, begin, layout, merge_outputs)
        merged = isinstance(outputs, Symbol) if merge_outputs is None else merge_outputs
        inputs, _ = arranged(length, inputs, layout, merged)
        if isinstance(outputs, Symbol):
            return _plus_residual(outputs, inputs), after
        return [_plus_residual(*pair) for pair in zip(outputs, inputs, strict=True)], after


def _plus_residual(output: Symbol, inputs: Symbol) -> Symbol:
    return sym.elemwise_add(output, inputs, name=f"{output.name}_plus_residual")  # type: ignore[no-any-return]
