"""What update operators have in common.

The learning rate is the parameter `lr`, as in MXNet; without it, it is a third array of one element,
`rate`. A rate that changes with every step (a schedule, Adam's bias correction) then makes no new
operator each time. Optimizer classes use this form.

An update computes in the weight's element type; half precision, in which an `epsilon` of 1e-8 is 0,
is widened for the computation and rounded at its end. The mixed-precision forms (`mp_`) keep a
single-precision copy of a half-precision weight as their last state, update that, and write it
rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from operad_optimizer.updates.blocks import SCRATCH, blocks
from operad_optimizer.updates.training import TrainingStep
from operad_sdk import Array, OpContext, Output, ResourceRequest, Shape, param


def update_spec(*states: str) -> str:
    """The shape line of an update with `states`, in the order a call gives them after its arguments."""
    aux = ", ".join(f"{state}:(...)" for state in states)
    return f"weight:(...), grad:(...), rate:any(1) if lr is None{aux and '; aux '}{aux} -> output:(...)"


def mixed_spec(*states: str) -> str:
    """The shape line of a mixed-precision update; `weight32` is the last state."""
    aux = ", ".join(f"{state}:float32(...)" for state in [*states, "weight32"])
    return f"weight:(...), grad:(...), rate:any(1) if lr is None; aux {aux} -> output:(...)"


class Update(TrainingStep):
    """An operator that gives a new weight, mostly in the place of the old one.

    Subclasses say what one block becomes, in `step`.
    """

    lr = param(float, None, doc="Learning rate; left out: the array `rate`.")
    wd = param(float, 0.0, doc="Weight decay: this times the weight is added to the gradient.")
    rescale_grad = param(float, 1.0, doc="Factor of the gradient.")
    clip_gradient = param(float, -1.0, doc="Bound of each element of the rescaled gradient; below 0: none.")
    forward_inplace = (("weight", "output"),)

    def forward_resource(self, in_shapes: Sequence[Shape]) -> list[ResourceRequest]:
        """Scratch for one block."""
        return [ResourceRequest.TEMP_SPACE]

    def step(self, lr: Any, *arrays: Array) -> None:
        """Update one block.

        Args:
            lr: The learning rate: a number, or on a GPU an array of one element.
            arrays: Weight, gradient, states, the array to write the new weight to (which may be the
                weight), and two arrays of scratch.
        """
        raise NotImplementedError

    def run(self, op_ctx: OpContext, rate: Array | None, arrays: Sequence[Array], output: Output) -> None:
        """`step` over all blocks of weight, gradient and states."""
        lr = self._learning_rate(op_ctx, rate)
        with output.writing() as out:
            dtype = np.promote_types(out.dtype, np.float32)
            step = self.step if dtype == out.dtype else self._widened_step
            for block in blocks(op_ctx, dtype, [*arrays, out]):
                step(lr, *block)

    def _widened_step(self, lr: Any, *block: Array) -> None:
        """`step` in scratch's element type; states and weight are rounded to their own at the end."""
        arrays, scratch = block[:-SCRATCH], block[-SCRATCH:]
        wide = [array.astype(scratch[0].dtype) for array in arrays]
        self.step(lr, *wide, *scratch)
        for array, computed in zip(arrays[2:], wide[2:], strict=True):
            array[...] = computed

    def run_mixed(
        self, op_ctx: OpContext, rate: Array | None, arrays: Sequence[Array], output: Output
    ) -> None:
        """`step` over all blocks of `arrays`, whose first is updated in place, and its value rounded."""
        lr = self._learning_rate(op_ctx, rate)
        master = arrays[0]
        for block in blocks(op_ctx, master.dtype, [*arrays, master]):
            self.step(lr, *block)
        output.assign(master)

    def rescaled(self, grad: Array, out: Array, factor: Any = 1.0) -> None:
        """Write the rescaled and clipped gradient, times `factor`."""
        np.copyto(out, grad)
        self._scale(out, self.rescale_grad * factor)
        if self.clip_gradient >= 0:
            bound = abs(self.clip_gradient * factor)
            np.clip(out, -bound, bound, out=out)

    def decayed(self, weight: Array, grad: Array, out: Array, scratch: Array) -> None:
        """Write the rescaled gradient with weight decay, clipped after that."""
        np.copyto(out, grad)
        self._scale(out, self.rescale_grad)
        self.decay(weight, out, scratch)
        if self.clip_gradient >= 0:
            np.clip(out, -self.clip_gradient, self.clip_gradient, out=out)

    def decay(self, weight: Array, grad: Array, scratch: Array) -> None:
        """Add weight decay to a gradient."""
        if self.wd:
            np.multiply(weight, self.wd, out=scratch)
            np.add(grad, scratch, out=grad)

    @staticmethod
    def _scale(array: Array, factor: Any) -> None:
        if not isinstance(factor, float) or factor != 1.0:
            np.multiply(array, factor, out=array)

    def _learning_rate(self, op_ctx: OpContext, rate: Array | None) -> Any:
        if rate is None:
            return self.lr
        return rate if op_ctx.ctx.is_gpu else rate.item()
