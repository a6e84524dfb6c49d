"""`adam_update`: steps of a size that the gradient's own moving averages set."""

from __future__ import annotations

from typing import Any

import numpy as np

from operad_optimizer.updates.moving import move_average, move_square_average
from operad_optimizer.updates.references import adam
from operad_optimizer.updates.training import step_contract
from operad_optimizer.updates.update import Update, update_spec
from operad_sdk import Array, OpContext, Output, operator, param


@operator("adam_update")
class AdamUpdate(Update):
    """`weight - lr * mean / (sqrt(var) + epsilon)`, with averages of the gradient and its square.

    Weight decay is added to the gradient before it is clipped. The averages' bias towards 0 is the
    caller's to correct, in `lr`; the class `Adam` does.

    Shapes:
        weight: (...)
        grad: (...)
        mean: auxiliary state, (...)
        var: auxiliary state, (...)
        output: (...)

    Example:
        >>> import operad as od
        >>> w, g, mean, var = od.nd.array([1]), od.nd.array([2]), od.nd.array([0]), od.nd.array([0])
        >>> od.nd.adam_update(w, g, mean, var, lr=0.1, beta1=0.5, beta2=0.75).asnumpy()
        array([0.9], dtype=float32)

    Source: AdamUpdateKernel, src/operator/optimizer_op-inl.h.
    """

    beta1 = param(float, 0.9, doc="How much of the average gradient is kept.")
    beta2 = param(float, 0.999, doc="How much of the average squared gradient is kept.")
    epsilon = param(float, 1e-8, doc="Added to the denominator.")
    lazy_update = param(bool, True, doc="Accepted for MXNet's calls; arrays are never sparse.")
    spec = update_spec("mean", "var")
    contract = step_contract("mean", "var", reference=adam)

    def forward(
        self,
        op_ctx: OpContext,
        weight: Array,
        grad: Array,
        rate: Array | None,
        mean: Array,
        var: Array,
        output: Output,
    ) -> None:
        """Block by block."""
        self.run(op_ctx, rate, (weight, grad, mean, var), output)

    def step(
        self,
        lr: Any,
        weight: Array,
        grad: Array,
        mean: Array,
        var: Array,
        out: Array,
        step: Array,
        scratch: Array,
    ) -> None:
        """Both averages, then the step."""
        self.decayed(weight, grad, step, scratch)
        move_average(mean, self.beta1, step, scratch)
        move_square_average(var, self.beta2, step, scratch)
        np.sqrt(var, out=step)
        np.add(step, self.epsilon, out=step)
        np.divide(mean, step, out=step)
        np.multiply(step, lr, out=step)
        np.subtract(weight, step, out=out)
