"""The cells of one activation."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

import numpy as np

from operad.operator import ScalarForm
from operad_rnn.arrays import flat
from operad_rnn.cell import Cell
from operad_rnn.scratch import Scratch
from operad_rnn.setup import Setup
from operad_rnn.vector_steps import Back, Order
from operad_sdk import Array
from operad_sdk.differentiate import elements_form
from operad_sdk.multiplication import RightFactor
from operad_sdk.vector import StepArray, StepCall, form_call, product_call


@cache
def _forms(is_tanh: bool) -> tuple[ScalarForm, ScalarForm]:
    """Forms of a step, which reads the sum, and of a step back."""

    def step(sums: Any) -> tuple[Any, ...]:
        return (np.tanh(sums) if is_tanh else np.maximum(sums, 0),)

    def step_back(grad: Any, out_grad: Any, hidden: Any) -> tuple[Any, ...]:
        return ((grad + out_grad) * (1 - hidden * hidden if is_tanh else hidden > 0),)

    return elements_form(step), elements_form(step_back)


class _Plain(Cell):
    """`h' = f(i2h x + i2h_bias + h2h h + h2h_bias)`; the hidden states are all that backward needs."""

    gate_count: ClassVar[int] = 1
    is_tanh: ClassVar[bool]

    def begin(self, inputs: Array) -> None:
        """Multiply the inputs into the hidden states' memory, and add the biases."""
        i2h, h2h, _, i2h_bias, h2h_bias = self.weights
        self.multiply(flat(inputs), i2h.T, flat(self.out), i2h_bias + h2h_bias)
        self._h2h = RightFactor(h2h.T)

    def step(self, t: int, hidden: Array, state: Array) -> None:
        """One sum and its activation."""
        out = self.out[t]
        self._h2h.multiply(hidden, out, adds=True)
        np.tanh(out, out=out) if self.is_tanh else np.maximum(out, 0, out=out)

    def begin_backward(self, scratch: Scratch) -> None:
        """Scratch memory for the sums' gradients."""
        self.sums = scratch.take(*self.out.shape)

    def step_back(self, t: int, grad: Array, before: Array, state_grad: Array, state: Array) -> None:
        """`dh' f'`, where `f'` is found from `h'`: `1 - h'^2`, or 1 where `h' > 0`."""
        out, sums = self.out[t], self.sums[t]
        if self.is_tanh:
            np.multiply(out, out, out=sums)
            np.subtract(1, sums, out=sums)
            np.multiply(grad, sums, out=sums)
        else:
            np.multiply(grad, out > 0, out=sums)

    def prepare(self, inputs: Array, setup: Setup) -> None:
        """Multiply the inputs into the hidden states' memory, and add the biases."""
        i2h, h2h, _, *biases = self.weights
        setup.product(inputs, i2h, self.out, *biases)
        self.packed = setup.pack(h2h.T)

    def calls(self, order: Order, hidden: Array, state: Array | None) -> list[StepCall]:
        """A product and a form."""
        before, out = StepArray.before(hidden, self.out, order), StepArray.of(self.out, order)
        form = _forms(self.is_tanh)[0]
        return [product_call(before, self.packed, out, adds=True), form_call(form, [out], [out])]

    def calls_back(self, order: Order, back: Back) -> list[StepCall]:
        """A form and a product."""
        sums, grad = StepArray.of(self.sums, order), StepArray.same(back.ends.hidden_grad, order)
        read = [grad, StepArray.of(back.ends.out_grad, order), StepArray.of(self.out, order)]
        return [form_call(_forms(self.is_tanh)[1], read, [sums]), product_call(sums, back.h2h, grad)]


class Tanh(_Plain):
    """`h' = tanh(...)`."""

    is_tanh: ClassVar[bool] = True


class Relu(_Plain):
    """`h' = max(..., 0)`."""

    is_tanh: ClassVar[bool] = False
