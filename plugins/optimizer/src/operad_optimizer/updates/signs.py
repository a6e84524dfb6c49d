"""`signsgd_update` and `signum_update`: steps of the gradient's sign alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from operad_optimizer.updates.references import sign_sgd, signum
from operad_optimizer.updates.training import step_contract
from operad_optimizer.updates.update import Update, update_spec
from operad_sdk import Array, OpContext, Output, operator, param


@operator("signsgd_update")
class SignSgdUpdate(Update):
    """`(1 - lr * wd) * weight - lr * sign(grad)`.

    Shapes:
        weight: (...)
        grad: (...)
        output: (...)

    Example:
        >>> import operad as od
        >>> w, g = od.nd.array([1, 2]), od.nd.array([10, -10])
        >>> od.nd.signsgd_update(w, g, lr=0.5).asnumpy()
        array([0.5, 2.5], dtype=float32)

    Source: SignSGDKernel, src/operator/optimizer_op-inl.h.
    """

    spec = update_spec()
    contract = step_contract(reference=sign_sgd)

    def forward(
        self, op_ctx: OpContext, weight: Array, grad: Array, rate: Array | None, output: Output
    ) -> None:
        """Block by block."""
        self.run(op_ctx, rate, (weight, grad), output)

    def step(self, lr: Any, weight: Array, grad: Array, out: Array, step: Array, kept: Array) -> None:
        """Neither rescaling nor clipping changes a sign."""
        np.sign(grad, out=step)
        np.multiply(step, lr, out=step)
        np.multiply(weight, 1 - lr * self.wd, out=kept)
        np.subtract(kept, step, out=out)


@operator("signum_update")
class SignumUpdate(Update):
    """`(1 - lr * wd_lh) * weight + lr * sign(mom)`, where `mom` is the negative average gradient.

    Shapes:
        weight: (...)
        grad: (...)
        mom: auxiliary state, (...)
        output: (...)

    Example:
        >>> import operad as od
        >>> w, g, mom = od.nd.array([1, 2]), od.nd.array([10, -10]), od.nd.array([0, 0])
        >>> od.nd.signum_update(w, g, mom, lr=0.5, momentum=0.9).asnumpy()
        array([0.5, 2.5], dtype=float32)

    Source: SignumKernel, src/operator/optimizer_op-inl.h.
    """

    momentum = param(float, 0.0, doc="How much of the average is kept.")
    wd_lh = param(float, 0.0, doc="Weight decay outside the sign, after Loshchilov and Hutter.")
    spec = update_spec("mom")
    contract = step_contract("mom", reference=signum)

    def forward(
        self, op_ctx: OpContext, weight: Array, grad: Array, rate: Array | None, mom: Array, output: Output
    ) -> None:
        """Block by block."""
        self.run(op_ctx, rate, (weight, grad, mom), output)

    def step(
        self, lr: Any, weight: Array, grad: Array, mom: Array, out: Array, step: Array, scratch: Array
    ) -> None:
        """The average of gradient and decay, then its sign."""
        self.rescaled(grad, step)
        self.decay(weight, step, scratch)
        np.multiply(step, 1 - self.momentum, out=step)
        np.multiply(mom, self.momentum, out=mom)
        np.subtract(mom, step, out=mom)
        np.sign(mom, out=step)
        np.multiply(step, lr, out=step)
        np.multiply(weight, 1 - lr * self.wd_lh, out=scratch)
        np.add(scratch, step, out=out)
