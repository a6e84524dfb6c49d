"""Base of cells: names, parameters, states, and the unrolling of steps to a network.

A cell is called once for each step, with the step's input and the states, and makes symbols; the parameters
are the same variables at every step. `unroll` calls it for a whole sequence.

Source: BaseRNNCell, python/mxnet/rnn/rnn_cell.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, final

from operad import NDArray, Symbol, nd, sym
from operad.errors import ArgumentError, GraphError, UnsupportedError

States = Sequence[Symbol] | None

_GROUPS: Final = ("i2h", "h2h")


@final
class RNNParams:
    """The variables of one or more cells, by name.

    Args:
        prefix: What each name begins with.
    """

    def __init__(self, prefix: str = "") -> None:
        self._prefix = prefix
        self._params: dict[str, Symbol] = {}

    def get(self, name: str, **kwargs: Any) -> Symbol:
        """The variable of that name, made when first asked for, with what `sym.var` takes."""
        name = self._prefix + name
        if name not in self._params:
            self._params[name] = sym.var(name, **kwargs)
        return self._params[name]


class BaseRNNCell:
    """A cell.

    Args:
        prefix: What names of parameters and outputs begin with.
        params: Variables that are shared with other cells; None: its own.

    Attributes:
        has_steps: Whether it can be called; one that cannot has `unroll` alone.
    """

    has_steps = True

    def __init__(self, prefix: str = "", params: RNNParams | None = None) -> None:
        self._own_params = params is None
        self._prefix = prefix
        self._params = RNNParams(prefix) if params is None else params
        self._modified = False
        self._num_hidden = 0
        self.reset()

    def reset(self) -> None:
        """Count steps and states from 0 again, before another network is made."""
        self._init_counter = -1
        self._counter = -1

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list[Symbol]]:
        """One step.

        Args:
            inputs: The step's input, (batch, features).
            states: Those of the step before, or of `begin_state`.

        Returns:
            The output and the new states.
        """
        raise UnsupportedError(f"{type(self).__name__} does not say what a step is; define __call__")

    @property
    def params(self) -> RNNParams:
        """The variables, to be shared with other cells."""
        self._own_params = False
        return self._params

    @property
    def state_info(self) -> list[dict[str, Any]]:
        """Shape and layout of each state; a length of 0 is unknown."""
        raise UnsupportedError(f"{type(self).__name__} does not say what its states are; define state_info")

    @property
    def state_shape(self) -> list[tuple[int, ...]]:
        """Shape of each state."""
        return [info["shape"] for info in self.state_info]

    @property
    def _gate_names(self) -> Sequence[str]:
        """Suffixes behind `i2h` and `h2h` in the names of each gate's weights."""
        return ()

    def begin_state(self, func: Callable[..., Symbol] = sym.zeros, **kwargs: Any) -> list[Symbol]:
        """The states before the first step.

        Args:
            func: Makes a state of `name`, `shape` and `__layout__`: `sym.zeros`, or `sym.var` for states that
                are arguments.
            kwargs: What else it takes.

        Raises:
            GraphError: A cell around this one takes its place.
        """
        if self._modified:
            raise GraphError(
                f"begin_state: {type(self).__name__} {self._prefix!r} is inside a cell that modifies it; "
                "call that one's begin_state"
            )
        return [func(name=self._state_name(), **{**kwargs, **info}) for info in self.state_info]

    def unpack_weights(self, args: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """Weights with one array for each gate in place of one for all of them.

        Args:
            args: Arrays by name; others than this cell's are passed on.
        """
        unpacked, size = dict(args), self._num_hidden
        for name, kind in self._packed_names():
            packed = unpacked.pop(f"{name}_{kind}")
            for number, gate in enumerate(self._gate_names):
                unpacked[f"{name}{gate}_{kind}"] = packed[number * size : (number + 1) * size].copy()
        return unpacked

    def pack_weights(self, args: Mapping[str, NDArray]) -> dict[str, NDArray]:
        """The inverse of `unpack_weights`."""
        packed = dict(args)
        for name, kind in self._packed_names():
            gates = [packed.pop(f"{name}{gate}_{kind}") for gate in self._gate_names]
            packed[f"{name}_{kind}"] = nd.concat(*gates, dim=0)
        return packed

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Sequence[Symbol] | None = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
    ) -> tuple[Any, list[Any]]:
        """The network of `length` steps.

        Args:
            length: Number of steps.
            inputs: One symbol for all steps, or a list of one for each.
            begin_state: States before the first step; None: those of `begin_state()`.
            layout: `"NTC"` or `"TNC"`: where batch and time are in merged symbols.
            merge_outputs: One symbol for all steps' outputs (True), or a list (False); None: what is at hand.

        Returns:
            The outputs, and the states after the last step.

        Raises:
            ArgumentError: There are not as many inputs as steps, or the layout has no time.
        """
        self.reset()
        return self._unrolled(length, inputs, begin_state, layout, merge_outputs)

    def _unrolled(
        self, length: int, inputs: Any, begin_state: States, layout: str, merge_outputs: bool | None
    ) -> tuple[Any, list[Any]]:
        """The network of `unroll`, of a cell that has begun again."""
        steps, _ = arranged(length, inputs, layout, merge=False)
        states = list(self.begin_state() if begin_state is None else begin_state)
        outputs = []
        for step in steps:
            output, states = self(step, states)
            outputs.append(output)
        return arranged(length, outputs, layout, merge_outputs)[0], states

    def _next_step(self) -> str:
        """Prefix for the names of the next step's nodes."""
        self._counter += 1
        return f"{self._prefix}t{self._counter}_"

    def _state_name(self) -> str:
        self._init_counter += 1
        return f"{self._prefix}begin_state_{self._init_counter}"

    def _packed_names(self) -> list[tuple[str, str]]:
        if not self._gate_names:
            return []
        return [(self._prefix + group, kind) for group in _GROUPS for kind in ("weight", "bias")]


def arranged(length: int | None, sequence: Any, layout: str, merge: bool | None) -> tuple[Any, int]:
    """A sequence as one symbol or as a list of steps, and the axis of time in `layout`.

    Args:
        length: Number of steps; None: those of the list.
        sequence: A symbol, or a list of symbols.
        layout: Of the symbol.
        merge: Make it one symbol (True) or a list (False); None: leave it as it is.

    Raises:
        ArgumentError: There are not as many steps as `length`, or the layout has no time.
    """
    axis = layout.find("T")
    if axis < 0:
        raise ArgumentError(f"unroll: layout is {layout!r}, expected 'NTC' or 'TNC'")
    if isinstance(sequence, Symbol):
        if merge is False:
            if len(sequence.list_outputs()) != 1:
                count = len(sequence.list_outputs())
                raise ArgumentError(f"unroll: got a symbol of {count} outputs, expected one output or a list")
            parts = sym.split(sequence, axis=axis, num_outputs=length, squeeze_axis=True)
            return [parts[number] for number in range(length or 1)], axis
        return sequence, axis
    steps = list(sequence)
    if length is not None and len(steps) != length:
        raise ArgumentError(f"unroll: got {len(steps)} inputs for {length} steps, expected one for each")
    if merge:
        return sym.concat(*(sym.expand_dims(step, axis=axis) for step in steps), dim=axis), axis
    return steps, axis
