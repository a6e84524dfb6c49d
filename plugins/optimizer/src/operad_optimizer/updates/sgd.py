"""Stochastic gradient descent: plain, with momentum, with Nesterov's, and their mixed precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from operad_optimizer.updates.references import momentum_step, nesterov_step, sgd
from operad_optimizer.updates.training import step_contract
from operad_optimizer.updates.update import Update, mixed_spec, update_spec
from operad_sdk import Array, OpContext, Output, operator, param


class _Sgd(Update):
    lazy_update = param(bool, True, doc="Accepted for MXNet's calls; arrays are never sparse.")

    def step(self, lr: Any, weight: Array, grad: Array, out: Array, step: Array, kept: Array) -> None:
        """`(1 - lr * wd) * weight - lr * grad`."""
        self.rescaled(grad, step, lr)
        if self.wd:
            np.multiply(weight, 1 - lr * self.wd, out=kept)
            weight = kept
        np.subtract(weight, step, out=out)


@operator("sgd_update")
class SgdUpdate(_Sgd):
    """`weight - lr * (grad + wd * weight)`, where grad is rescaled and clipped first.

    Shapes:
        weight: (...)
        grad: (...)
        output: (...)

    Example:
        >>> import operad as od
        >>> w, g = od.nd.array([1, 2]), od.nd.array([10, -10])
        >>> od.nd.sgd_update(w, g, lr=0.1, out=w).asnumpy()
        array([0., 3.], dtype=float32)

    Source: SGDKernel, src/operator/optimizer_op-inl.h.
    """

    spec = update_spec()
    contract = step_contract(reference=sgd)

    def forward(
        self, op_ctx: OpContext, weight: Array, grad: Array, rate: Array | None, output: Output
    ) -> None:
        """Block by block."""
        self.run(op_ctx, rate, (weight, grad), output)


@operator("mp_sgd_update")
class MpSgdUpdate(_Sgd):
    """`sgd_update` of a half-precision weight through its single-precision copy.

    Shapes:
        weight: (...)
        grad: (...)
        weight32: auxiliary state, float32 (...)
        output: (...)

    Example:
        >>> import operad as od
        >>> w32 = od.nd.array([1, 2])
        >>> w, g = w32.astype("float16"), od.nd.array([10, -10]).astype("float16")
        >>> od.nd.mp_sgd_update(w, g, w32, lr=0.1, out=w).asnumpy()
        array([0., 3.], dtype=float16)

    Source: MP_SGDKernel, src/operator/optimizer_op-inl.h.
    """

    spec = mixed_spec()
    contract = step_contract("weight32", reference=sgd)

    def forward(
        self,
        op_ctx: OpContext,
        weight: Array,
        grad: Array,
        rate: Array | None,
        weight32: Array,
        output: Output,
    ) -> None:
        """Block by block, on the copy."""
        self.run_mixed(op_ctx, rate, (weight32, grad), output)


class _SgdMomentum(Update):
    momentum = param(float, 0.0, doc="How much of the last step is kept.")
    lazy_update = param(bool, True, doc="Accepted for MXNet's calls; arrays are never sparse.")

    def step(
        self, lr: Any, weight: Array, grad: Array, mom: Array, out: Array, step: Array, decay: Array
    ) -> None:
        """`mom = momentum * mom - lr * (grad + wd * weight)`, which is added."""
        np.multiply(mom, self.momentum, out=mom)
        self.rescaled(grad, step, lr)
        np.subtract(mom, step, out=mom)
        if self.wd:
            np.multiply(weight, lr * self.wd, out=decay)
            np.subtract(mom, decay, out=mom)
        np.add(weight, mom, out=out)


@operator("sgd_mom_update")
class SgdMomUpdate(_SgdMomentum):
    """`weight + mom`, where `mom = momentum * mom - lr * (grad + wd * weight)` is updated first.

    Shapes:
        weight: (...)
        grad: (...)
        mom: auxiliary state, (...)
        output: (...)

    Example:
        >>> import operad as od
        >>> w, g, mom = od.nd.array([1, 2]), od.nd.array([10, -10]), od.nd.array([0, 2])
        >>> od.nd.sgd_mom_update(w, g, mom, lr=0.1, momentum=0.5, out=w).asnumpy()
        array([0., 4.], dtype=float32)

    Source: SGDMomKernel, src/operator/optimizer_op-inl.h.
    """

    spec = update_spec("mom")
    contract = step_contract("mom", reference=momentum_step)

    def forward(
        self, op_ctx: OpContext, weight: Array, grad: Array, rate: Array | None, mom: Array, output: Output
    ) -> None:
        """Block by block."""
        self.run(op_ctx, rate, (weight, grad, mom), output)


@operator("mp_sgd_mom_update")
class MpSgdMomUpdate(_SgdMomentum):
    """`sgd_mom_update` of a half-precision weight through its single-precision copy.

    Shapes:
        weight: (...)
        grad: (...)
        mom: auxiliary state, float32 (...)
        weight32: auxiliary state, float32 (...)
        output: (...)

    Example:
        >>> import operad as od
        >>> w32, mom = od.nd.array([1, 2]), od.nd.array([0, 0])
        >>> w, g = w32.astype("float16"), od.nd.array([10, -10]).astype("float16")
        >>> od.nd.mp_sgd_mom_update(w, g, mom, w32, lr=0.1, out=w).asnumpy()
        array([0., 3.], dtype=float16)

    Source: MP_SGDMomKernel, src/operator/optimizer_op-inl.h.
    """

    spec = mixed_spec("mom")
    contract = step_contract("mom", "weight32", reference=momentum_step)

    def forward(
        self,
        op_ctx: OpContext,
        weight: Array,
        grad: Array,
        rate: Array | None,
        mom: Array,
        weight32: Array,
        output: Output,
    ) -> None:
        """Block by block, on the copy."""
        self.run_mixed(op_ctx, rate, (weight32, grad, mom), output)


class _Nesterov(Update):
    momentum = param(float, 0.0, doc="How much of the last step is kept.")

    def step(
        self, lr: Any, weight: Array, grad: Array, mom: Array, out: Array, step: Array, ahead: Array
    ) -> None:
        """`mom` as with plain momentum; the weight moves by what it will be next time."""
        self.rescaled(grad, step)
        self.decay(weight, step, ahead)
        np.multiply(step, lr, out=step)
        np.multiply(mom, self.momentum, out=mom)
        np.subtract(mom, step, out=mom)
        np.multiply(mom, self.momentum, out=ahead)
        np.subtract(ahead, step, out=ahead)
        np.add(weight, ahead, out=out)


@operator("nag_mom_update")
class NagMomUpdate(_Nesterov):
    """Momentum looked at one step ahead, after Nesterov: `weight + momentum * mom - lr * grad`.

    Shapes:
        weight: (...)
        grad: (...)
        mom: auxiliary state, (...)
        output: (...)

    Example:
        >>> import operad as od
        >>> w, g, mom = od.nd.array([1, 2]), od.nd.array([10, -10]), od.nd.array([0, 2])
        >>> od.nd.nag_mom_update(w, g, mom, lr=0.1, momentum=0.5, out=w).asnumpy()
        array([-0.5,  4. ], dtype=float32)

    Source: NAGMomKernel, src/operator/optimizer_op-inl.h.
    """

    spec = update_spec("mom")
    contract = step_contract("mom", reference=nesterov_step)

    def forward(
        self, op_ctx: OpContext, weight: Array, grad: Array, rate: Array | None, mom: Array, output: Output
    ) -> None:
        """Block by block."""
        self.run(op_ctx, rate, (weight, grad, mom), output)


@operator("mp_nag_mom_update")
class MpNagMomUpdate(_Nesterov):
    """`nag_mom_update` of a half-precision weight through its single-precision copy.

    Shapes:
        weight: (...)
        grad: (...)
        mom: auxiliary state, float32 (...)
        weight32: auxiliary state, float32 (...)
        output: (...)

    Example:
        >>> import operad as od
        >>> w32, mom = od.nd.array([1, 2]), od.nd.array([0, 0])
        >>> w, g = w32.astype("float16"), od.nd.array([10, -10]).astype("float16")
        >>> od.nd.mp_nag_mom_update(w, g, mom, w32, lr=0.1, out=w).asnumpy()
        array([0., 3.], dtype=float16)

    Source: MP_NAGMomKernel, src/operator/optimizer_op-inl.h. Differs: weight decay acts as in
    `nag_mom_update`, from which MXNet 1.9.1's mixed form departs.
    """

    spec = mixed_spec("mom")
    contract = step_contract("mom", "weight32", reference=nesterov_step)

    def forward(
        self,
        op_ctx: OpContext,
        weight: Array,
        grad: Array,
        rate: Array | None,
        mom: Array,
        weight32: Array,
        output: Output,
    ) -> None:
        """Block by block, on the copy."""
        self.run_mixed(op_ctx, rate, (weight32, grad, mom), output)
