"""All layers of a network in one call: the arrays of each cell, and the steps between layers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, Final, NamedTuple, final

import numpy as np

from operad_rnn import vector_steps
from operad_rnn.arrays import Bounds, Ends, Saved, Weights, keep
from operad_rnn.cell import Cell
from operad_rnn.gru import GRU
from operad_rnn.layout import PackedLayout
from operad_rnn.lstm import LSTM
from operad_rnn.plain import Relu, Tanh
from operad_rnn.scratch import Scratch
from operad_rnn.vector_steps import Last
from operad_sdk import Array, OpContext, Shape

_STEPS: Final = 1 << 16
_CELLS: Final[dict[str, type[Cell]]] = {"rnn_relu": Relu, "rnn_tanh": Tanh, "lstm": LSTM, "gru": GRU}


@final
class Dropped(NamedTuple):
    """Dropout between layers: outputs times `mask`, for each layer but the first, times `scale`."""

    mask: Array
    scale: Array

    def draw(self, generator: Any, p: float) -> None:
        """Draw the mask: each element is dropped with probability `p`, to 2**-17."""
        if p == 0:
            self.mask.fill(1)
        else:
            draws = generator.integers(_STEPS, size=self.mask.shape, dtype=np.uint16)
            np.greater_equal(draws, round(p * _STEPS), out=self.mask)
        self.scale.fill(1 / (1 - p) if p < 1 else 0)

    def apply(self, layer: int, outputs: Array, out: Array) -> None:
        """Write what `layer` sees of `outputs`; also the gradient of `outputs`, of what it sees."""
        np.multiply(outputs, self.mask[layer - 1], out=out)
        np.multiply(out, self.scale, out=out)


@final
@dataclass(kw_only=True, eq=False)
class Network:
    """The layers of one call.

    Attributes:
        initial: The hidden states and, of an LSTM, the cell states before the first step.
        runs: (T, N, 1), whether a sequence runs in a step; None: all do.
        saved: Of all cells, one after another; see `operad_rnn.cell`.
        between: (num_layers - 1, T, N, features), the outputs of all layers but the last.
        dropped: None: each layer sees all of the one below.
        memory: Scratch memory of `forward_memory` or `backward_memory` elements; forward alone may have None
            where nothing is dropped.
        in_vectors: Whether kernels in vector code go through the steps of each cell.
    """

    op_ctx: OpContext
    layout: PackedLayout
    parameters: Array
    bounds: Bounds | None
    initial: tuple[Array, Array | None]
    runs: Array | None
    data: Array
    output: Array
    saved: Saved
    between: Array | None
    dropped: Dropped | None
    memory: Array | None
    in_vectors: bool

    def __post_init__(self) -> None:
        self._outputs = [*(() if self.between is None else self.between), self.output]
        self._directions = 2 if self.layout.bidirectional else 1

    @cached_property
    def _names(self) -> list[str]:
        return self.layout.cell_names()

    @cached_property
    def _weights(self) -> Mapping[str, Array]:
        return self.layout.unpack(self.parameters)

    def forward(self, last: tuple[Array | None, Array | None]) -> None:
        """Fill the outputs of all layers, and `last`, as `initial` but after the last step."""
        seen = None if self.memory is None else _part(self.memory, self._outputs[0].shape)
        for layer in range(self.layout.num_layers):
            inputs = self._inputs(layer, seen)
            if self.in_vectors:
                self._forward_in_vectors(layer, inputs, last)
                continue

            def run(direction: int, _: int, layer: int = layer, inputs: Array = inputs) -> None:
                number = layer * self._directions + direction
                cell = self._cell(layer, direction)
                ends = cell.forward(inputs, *self._states(self.initial, number))
                for target, end in zip(last, ends, strict=True):
                    if target is not None and end is not None:
                        target[number] = end
                cell.clear()

            self._each_direction(run)

    def _forward_in_vectors(self, layer: int, inputs: Array, last: tuple[Array | None, Array | None]) -> None:
        """Fill the outputs of a layer, and `last`, by loops that are kept."""
        begin = layer * self._directions
        vector_steps.go_forward(
            lambda: [
                (self._cell(layer, i), *self._states(self.initial, begin + i))
                for i in range(self._directions)
            ],
            inputs, *self._kept_by(layer), self.op_ctx,
        )  # fmt: skip
        out = self._outputs[layer]
        for i, end in enumerate((-1, 0)[: self._directions]):
            if last[0] is not None:
                last[0][begin + i] = out[end][:, self._columns(i)]
            if last[1] is not None:
                last[1][begin + i] = self.saved.inner[begin + i][end]
        if self.runs is not None:
            keep(self.runs, out, 0)

    def _kept_by(self, layer: int, *more: Array | None) -> tuple[Any, list[Array]]:
        """The key of a layer's loops, and all arrays that may be used by them, each whole."""
        given = [
            self.data, self.parameters, *self.initial, self.output, *self.saved, self.between, self.memory,
            self.runs, *more,
        ]  # fmt: skip
        are_there = tuple([array is not None for array in given])
        key = self.layout, layer, self.bounds, self.dropped is not None, are_there
        return key, [array for array in given if array is not None]

    def backward(
        self,
        output_grad: Array,
        states_grad: tuple[Array, Array | None],
        parameters_grad: Array | None,
        data_grad: Array | None,
    ) -> None:
        """Compute the gradients of everything, those that are not None.

        Args:
            states_grad: The gradients of the last states; become those of the first.
        """
        scratch = Scratch(self.memory)
        steps, batch, _ = self.data.shape
        own = [scratch.take(_cell_memory(self.layout) * steps * batch) for _ in range(self._directions)]
        wide = self._outputs[0].shape
        seen = None if self.dropped is None else scratch.take(*wide)
        below = [scratch.take(*wide) for _ in range(2)] if self.layout.num_layers > 1 else []
        other = scratch.take(steps * batch * _widest(self.layout)) if self._directions > 1 else None

        def weights_grad(number: int) -> Weights | None:
            if parameters_grad is None:
                return None
            return Weights.of(self.layout.unpack(parameters_grad), self._names[number])

        out_grad = output_grad
        for layer in reversed(range(self.layout.num_layers)):
            inputs = self._inputs(layer, seen)
            target = below[layer % 2] if layer else data_grad
            targets = [target, None if other is None or target is None else _part(other, target.shape)]
            masked = None if self.runs is None else np.where(self.runs, out_grad, 0)
            out_grad = out_grad if masked is None else masked

            def cell_of(
                direction: int,
                layer: int = layer,
                inputs: Array = inputs,
                out_grad: Array = out_grad,
                targets: list[Array | None] = targets,
            ) -> tuple[Cell, Ends, Last]:
                number, cell = layer * self._directions + direction, self._cell(layer, direction)
                first, last = (self._states(states, number) for states in (self.initial, states_grad))
                cell.begin_backward(Scratch(own[direction]))
                ends = Ends(out_grad[..., self._columns(direction)], *first, *last)
                return cell, ends, Last(inputs, weights_grad(number), targets[direction])

            def run(
                direction: int, _: int, cell_of: Callable[[int], tuple[Cell, Ends, Last]] = cell_of
            ) -> None:
                cell, ends, last = cell_of(direction)
                cell.backward(ends)
                cell.finish(ends.hidden, last)

            if self.in_vectors:
                given = output_grad, *states_grad, masked, parameters_grad, data_grad
                vector_steps.go_back(
                    lambda cell_of=cell_of: [*map(cell_of, range(len(own)))],  # type: ignore[misc]
                    *self._kept_by(layer, *given),
                    self.op_ctx,
                )
                for i, memory in enumerate(own if self.layout.projection_size is not None else ()):
                    self._project_back(layer, i, memory, weights_grad(layer * self._directions + i))
            else:
                self._each_direction(run)
            if target is not None:
                if targets[1] is not None:
                    np.add(target, targets[1], out=target)
                if layer and self.dropped is not None:
                    self.dropped.apply(layer, target, target)
                out_grad = target

    def _project_back(self, layer: int, direction: int, memory: Array, grads: Weights | None) -> None:
        """Write the gradient of a projection, which no loop does."""
        if grads is not None:
            cell = self._cell(layer, direction)
            cell.begin_backward(Scratch(memory))
            cell.projection_grad(grads.h2r)

    def _inputs(self, layer: int, seen: Array | None) -> Array:
        """Inputs of a layer; `seen` is where they are written if something is dropped."""
        if layer == 0:
            return self.data
        outputs = self._outputs[layer - 1]
        if self.dropped is None or seen is None:
            return outputs
        self.dropped.apply(layer, outputs, seen)
        return seen

    def _cell(self, layer: int, direction: int) -> Cell:
        number = layer * self._directions + direction
        return _CELLS[self.layout.mode](
            self.op_ctx.xp,
            self.op_ctx if self._directions == 1 else None,
            Weights.of(self._weights, self._names[number]),
            Saved(*(None if saved is None else saved[number] for saved in self.saved)),
            self._outputs[layer][..., self._columns(direction)],
            is_reverse=direction == 1,
            runs=self.runs,
            bounds=self.bounds,
            in_vectors=self.in_vectors,
        )

    def _columns(self, direction: int) -> slice:
        """Columns of a direction's hidden states among the features of a layer's output."""
        size = self.layout.recurrent_size
        return slice(direction * size, (direction + 1) * size)

    def _states(self, states: tuple[Array, Array | None], number: int) -> tuple[Array, Array | None]:
        hidden, state = states
        return hidden[number], None if state is None else state[number]

    def _each_direction(self, run: Callable[[int, int], None]) -> None:
        """Both directions, side by side where there are threads for it; one alone gets all of BLAS's."""
        if self._directions == 1:
            run(0, 0)
        else:
            self.op_ctx.parallel(run, 2, min(2, self.op_ctx.num_threads))


def forward_memory(layout: PackedLayout, data: Shape) -> int:
    """Elements of scratch memory that `forward` needs where something is dropped."""
    return prod(data[:2]) * _output_size(layout)


def backward_memory(layout: PackedLayout, drops: bool, data: Shape) -> int:
    """Elements of scratch memory that `backward` needs."""
    directions = 2 if layout.bidirectional else 1
    features = directions * _cell_memory(layout) + (_output_size(layout) if drops else 0)
    features += 2 * _output_size(layout) if layout.num_layers > 1 else 0
    features += _widest(layout) if directions > 1 else 0
    return prod(data[:2]) * features


def _cell_memory(layout: PackedLayout) -> int:
    """Elements of scratch memory that a cell's `backward` needs, for each step and row."""
    return 4 * layout.state_size + (layout.projection_size or 0)


def _output_size(layout: PackedLayout) -> int:
    return (2 if layout.bidirectional else 1) * layout.recurrent_size


def _widest(layout: PackedLayout) -> int:
    """The most features that any layer sees."""
    return max(layout.input_size, _output_size(layout) if layout.num_layers > 1 else 0)


def _part(memory: Array, shape: Any) -> Array:
    return Scratch(memory).take(*shape)
