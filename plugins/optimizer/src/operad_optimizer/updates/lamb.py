"""LAMB in its two phases: Adam's direction, and a step scaled by the norms of weight and direction."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from operad_optimizer.updates.blocks import blocks
from operad_optimizer.updates.moving import move_average, move_square_average
from operad_optimizer.updates.references import lamb_direction, lamb_step
from operad_optimizer.updates.training import TrainingStep, step_contract
from operad_sdk import Array, OpContext, Output, ResourceRequest, Shape, operator, param


class _Phase1(TrainingStep):
    beta1 = param(float, 0.9, doc="How much of the average gradient is kept.")
    beta2 = param(float, 0.999, doc="How much of the average squared gradient is kept.")
    epsilon = param(float, 1e-6, doc="Added to the denominator.")
    t = param(int, ge=1, doc="Number of this update.")
    bias_correction = param(bool, True, doc="Correct the averages' bias towards 0.")
    wd = param(float, doc="Weight decay.")
    rescale_grad = param(float, 1.0, doc="Factor of the gradient.")
    clip_gradient = param(float, -1.0, doc="Bound of each element of the rescaled gradient; below 0: none.")

    def forward_resource(self, in_shapes: Sequence[Shape]) -> list[ResourceRequest]:
        """Scratch for one block."""
        return [ResourceRequest.TEMP_SPACE]

    def run(self, op_ctx: OpContext, arrays: Sequence[Array], output: Output) -> None:
        """`step` over all blocks of weight, gradient and averages."""
        with output.writing() as out:
            for block in blocks(op_ctx, out.dtype, [*arrays, out]):
                self.step(*block)

    def step(
        self, weight: Array, grad: Array, mean: Array, var: Array, out: Array, step: Array, scratch: Array
    ) -> None:
        """Both averages, then the direction."""
        np.multiply(grad, self.rescale_grad, out=step, dtype=step.dtype)
        if self.clip_gradient >= 0:
            np.clip(step, -self.clip_gradient, self.clip_gradient, out=step)
        move_average(mean, self.beta1, step, scratch)
        move_square_average(var, self.beta2, step, scratch)
        corrections = (1 - self.beta1**self.t, 1 - self.beta2**self.t) if self.bias_correction else (1.0, 1.0)
        np.divide(var, corrections[1], out=step)
        np.sqrt(step, out=step)
        np.add(step, self.epsilon, out=step)
        np.multiply(step, corrections[0], out=step)
        np.divide(mean, step, out=step)
        np.multiply(weight, self.wd, out=scratch)
        np.add(step, scratch, out=out)


@operator("lamb_update_phase1")
class LambUpdatePhase1(_Phase1):
    """Adam's direction with weight decay added: what LAMB goes along.

    Shapes:
        weight: (...)
        grad: (...)
        mean: auxiliary state, (...)
        var: auxiliary state, (...)
        output: (...)

    Example:
        >>> import operad as od
        >>> w, g, mean, var = od.nd.array([1]), od.nd.array([2]), od.nd.array([0]), od.nd.array([0])
        >>> od.nd.lamb_update_phase1(w, g, mean, var, t=1, wd=0.5).asnumpy().round(4)
        array([1.5], dtype=float32)

    Source: LambUpdatePhaseOneKernel, src/operator/optimizer_op-inl.h.
    """

    spec = "weight:(...), grad:(...); aux mean:(...), var:(...) -> output:(...)"
    contract = step_contract("mean", "var", reference=lamb_direction)

    def forward(
        self, op_ctx: OpContext, weight: Array, grad: Array, mean: Array, var: Array, output: Output
    ) -> None:
        """Block by block."""
        self.run(op_ctx, (weight, grad, mean, var), output)


@operator("mp_lamb_update_phase1")
class MpLambUpdatePhase1(_Phase1):
    """`lamb_update_phase1` of a half-precision weight by its single-precision copy.

    Shapes:
        weight: (...)
        grad: (...)
        mean: auxiliary state, float32 (...)
        var: auxiliary state, float32 (...)
        weight32: auxiliary state, float32 (...)
        output: float32 (...)

    Example:
        >>> import operad as od
        >>> w32, mean, var = od.nd.array([1]), od.nd.array([0]), od.nd.array([0])
        >>> w, g = w32.astype("float16"), od.nd.array([2]).astype("float16")
        >>> od.nd.mp_lamb_update_phase1(w, g, mean, var, w32, t=1, wd=0.5).asnumpy().round(4)
        array([1.5], dtype=float32)

    Source: LambUpdatePhaseOneKernel, src/operator/optimizer_op-inl.h.
    """

    spec = (
        "weight:(...), grad:(...); aux mean:float32(...), var:float32(...), weight32:float32(...) "
        "-> output:float32(...)"
    )
    contract = step_contract("mean", "var", reference=lamb_direction)

    def forward(
        self,
        op_ctx: OpContext,
        weight: Array,
        grad: Array,
        mean: Array,
        var: Array,
        weight32: Array,
        output: Output,
    ) -> None:
        """Block by block, by the copy."""
        self.run(op_ctx, (weight32, grad, mean, var), output)


@operator("_lamb_norm")
class LambNorm(TrainingStep):
    """Euclidean norm of all elements, which phase 2 takes of the weight and of the direction.

    Shapes:
        data: (...)
        output: (1,)

    Example:
        >>> import operad as od
        >>> od.nd._lamb_norm(od.nd.array([3, 4])).asnumpy()
        array([5.], dtype=float32)
    """

    spec = "data:(...) -> output:(1)"
    contract = step_contract(reference=lambda data: np.sqrt((data**2).sum(keepdims=True)).reshape(1))

    def forward(self, data: Array, output: Output) -> None:
        """Half precision is summed in single precision."""
        wide = data.astype(np.float32) if data.dtype == np.float16 else data
        output.assign(np.linalg.norm(wide.reshape(-1)))


class _Phase2(TrainingStep):
    lr = param(float, doc="Learning rate.")
    lower_bound = param(float, -1.0, doc="Least norm of the weight; below 0: none.")
    upper_bound = param(float, -1.0, doc="Largest norm of the weight; below 0: none.")

    def factor(self, r1: Array, r2: Array) -> Array:
        """Learning rate times the ratio of the norms, which is 1 where one of them is 0."""
        norm = r1
        if self.lower_bound >= 0:
            norm = np.maximum(norm, self.lower_bound)
        if self.upper_bound >= 0:
            norm = np.minimum(norm, self.upper_bound)
        both = np.logical_and(norm != 0, r2 != 0)
        ratio = np.where(both, norm, 1) / np.where(both, r2, 1) * self.lr
        return ratio.reshape(())  # so that weights with no axis keep theirs


@operator("lamb_update_phase2")
class LambUpdatePhase2(_Phase2):
    """`weight - lr * r1 / r2 * g`, where `r1` and `r2` are the norms of `weight` and `g`.

    Shapes:
        weight: (...)
        g: (...), what phase 1 gave
        r1: (1,)
        r2: (1,)
        output: (...)

    Example:
        >>> import operad as od
        >>> w, g = od.nd.array([3, 4]), od.nd.array([2, 0])
        >>> od.nd.lamb_update_phase2(w, g, od.nd.array([5]), od.nd.array([2]), lr=0.1).asnumpy()
        array([2.5, 4. ], dtype=float32)

    Source: LambUpdatePhaseTwoKernel, src/operator/optimizer_op-inl.h.
    """

    spec = "weight:(...), g:(...), r1:(1), r2:(1) -> output:(...)"
    forward_inplace = (("weight", "output"), ("g", "output"))
    contract = step_contract(reference=lamb_step)

    def forward(self, weight: Array, g: Array, r1: Array, r2: Array, output: Output) -> None:
        """Two passes."""
        step = np.multiply(g, self.factor(r1, r2))
        with output.writing() as out:
            np.subtract(weight, step, out=out)


@operator("mp_lamb_update_phase2")
class MpLambUpdatePhase2(_Phase2):
    """`lamb_update_phase2` of a half-precision weight through its single-precision copy.

    Shapes:
        weight: (...)
        g: float32 (...), what phase 1 gave
        r1: float32 (1,)
        r2: float32 (1,)
        weight32: auxiliary state, float32 (...)
        output: (...)

    Example:
        >>> import operad as od
        >>> w32, g = od.nd.array([3, 4]), od.nd.array([2, 0])
        >>> w, r1, r2 = w32.astype("float16"), od.nd.array([5]), od.nd.array([2])
        >>> od.nd.mp_lamb_update_phase2(w, g, r1, r2, w32, lr=0.1, out=w).asnumpy()
        array([2.5, 4. ], dtype=float16)

    Source: LambUpdatePhaseTwoKernel, src/operator/optimizer_op-inl.h.
    """

    spec = (
        "weight:(...), g:float32(...), r1:float32(1), r2:float32(1); aux weight32:float32(...) "
        "-> output:(...)"
    )
    forward_inplace = (("weight", "output"),)
    contract = step_contract("weight32", reference=lamb_step)

    def forward(self, g: Array, r1: Array, r2: Array, weight32: Array, output: Output) -> None:
        """On the copy, which is then rounded."""
        np.subtract(weight32, np.multiply(g, self.factor(r1, r2)), out=weight32)
        output.assign(weight32)
