"""The LSTM's cell."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

import numpy as np

from operad.operator import ScalarForm
from operad_rnn.arrays import Bounds, flat
from operad_rnn.cell import Cell
from operad_rnn.scratch import Scratch
from operad_rnn.setup import Setup
from operad_rnn.sigmoids import Gates, sigmoid
from operad_rnn.vector_steps import Back, Order
from operad_sdk import Array
from operad_sdk.differentiate import elements_form
from operad_sdk.multiplication import RightFactor
from operad_sdk.vector import PackedMatrix, StepArray, StepCall, form_call, product_call


@cache
def _forms(bounds: Bounds | None) -> tuple[ScalarForm, ScalarForm, ScalarForm]:
    """Forms of a step, which reads sums of gates, and of a step back, of one gradient or a sum of two."""

    def step(i: Any, f: Any, g: Any, o: Any, state: Any) -> tuple[Any, ...]:
        i, f, g, o = sigmoid(i), sigmoid(f), np.tanh(g), sigmoid(o)
        new = f * state + i * g
        if bounds is not None:
            new = np.minimum(np.maximum(new, bounds.lower), bounds.upper)
            new = np.where(new != new, bounds.lower, new) if bounds.stops_nan else new  # noqa: PLR0124
        return i, f, g, o, new, o * np.tanh(new)

    def step_back(
        grad: Any, i: Any, f: Any, g: Any, o: Any, new: Any, state: Any, state_grad: Any
    ) -> tuple[Any, ...]:
        curved = np.tanh(new)
        state_grad = state_grad + (1 - curved * curved) * (grad * o)
        if bounds is not None:
            state_grad = state_grad * np.logical_and(new > bounds.lower, new < bounds.upper)
        return (
            state_grad * g * i * (1 - i),
            state_grad * state * f * (1 - f),
            state_grad * i * (1 + g) * (1 - g),
            grad * curved * o * (1 - o),
            state_grad * f,
        )

    def of_sum(
        grad: Any, out_grad: Any, i: Any, f: Any, g: Any, o: Any, new: Any, state: Any, state_grad: Any
    ) -> tuple[Any, ...]:
        return step_back(grad + out_grad, i, f, g, o, new, state, state_grad)

    return elements_form(step), elements_form(step_back), elements_form(of_sum)


@cache
def _sum() -> ScalarForm:
    def add(one: Any, other: Any) -> tuple[Any]:
        return (one + other,)

    return elements_form(add)


class LSTM(Cell):
    """`c' = f c + i g`, `h' = o tanh(c')`, or a projection of that.

    `i`, `f` and `o` are sigmoids, and `g` is a `tanh`, of `i2h x + i2h_bias + h2h h + h2h_bias`.
    """

    gate_count: ClassVar[int] = 4
    of_steps: ClassVar[tuple[str, ...]] = (*Cell.of_steps, "_parts", "_projected")
    of_rows: ClassVar[tuple[str, ...]] = ("_work", "_other", "_product")

    _projection: PackedMatrix | None

    def begin(self, inputs: Array) -> None:
        """Multiply the inputs into the gates' memory, and add the biases."""
        xp, (i2h, h2h, _, i2h_bias, h2h_bias) = self.xp, self.weights
        dtype, batch = i2h.dtype, inputs.shape[1]
        self._kinds = Gates(xp, (True, True, False, True), self.units, dtype)
        bias = self._kinds.halved(i2h_bias + h2h_bias)
        self.multiply(flat(inputs), self._kinds.halved(i2h).T, flat(self.gates), bias)
        self._h2h = RightFactor(self._kinds.halved(h2h).T)
        self._work = xp.empty((batch, self.units), dtype)
        self._parts = self.gates.reshape(*self.gates.shape[:2], 4, self.units)

    def step(self, t: int, hidden: Array, state: Array) -> Array:
        """Four gates, and from them both states."""
        gates, work, new = self.gates[t], self._work, self.inner[t]
        self._h2h.multiply(hidden, gates, adds=True)
        self._kinds.activate(gates)
        parts = self._parts[t]
        np.multiply(parts[:, 1], state, out=new)
        np.multiply(parts[:, 0], parts[:, 2], out=work)
        np.add(new, work, out=new)
        if self.bounds is not None:
            self._clip(new)
        np.tanh(new, out=work)
        if self.weights.h2r is None:
            np.multiply(parts[:, 3], work, out=self.out[t])
        else:
            np.multiply(parts[:, 3], work, out=work)
            np.matmul(work, self.weights.h2r.T, out=self.out[t])
        return new

    def begin_backward(self, scratch: Scratch) -> None:
        """Scratch memory for the sums' gradients, and for those of projected states."""
        steps, batch, width = self.gates.shape
        dtype = self.gates.dtype
        self._parts = self.gates.reshape(steps, batch, 4, self.units)
        self.sums = scratch.take(*self.gates.shape)
        self._projected = None if self.weights.h2r is None else scratch.take(*self.out.shape)
        if not self.in_vectors:
            self._kinds = Gates(self.xp, (True, True, False, True), self.units, dtype)
            self._product = self.xp.empty((batch, width), dtype)
            self._work, self._other = (self.xp.empty((batch, self.units), dtype) for _ in range(2))

    def step_back(self, t: int, grad: Array, before: Array, state_grad: Array, state: Array) -> None:
        """The gradients of `c' = f c + i g` and `h' = o tanh(c')`.

        `dc' += dh' o (1 - tanh(c')^2)`, `do = dh' tanh(c')`, `di = dc' g`, `df = dc' c`, `dg = dc' i`, and
        `dc = dc' f`, where `dc'` is 0 if `c'` was clipped.
        """
        if self._projected is not None:
            self._projected[t] = grad
            grad = np.matmul(grad, self.weights.h2r)
        parts, sums, new = self._parts[t], self.sums[t].reshape(self._parts[t].shape), self.inner[t]
        work, other = self._work, self._other
        np.tanh(new, out=work)
        np.multiply(grad, work, out=sums[:, 3])
        np.multiply(work, work, out=work)
        np.subtract(1, work, out=work)
        np.multiply(grad, parts[:, 3], out=other)
        np.multiply(work, other, out=work)
        np.add(state_grad, work, out=state_grad)
        if self.bounds is not None:
            lower, upper, _ = self.bounds
            np.multiply(state_grad, np.logical_and(new > lower, new < upper), out=state_grad)
        np.multiply(state_grad, parts[:, 2], out=sums[:, 0])
        np.multiply(state_grad, state, out=sums[:, 1])
        np.multiply(state_grad, parts[:, 0], out=sums[:, 2])
        np.multiply(state_grad, parts[:, 1], out=state_grad)
        self._kinds.multiply_slope(self.gates[t], self._product, sums.reshape(self._product.shape))

    def prepare(self, inputs: Array, setup: Setup) -> None:
        """Multiply the inputs into the gates' memory, and add the biases."""
        i2h, h2h, h2r, *biases = self.weights
        setup.product(inputs, i2h, self.gates, *biases)
        self.packed = setup.pack(h2h.T)
        self._take_projection(None if h2r is None else h2r.T, setup)

    def _take_projection(self, matrix: Array | None, setup: Setup) -> None:
        self._projection = None if matrix is None else setup.pack(matrix)
        if matrix is not None:
            self._work = setup.empty(self.inner.shape[1:], matrix.dtype)

    def calls(self, order: Order, hidden: Array, state: Array | None) -> list[StepCall]:
        """A product and a form, and another product that projects."""
        assert state is not None
        gates, before = StepArray.of(self.gates, order), StepArray.before(hidden, self.out, order)
        states = StepArray.of(self.inner, order), StepArray.before(state, self.inner, order)
        parts, out = gates.split(4), StepArray.of(self.out, order)
        made = out if self._projection is None else StepArray.same(self._work, order)
        found = [
            product_call(before, self.packed, gates, adds=True),
            form_call(_forms(self.bounds)[0], [*parts, states[1]], [*parts, states[0], made]),
        ]
        return found if self._projection is None else [*found, product_call(made, self._projection, out)]

    def prepare_back(self, setup: Setup) -> None:
        """Pack the projection's matrix."""
        self._take_projection(self.weights.h2r, setup)

    def calls_back(self, order: Order, back: Back) -> list[StepCall]:
        """A form and a product; and before them what leads back through the projection."""
        sums, parts = StepArray.of(self.sums, order), StepArray.of(self.gates, order).split(4)
        out_grad, _, state, *ends = back.ends
        before = StepArray.before(state, self.inner, order[::-1]).backwards()
        grad, state_grad = (StepArray.same(each, order) for each in ends)
        grads = [grad, StepArray.of(out_grad, order)]
        _, of_one, of_sum = _forms(self.bounds)
        found, form = [], of_sum
        if self._projection is not None:
            assert self._projected is not None
            projected, made = StepArray.of(self._projected, order), StepArray.same(self._work, order)
            found = [form_call(_sum(), grads, [projected]), product_call(projected, self._projection, made)]
            grads, form = [made], of_one
        read = [*grads, *parts, StepArray.of(self.inner, order), before, state_grad]
        return [
            *found,
            form_call(form, read, [*sums.split(4), state_grad]),
            product_call(sums, back.h2h, grad),
        ]

    def projection_grad(self, h2r_grad: Array) -> None:
        """The sum of `dh'.T @ (o tanh(c'))` over all steps."""
        assert self._projected is not None
        if self.runs is not None:
            np.multiply(self._projected, self.runs, out=self._projected)
        unprojected = np.tanh(self.inner)
        np.multiply(unprojected, self._parts[:, :, 3], out=unprojected)
        self.multiply(flat(self._projected).T, flat(unprojected), h2r_grad)

    def _clip(self, states: Array) -> None:
        assert self.bounds is not None
        lower, upper, stops_nan = self.bounds
        np.maximum(states, lower, out=states)
        np.minimum(states, upper, out=states)
        if stops_nan:
            states[...] = np.where(np.isnan(states), lower, states)
