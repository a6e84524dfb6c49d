"""Base of recurrent cells: states, and the unrolling of steps.

Source: RecurrentCell, python/mxnet/gluon/rnn/rnn_cell.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final, NamedTuple

from operad import nd
from operad.errors import GraphError
from operad_gluon.block import Block, HybridBlock
from operad_gluon.nn import LeakyReLU
from operad_gluon.rnn.sequences import format_sequence, last_states, mask_sequence, tensor_types

_OPERATORS: Final = ("tanh", "relu", "sigmoid", "softsign")
"""Activations that are operators of their own."""


class Sequence(NamedTuple):
    """Arguments of `RecurrentCell.unroll`."""

    length: int
    inputs: Any
    begin_state: Any
    layout: str
    merge_outputs: bool | None
    valid_length: Any


class RecurrentCell(Block):
    """A cell: called for one step with its input and the states, it returns the output and the new states.

    Args:
        prefix: As of `Block`.
        params: As of `Block`.
    """

    def __init__(self, prefix: str | None = None, params: Any = None) -> None:
        super().__init__(prefix=prefix, params=params)
        self._modified = False
        self.reset()

    def reset(self) -> None:
        """Count steps and states from 0 again, before another sequence."""
        self._init_counter = -1
        self._counter = -1
        for cell in self._children.values():
            if isinstance(cell, RecurrentCell):
                cell.reset()

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """Shape and layout of each state."""
        raise NotImplementedError(f"{type(self).__name__} does not define state_info")

    def begin_state(
        self, batch_size: int = 0, func: Callable[..., Any] = nd.zeros, **kwargs: Any
    ) -> list[Any]:
        """States before the first step.

        Args:
            batch_size: Sequences in the batch.
            func: Makes a state, as `nd.zeros` does.
            kwargs: What else it takes.
        Raises:
            GraphError: A cell around this one takes its place.
        """
        self._require_unmodified()
        states = []
        for info in self.state_info(batch_size):
            self._init_counter += 1
            name = f"{self._prefix}begin_state_{self._init_counter}"
            states.append(func(name=name, **{**info, **kwargs}))
        return states

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Any = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
        valid_length: Any = None,
    ) -> tuple[Any, list[Any]]:
        """Run a whole sequence.

        Args:
            length: How many steps there are.
            inputs: One array or symbol, or a list of steps.
            begin_state: States before the first step; None: `begin_state`'s.
            layout: `NTC` or `TNC`: axes of the batch, the steps and the features.
            merge_outputs: Whether outputs are one piece; None: as is cheaper, here a list.
            valid_length: Steps of each sequence, of shape (batch,); outputs behind them are 0, and states are
                those after them.

        Returns:
            The outputs, and the states after the last step.
        """
        self.reset()
        return self._unroll(Sequence(length, inputs, begin_state, layout, merge_outputs, valid_length))

    def _unroll(self, given: Sequence) -> tuple[Any, Any]:
        """Run a whole sequence, after `reset`."""
        length, inputs, begin_state, layout, merge_outputs, valid_length = given
        steps, axis, F, batch_size = format_sequence(length, inputs, layout, False)
        states = get_begin_state(self, F, begin_state, steps, batch_size)
        outputs: Any = []
        all_states = []
        for step in steps[:length]:
            output, states = self(step, states)
            outputs.append(output)
            all_states.append(states)
        if valid_length is not None:
            states = last_states(F, all_states, valid_length)
            outputs = mask_sequence(F, outputs, length, valid_length, axis, True)
        return format_sequence(length, outputs, layout, merge_outputs).inputs, states

    def forward(self, inputs: Any, states: Any) -> Any:
        """Run one step."""
        self._counter += 1
        return super().forward(inputs, states)

    def _get_activation(self, F: Any, inputs: Any, activation: Any, **kwargs: Any) -> Any:
        if isinstance(activation, str):
            if activation in _OPERATORS:
                return getattr(F, activation)(inputs, **kwargs)
            return F.Activation(inputs, act_type=activation, **kwargs)
        if isinstance(activation, LeakyReLU):
            return F.LeakyReLU(inputs, act_type="leaky", slope=activation._alpha, **kwargs)
        return activation(inputs, **kwargs)

    def _require_unmodified(self) -> None:
        if self._modified:
            raise GraphError(
                f"begin_state: {type(self).__name__} {self.name!r} is inside a cell that modifies it; call "
                "that one's"
            )


class HybridRecurrentCell(RecurrentCell, HybridBlock):
    """A cell that can be compiled."""

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute one step."""
        raise NotImplementedError(f"{type(self).__name__} does not define hybrid_forward")


def get_begin_state(cell: Any, F: Any, begin_state: Any, inputs: Any, batch_size: int) -> Any:
    """The states that are given, or the cell's own: of the type of its parameters, where the inputs are."""
    if begin_state is not None:
        return begin_state
    dtypes = [param.dtype for param in cell.collect_params().values()]
    zeros = partial(F.zeros, dtype=dtypes[0]) if dtypes else F.zeros
    if F is not nd:
        return cell.begin_state(func=zeros, batch_size=batch_size)
    first = inputs if isinstance(inputs, tensor_types) else inputs[0]
    with first.context:
        return cell.begin_state(func=zeros, batch_size=batch_size)


def states_of(cells: Iterable[Any], batch_size: int) -> list[dict[str, Any]]:
    """`state_info` of several cells."""
    return [info for cell in cells for info in cell.state_info(batch_size)]


def begin_states_of(cells: Iterable[Any], **kwargs: Any) -> list[Any]:
    """`begin_state` of several cells."""
    return [state for cell in cells for state in cell.begin_state(**kwargs)]
