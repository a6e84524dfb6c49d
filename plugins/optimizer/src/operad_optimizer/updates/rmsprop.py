"""`rmsprop_update` and `rmspropalex_update`: steps divided by the root of the average squared gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from operad_optimizer.updates.moving import move_average, move_square_average
from operad_optimizer.updates.references import rmsprop
from operad_optimizer.updates.training import step_contract
from operad_optimizer.updates.update import Update, update_spec
from operad_sdk import Array, OpContext, Output, operator, param


class _RmsProp(Update):
    gamma1 = param(float, 0.95, doc="How much of the averages is kept.")
    epsilon = param(float, 1e-8, doc="Added under the root.")
    clip_weights = param(float, -1.0, doc="Bound of each element of the new weight; not above 0: none.")

    def clip_weight(self, weight: Array) -> None:
        """Keep the new weight within its bounds."""
        if self.clip_weights > 0:
            np.clip(weight, -self.clip_weights, self.clip_weights, out=weight)


@operator("rmsprop_update")
class RmsPropUpdate(_RmsProp):
    """`weight - lr * grad / sqrt(n + epsilon)`, where `n` is the average squared gradient.

    Shapes:
        weight: (...)
        grad: (...)
        n: auxiliary state, (...)
        output: (...)

    Example:
        >>> import operad as od
        >>> w, g, n = od.nd.array([1]), od.nd.array([2]), od.nd.array([0])
        >>> od.nd.rmsprop_update(w, g, n, lr=0.1, gamma1=0.75).asnumpy()
        array([0.8], dtype=float32)

    Source: RMSPropUpdateKernel, src/operator/optimizer_op-inl.h.
    """

    spec = update_spec("n")
    contract = step_contract("n", reference=rmsprop)

    def forward(
        self, op_ctx: OpContext, weight: Array, grad: Array, rate: Array | None, n: Array, output: Output
    ) -> None:
        """Block by block."""
        self.run(op_ctx, rate, (weight, grad, n), output)

    def step(
        self, lr: Any, weight: Array, grad: Array, n: Array, out: Array, step: Array, scratch: Array
    ) -> None:
        """The average, then the step."""
        self.decayed(weight, grad, step, scratch)
        move_square_average(n, self.gamma1, step, scratch)
        np.add(n, self.epsilon, out=scratch)
        np.sqrt(scratch, out=scratch)
        np.divide(step, scratch, out=step)
        np.multiply(step, lr, out=step)
        np.subtract(weight, step, out=out)
        self.clip_weight(out)


@operator("rmspropalex_update")
class RmsPropAlexUpdate(_RmsProp):
    """`weight + delta`, with momentum and the gradient's variance in place of its square.

    Shapes:
        weight: (...)
        grad: (...)
        n: auxiliary state, (...), the average squared gradient
        g: auxiliary state, (...), the average gradient
        delta: auxiliary state, (...), the last step
        output: (...)

    Example:
        >>> import operad as od
        >>> w, grad = od.nd.array([1]), od.nd.array([2])
        >>> n, g, delta = od.nd.array([0]), od.nd.array([0]), od.nd.array([0])
        >>> od.nd.rmspropalex_update(w, grad, n, g, delta, lr=0.1, gamma1=0.5).asnumpy()
        array([0.8], dtype=float32)

    Source: RMSPropAlexUpdateKernel, src/operator/optimizer_op-inl.h, after Graves, "Generating
    sequences with recurrent neural networks", 2013, equations 38 to 45.
    """

    gamma2 = param(float, 0.9, doc="How much of the last step is kept.")
    spec = update_spec("n", "g", "delta")
    contract = step_contract("n", "g", "delta")

    def forward(
        self,
        op_ctx: OpContext,
        weight: Array,
        grad: Array,
        rate: Array | None,
        n: Array,
        g: Array,
        delta: Array,
        output: Output,
    ) -> None:
        """Block by block."""
        self.run(op_ctx, rate, (weight, grad, n, g, delta), output)

    def step(
        self,
        lr: Any,
        weight: Array,
        grad: Array,
        n: Array,
        g: Array,
        delta: Array,
        out: Array,
        step: Array,
        scratch: Array,
    ) -> None:
        """Both averages, then the step."""
        self.decayed(weight, grad, step, scratch)
        move_square_average(n, self.gamma1, step, scratch)
        move_average(g, self.gamma1, step, scratch)
        np.multiply(step, lr, out=step)
        np.square(g, out=scratch)
        np.subtract(n, scratch, out=scratch)
        np.add(scratch, self.epsilon, out=scratch)
        np.sqrt(scratch, out=scratch)
        np.divide(step, scratch, out=step)
        np.multiply(delta, self.gamma2, out=delta)
        np.subtract(delta, step, out=delta)
        np.add(weight, delta, out=out)
        self.clip_weight(out)
