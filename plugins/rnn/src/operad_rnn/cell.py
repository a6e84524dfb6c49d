"""Base of the cells: one direction of one layer, forward and backward, step by step.

The inputs of all steps are multiplied at once; what is left to do in a step is the product of the hidden
state, and the activation of the gates. Backward, a step computes the gradient of the gates' sums alone.

What backward needs of each step, forward leaves in `Saved`, but the `tanh` of an LSTM's cell states.

A row of the batch that ends early keeps its state; the reverse direction begins at its end. No row depends on
another one, so threads may go through all steps with some rows each.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from typing import Any, ClassVar, Final, Self

import numpy as np

from operad_rnn.arrays import Bounds, Ends, Saved, Weights, copies, flat, keep
from operad_rnn.scratch import Scratch
from operad_rnn.setup import Setup
from operad_rnn.vector_steps import Back, Last, Order
from operad_sdk import Array, OpContext, blocked_sum
from operad_sdk.multiplication import RightFactor, multiply
from operad_sdk.vector import PackedMatrix, StepCall, tiled_product


class Cell(ABC):
    """One direction of one layer.

    Args:
        xp: The array module.
        op_ctx: Whose threads compute parts; None: the calling thread computes all.
        out: (steps, batch, recurrent size), the hidden states; forward fills it.
        runs: (steps, batch, 1), whether a row runs in a step; None: all do.
        bounds: None: cell states are not clipped.
        in_vectors: Whether kernels in vector code go through the steps.
    """

    gate_count: ClassVar[int]
    passes_directly: ClassVar[bool] = False
    """True if the hidden state enters the next one also outside the gates."""
    of_steps: ClassVar[tuple[str, ...]] = ("gates", "inner", "out", "runs", "sums")
    """Attributes that are arrays of (steps, batch, ...), or None."""
    of_rows: ClassVar[tuple[str, ...]] = ()
    """Attributes that are arrays of (batch, ...), of those that there are."""

    _h2h: RightFactor
    packed: PackedMatrix
    sums: Array
    """(steps, batch, gates), the gradient of the recurrent products: those of `h2h` with the hidden state."""

    def __init__(
        self,
        xp: Any,
        op_ctx: OpContext | None,
        weights: Weights,
        saved: Saved,
        out: Array,
        *,
        is_reverse: bool,
        runs: Array | None,
        bounds: Bounds | None,
        in_vectors: bool,
    ) -> None:
        self.xp: Final = xp
        self.op_ctx: Final = op_ctx
        self.weights: Final = weights
        self.gates, self.inner = saved
        self.out = out
        self.runs = runs
        self.bounds: Final = bounds
        self.in_vectors: Final = in_vectors
        self.units: Final = len(weights.i2h_bias) // self.gate_count
        self.is_reverse: Final = is_reverse
        self.order: Final = range(len(out))[:: -1 if is_reverse else 1]

    @abstractmethod
    def begin(self, inputs: Array) -> None:
        """Multiply `inputs`, (steps, batch, features), and get ready for `step`."""

    @abstractmethod
    def step(self, t: int, hidden: Array, state: Array) -> Array:
        """Compute `out[t]` from the hidden and the cell state before; the new cell state is returned."""

    @abstractmethod
    def begin_backward(self, scratch: Scratch) -> None:
        """Get ready for `step_back`, which writes `sums`."""

    @abstractmethod
    def step_back(self, t: int, grad: Array, before: Array, state_grad: Array, state: Array) -> None:
        """Compute what a step gives to the gates' sums, and to the state before.

        Args:
            grad: The gradient of the hidden state at `t`. Where `passes_directly`, that part of the gradient
                of the state before is left here which does not come through the gates.
            before: The hidden state before `t`.
            state_grad: The gradient of the cell state at `t`; becomes that of the one before. None, as is
                `state`, where there are no cell states.
            state: The cell state before `t`.
        """

    @abstractmethod
    def prepare(self, inputs: Array, setup: Setup) -> None:
        """Get ready for `calls`: have the inputs multiplied, and matrices packed."""

    @abstractmethod
    def calls(self, order: Order, hidden: Array, state: Array | None) -> list[StepCall]:
        """Calls of a step in vector code, with the arguments of `forward`."""

    def prepare_back(self, setup: Setup) -> None:  # noqa: B027  # most need the recurrent matrix alone
        """Get ready for `calls_back`, after `begin_backward`."""

    @abstractmethod
    def calls_back(self, order: Order, back: Back) -> list[StepCall]:
        """Calls that compute the gradient of the recurrent products, and last a product with it.

        Args:
            order: From the last step.
        """

    def input_sums(self) -> Sequence[Array]:
        """The gradient of the products with the inputs, after all steps back in vector code, side by side."""
        return [self.sums]

    def of_runs(self) -> Sequence[Array]:
        """Arrays in which steps back write gradients that are 0 where rows do not run."""
        return [self.sums]

    def multiply(self, left: Array, right: Array, out: Array, bias: Array | None = None) -> None:
        """Write `left @ right + bias`.

        Beside kernels no threads of BLAS: behind a product they look for the next one for 30 ms.
        """
        (tiled_product if self.in_vectors else multiply)(left, right, out, bias, op_ctx=self.op_ctx)

    def to_inputs(self, sums: Array) -> None:  # noqa: B027  # most cells add up both products
        """Turn the gradient of the recurrent products into that of the products with the inputs."""

    def projection_grad(self, h2r_grad: Array) -> None:
        """Write the gradient of the projection's matrix."""
        raise NotImplementedError

    def forward(self, inputs: Array, hidden: Array, state: Array | None) -> tuple[Array, Array | None]:
        """Fill `out`, beginning with `hidden` and the cell state `state`; the last ones are returned.

        Where rows end early, `out` holds their last state from there on; `clear` makes zeros of it.
        """
        self.begin(inputs)
        if not self.order:
            return hidden, state
        for t in self.order:
            new = self.step(t, hidden, state)
            if self.runs is not None:
                keep(self.runs[t], self.out[t], hidden)
                if new is not None:
                    keep(self.runs[t], new, state)
            hidden, state = self.out[t], new
        return hidden, state

    def with_rows(self, rows: slice) -> Self:
        """The same cell for some rows of the batch."""
        made = copy(self)
        for name in self.of_steps:
            array = getattr(self, name, None)
            if array is not None:
                setattr(made, name, array[:, rows])
        for name in self.of_rows:
            if hasattr(self, name):
                setattr(made, name, getattr(self, name)[rows])
        return made

    def clear(self) -> None:
        """Zero `out` where rows do not run."""
        if self.runs is not None:
            keep(self.runs, self.out, 0)

    def backward(self, ends: Ends) -> None:
        """Go through all steps from the last, after `begin_backward`."""
        out_grad, hidden, state, hidden_grad, state_grad = ends
        h2h = RightFactor(self.weights.h2h)
        grad = self.xp.empty(hidden_grad.shape, hidden_grad.dtype)
        for number in reversed(range(len(self.order))):
            t = self.order[number]
            before, state_before = self._before(number, hidden, state)
            runs = None if self.runs is None else self.runs[t]
            ended = None if runs is None else copies(hidden_grad, state_grad)
            np.add(hidden_grad, out_grad[t], out=grad)
            self.step_back(t, grad, before, state_grad, state_before)
            h2h.multiply(self.sums[t], hidden_grad)
            if self.passes_directly:
                np.add(hidden_grad, grad, out=hidden_grad)
            if ended is not None:
                keep(runs, self.sums[t], 0)
                for new, old in zip((hidden_grad, state_grad), ended, strict=True):
                    if new is not None:
                        keep(runs, new, old)

    def finish(self, hidden: Array, last: Last) -> None:
        """Write the gradients of the weights and of the inputs, those that are not None; overwrites `sums`.

        Args:
            hidden: The hidden state that forward began with.
        """
        inputs, grads, inputs_grad = last
        sums = self.sums
        if grads is not None:
            self._recurrent_grad(sums, hidden, grads.h2h)
            blocked_sum(flat(sums), 0, out=grads.h2h_bias)
            if grads.h2r is not None:
                self.projection_grad(grads.h2r)
        self.to_inputs(sums)
        if grads is not None:
            self.multiply(flat(sums).T, flat(inputs), grads.i2h)
            if type(self).to_inputs is Cell.to_inputs:  # the sums are those of before
                grads.i2h_bias[...] = grads.h2h_bias
            else:
                blocked_sum(flat(sums), 0, out=grads.i2h_bias)
        if inputs_grad is not None:
            self.multiply(flat(sums), self.weights.i2h, flat(inputs_grad))

    def _before(self, number: int, hidden: Array, state: Array | None) -> tuple[Array, Array | None]:
        """The hidden state and the cell state that the step with this number began with."""
        if number == 0:
            return hidden, state
        t = self.order[number - 1]
        before = self.out[t] if self.runs is None else np.where(self.runs[t], self.out[t], hidden)
        return before, None if state is None or self.inner is None else self.inner[t]

    def _recurrent_grad(self, sums: Array, hidden: Array, h2h_grad: Array) -> None:
        """The sum of `sums[t].T @ the hidden state before t` over all steps."""
        before = self.xp.empty_like(self.out)
        if self.is_reverse:
            before[-1:], later, earlier = hidden, slice(None, -1), slice(1, None)
        else:
            before[:1], later, earlier = hidden, slice(1, None), slice(None, -1)
        if self.runs is None:
            before[later] = self.out[earlier]
        else:  # in the other direction a row's first step begins with `hidden`, where `out` was zeroed
            before[later] = np.where(self.runs[earlier], self.out[earlier], hidden)
        self.multiply(flat(sums).T, flat(before), h2h_grad)
