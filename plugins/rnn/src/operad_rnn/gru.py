"""The GRU's cell."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from operad_rnn.arrays import flat
from operad_rnn.cell import Cell
from operad_rnn.scratch import Scratch
from operad_rnn.sigmoids import Gates
from operad_rnn.small_steps import LOOPS
from operad_sdk import Array
from operad_sdk.multiplication import RightFactor, multiply


class GRU(Cell):
    """`h' = (1 - z) n + z h` with `n = tanh(i2h x + i2h_bias + r (h2h h + h2h_bias))`.

    The gates `r` and `z` are sigmoids of `i2h x + i2h_bias + h2h h + h2h_bias`. The reset gate `r` is applied
    after the product with the hidden state, so that one product does for all three.
    """

    gate_count: ClassVar[int] = 3
    passes_directly: ClassVar[bool] = True
    of_steps: ClassVar[tuple[str, ...]] = (*Cell.of_steps, "_candidates")
    of_rows: ClassVar[tuple[str, ...]] = ("_product", "_work")

    def begin(self, inputs: Array) -> None:
        """Multiply the inputs into the gates' memory, and add their biases."""
        xp, (i2h, h2h, _, i2h_bias, h2h_bias) = self.xp, self.weights
        kinds = Gates(xp, (True, True, False), self.units, i2h.dtype)
        self._kinds = Gates(xp, (True, True), self.units, i2h.dtype)
        bias = kinds.halved(i2h_bias)
        multiply(flat(inputs), kinds.halved(i2h).T, flat(self.gates), bias, self.op_ctx)
        self._h2h, self._h2h_bias = RightFactor(kinds.halved(h2h).T, inputs.shape[1]), kinds.halved(h2h_bias)
        self._product = xp.empty((inputs.shape[1], len(h2h)), h2h.dtype)

    def step(self, t: int, hidden: Array, state: Array) -> None:
        """Two gates and a candidate, and from them the hidden state."""
        gates, product, inner, out = self.gates[t], self._product, self.inner[t], self.out[t]
        both, units = 2 * self.units, self.units
        self._h2h.multiply(hidden, product, self._h2h_bias)
        np.copyto(inner, product[:, both:])
        switches, candidate = gates[:, :both], gates[:, both:]
        np.add(switches, product[:, :both], out=switches)
        self._kinds.activate(switches)
        np.multiply(switches[:, :units], inner, out=product[:, both:])
        np.add(candidate, product[:, both:], out=candidate)
        np.tanh(candidate, out=candidate)
        work = product[:, :units]
        np.subtract(hidden, candidate, out=work)
        np.multiply(work, switches[:, units:], out=work)
        np.add(candidate, work, out=out)

    def begin_backward(self, scratch: Scratch) -> Array:
        """Scratch memory for the sums' gradients, and for the candidates' own."""
        steps, batch, width = self.gates.shape
        self._kinds = Gates(self.xp, (True, True), self.units, self.gates.dtype)
        self._sums = scratch.take(steps, batch, width)
        self._candidates = scratch.take(steps, batch, self.units)
        self._work = self.xp.empty((batch, 2 * self.units), self.gates.dtype)
        return self._sums

    def step_back(self, t: int, grad: Array, before: Array, state_grad: Array, state: Array) -> None:
        """The gradients of `h' = (1 - z) n + z h` and `n = tanh(a + r b)`.

        `dz = dh' (h - n)`, `da = dh' (1 - z) (1 - n^2)`, `db = da r` and `dr = da b`;
        `dh' z` goes to `h` directly.
        """
        gates, sums, inner, candidates = self.gates[t], self._sums[t], self.inner[t], self._candidates[t]
        units, both = self.units, 2 * self.units
        reset, update, candidate = gates[:, :units], gates[:, units:both], gates[:, both:]
        np.subtract(before, candidate, out=candidates)
        np.multiply(grad, candidates, out=sums[:, units:both])
        work = self._work[:, :units]
        np.multiply(candidate, candidate, out=work)
        np.subtract(1, work, out=work)
        np.multiply(grad, work, out=candidates)
        np.subtract(1, update, out=work)
        np.multiply(candidates, work, out=candidates)
        np.multiply(candidates, reset, out=sums[:, both:])
        np.multiply(candidates, inner, out=sums[:, :units])
        self._kinds.multiply_slope(gates[:, :both], self._work, sums[:, :both])
        np.multiply(grad, update, out=grad)

    def loop(self, inputs: Array, hidden: Array, state: Array | None) -> None:
        """Compute all steps in a compiled loop."""
        i2h, h2h, _, *biases = self.weights
        np.matmul(flat(inputs), i2h.T, out=flat(self.gates))
        weight = np.ascontiguousarray(h2h.T)
        LOOPS.gru_steps(self.gates, self.inner, self.out, weight, *biases, hidden, self.is_reverse)

    def loop_back(
        self,
        out_grad: Array,
        hidden: Array,
        state: Array | None,
        hidden_grad: Array,
        state_grad: Array | None,
    ) -> None:
        """Compute all steps back in a compiled loop."""
        LOOPS.gru_steps_back(
            self.gates,
            self.inner,
            self.out,
            out_grad,
            self._sums,
            self._candidates,
            self.weights.h2h,
            hidden,
            hidden_grad,
            self.is_reverse,
        )

    def to_inputs(self, sums: Array) -> None:
        """The candidate's sum has `db = da r` behind the reset gate, and `da` before it."""
        if self.runs is not None:
            np.multiply(self._candidates, self.runs, out=self._candidates)
        sums[:, :, 2 * self.units :] = self._candidates
