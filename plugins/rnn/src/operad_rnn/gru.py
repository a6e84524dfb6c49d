"""The GRU's cell."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, ClassVar

import numpy as np

from operad.operator import ScalarForm
from operad_rnn.arrays import flat
from operad_rnn.cell import Cell
from operad_rnn.scratch import Scratch
from operad_rnn.setup import Setup
from operad_rnn.sigmoids import Gates, sigmoid
from operad_rnn.vector_steps import Back, Order
from operad_sdk import Array
from operad_sdk.differentiate import elements_form
from operad_sdk.multiplication import RightFactor
from operad_sdk.vector import StepArray, StepCall, form_call, product_call


@cache
def _forms() -> tuple[ScalarForm, ScalarForm]:
    """Forms of a step, which reads both products, and of a step back."""

    def step(r: Any, z: Any, n: Any, of_r: Any, of_z: Any, of_n: Any, hidden: Any) -> tuple[Any, ...]:
        r, z = sigmoid(r + of_r), sigmoid(z + of_z)
        n = np.tanh(n + r * of_n)
        return r, z, n, of_n * 1, n + z * (hidden - n)

    def step_back(
        grad: Any, out_grad: Any, r: Any, z: Any, n: Any, inner: Any, hidden: Any
    ) -> tuple[Any, ...]:
        grad = grad + out_grad
        candidate = grad * (1 - n * n) * (1 - z)
        return (
            candidate * inner * r * (1 - r),
            grad * (hidden - n) * z * (1 - z),
            candidate * r,
            candidate,
            grad * z,
        )

    return elements_form(step), elements_form(step_back)


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
        self.multiply(flat(inputs), kinds.halved(i2h).T, flat(self.gates), bias)
        self._h2h = RightFactor(kinds.halved(h2h).T)
        self._h2h_bias = kinds.halved(h2h_bias)
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

    def begin_backward(self, scratch: Scratch) -> None:
        """Scratch memory for the sums' gradients, and for the candidates' own."""
        self.sums, self._candidates = scratch.take(*self.gates.shape), scratch.take(*self.inner.shape)
        if not self.in_vectors:
            self._kinds = Gates(self.xp, (True, True), self.units, self.gates.dtype)
            self._work = self.xp.empty((self.gates.shape[1], 2 * self.units), self.gates.dtype)

    def step_back(self, t: int, grad: Array, before: Array, state_grad: Array, state: Array) -> None:
        """The gradients of `h' = (1 - z) n + z h` and `n = tanh(a + r b)`.

        `dz = dh' (h - n)`, `da = dh' (1 - z) (1 - n^2)`, `db = da r` and `dr = da b`;
        `dh' z` goes to `h` directly.
        """
        gates, sums, inner, candidates = self.gates[t], self.sums[t], self.inner[t], self._candidates[t]
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

    def prepare(self, inputs: Array, setup: Setup) -> None:
        """Multiply the inputs into the gates' memory, and add their biases."""
        i2h, h2h, _, i2h_bias, _ = self.weights
        setup.product(inputs, i2h, self.gates, i2h_bias)
        self.packed = setup.pack(h2h.T)
        self._product = setup.empty(self.gates.shape[1:], h2h.dtype)

    def calls(self, order: Order, hidden: Array, state: Array | None) -> list[StepCall]:
        """A product and a form."""
        gates, inner, out = (StepArray.of(array, order) for array in (self.gates, self.inner, self.out))
        before, product = StepArray.before(hidden, self.out, order), StepArray.same(self._product, order)
        parts = gates.split(3)
        return [
            product_call(before, self.packed, product, self.weights.h2h_bias),
            form_call(_forms()[0], [*parts, *product.split(3), before], [*parts, inner, out]),
        ]

    def calls_back(self, order: Order, back: Back) -> list[StepCall]:
        """A form and a product."""
        sums, grad = StepArray.of(self.sums, order), StepArray.same(back.ends.hidden_grad, order)
        inner, candidates = (StepArray.of(array, order) for array in (self.inner, self._candidates))
        before = StepArray.before(back.ends.hidden, back.before, order[::-1]).backwards()
        read = [grad, StepArray.of(back.ends.out_grad, order), *StepArray.of(self.gates, order).split(3)]
        return [
            form_call(_forms()[1], [*read, inner, before], [*sums.split(3), candidates, grad]),
            product_call(sums, back.h2h, grad, adds=True),
        ]

    def input_sums(self) -> Sequence[Array]:
        """Those of the two gates, and the candidate's own."""
        return [self.sums[:, :, : 2 * self.units], self._candidates]

    def of_runs(self) -> Sequence[Array]:
        """The candidates' too."""
        return [self.sums, self._candidates]

    def to_inputs(self, sums: Array) -> None:
        """The candidate's sum has `db = da r` behind the reset gate, and `da` before it."""
        if self.runs is not None:
            np.multiply(self._candidates, self.runs, out=self._candidates)
        sums[:, :, 2 * self.units :] = self._candidates
