"""`ftrl_update` and `ftml_update`: following the regularised, or the moving, leader."""

from __future__ import annotations

from typing import Any

import numpy as np

from operad_optimizer.updates.moving import move_average, move_square_average
from operad_optimizer.updates.training import step_contract
from operad_optimizer.updates.update import Update, update_spec
from operad_sdk import Array, OpContext, Output, operator, param
from operad_sdk.domains import positive


@operator("ftrl_update")
class FtrlUpdate(Update):
    """The weight that would have been best so far, regularised so that many become exactly 0.

    Shapes:
        weight: (...)
        grad: (...)
        z: auxiliary state, (...), the gradients' sum less what the weight has taken up
        n: auxiliary state, (...), the squared gradients' sum
        output: (...)

    Example:
        >>> import operad as od
        >>> w, g, z, n = od.nd.array([1]), od.nd.array([2]), od.nd.array([0]), od.nd.array([0])
        >>> od.nd.ftrl_update(w, g, z, n, lr=0.5, lamda1=1).asnumpy().round(4)
        array([0.1667], dtype=float32)

    Source: FtrlUpdateKernel, src/operator/optimizer_op-inl.h, after McMahan et al., "Ad click
    prediction: a view from the trenches", 2013, algorithm 1.
    """

    lr = param(float, None, gt=0, doc="Learning rate; left out: the array `rate`.")
    lamda1 = param(float, 0.01, doc="Weight of the L1 norm.")
    beta = param(float, 1.0, doc="Added to the root of `n`.")
    spec = update_spec("z", "n")
    contract = step_contract("z", "n", inputs={"rate": positive()})

    def forward(
        self,
        op_ctx: OpContext,
        weight: Array,
        grad: Array,
        rate: Array | None,
        z: Array,
        n: Array,
        output: Output,
    ) -> None:
        """Block by block."""
        self.run(op_ctx, rate, (weight, grad, z, n), output)

    def step(
        self,
        lr: Any,
        weight: Array,
        grad: Array,
        z: Array,
        n: Array,
        out: Array,
        step: Array,
        scratch: Array,
    ) -> None:
        """Both sums, then the weight from them."""
        self.rescaled(grad, step)
        np.add(z, step, out=z)
        np.square(step, out=step)
        np.sqrt(n, out=scratch)
        np.add(n, step, out=n)
        np.sqrt(n, out=step)
        np.subtract(step, scratch, out=scratch)
        np.multiply(scratch, weight, out=scratch)
        np.divide(scratch, lr, out=scratch)
        np.subtract(z, scratch, out=z)
        np.add(step, self.beta, out=step)
        np.divide(step, lr, out=step)
        np.add(step, self.wd, out=step)
        np.clip(z, -self.lamda1, self.lamda1, out=scratch)
        np.subtract(scratch, z, out=scratch)  # 0 where |z| is not above lamda1
        np.divide(scratch, step, out=out)


@operator("ftml_update")
class FtmlUpdate(Update):
    """The minimum of a moving average of the losses' approximations.

    Weight decay is added to the gradient before it is clipped.

    Shapes:
        weight: (...)
        grad: (...)
        d: auxiliary state, (...), the curvature
        v: auxiliary state, (...), the average squared gradient
        z: auxiliary state, (...), the average gradient less what the weight has taken up
        output: (...)

    Example:
        >>> import operad as od
        >>> w, g = od.nd.array([1]), od.nd.array([2])
        >>> d, v, z = od.nd.array([0]), od.nd.array([0]), od.nd.array([0])
        >>> od.nd.ftml_update(w, g, d, v, z, lr=0.1, t=1).asnumpy().round(4)
        array([0.9], dtype=float32)

    Source: FTMLKernel, src/operator/optimizer_op-inl.h, after Zheng and Kwok, "Follow the moving
    leader in deep learning", 2017, algorithm 1.
    """

    lr = param(float, None, gt=0, doc="Learning rate; left out: the array `rate`.")
    clip_gradient = param(float, -1.0, doc="Another name of `clip_grad`.")
    clip_grad = param(float, -1.0, doc="Bound of each element of the rescaled gradient; below 0: none.")
    beta1 = param(float, 0.6, doc="How much of the average gradient is kept.")
    beta2 = param(float, 0.999, doc="How much of the average squared gradient is kept.")
    epsilon = param(float, 1e-8, doc="Added to the root.")
    t = param(int, ge=1, doc="Number of this update.")
    spec = update_spec("d", "v", "z")
    contract = step_contract("d", "v", "z", inputs={"rate": positive()})

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        if self.clip_grad >= 0:
            self.clip_gradient = self.clip_grad

    def forward(
        self,
        op_ctx: OpContext,
        weight: Array,
        grad: Array,
        rate: Array | None,
        d: Array,
        v: Array,
        z: Array,
        output: Output,
    ) -> None:
        """Block by block."""
        self.run(op_ctx, rate, (weight, grad, d, v, z), output)

    def step(
        self,
        lr: Any,
        weight: Array,
        grad: Array,
        d: Array,
        v: Array,
        z: Array,
        out: Array,
        step: Array,
        scratch: Array,
    ) -> None:
        """The curvature, the averages, then the weight from them."""
        self.decayed(weight, grad, step, scratch)
        move_square_average(v, self.beta2, step, scratch)
        move_average(z, self.beta1, step, step)
        np.divide(v, 1 - self.beta2**self.t, out=step)
        np.sqrt(step, out=step)
        np.add(step, self.epsilon, out=step)
        np.multiply(step, (1 - self.beta1**self.t) / lr, out=step)
        np.multiply(d, -self.beta1, out=scratch)
        np.add(scratch, step, out=scratch)
        np.multiply(scratch, weight, out=scratch)
        np.subtract(z, scratch, out=z)
        np.copyto(d, step)
        np.divide(z, d, out=step)
        np.negative(step, out=out)
