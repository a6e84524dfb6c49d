"""`_contrib_arange_like`: evenly spaced numbers in the shape of another array."""

from __future__ import annotations

from math import prod

import numpy as np

from operad_init.sequences import repeated
from operad_sdk import Array, Contract, OpContext, OperatorProperty, Output, operator, param


def _reference(data: Array, start: float, step: float, repeat: int, axis: int | None) -> Array:
    shape = data.shape if axis is None else (data.shape[axis],)
    return start + step * (np.arange(prod(shape)) // repeat).reshape(shape)


@operator("_contrib_arange_like")
class ArangeLike(OperatorProperty):
    """Numbers from `start`, `step` apart, each `repeat` times, as many as `data` has.

    Shapes:
        data: (...)
        output: the shape of `data`; with `axis` the length of that axis alone

    Example:
        >>> import operad as od
        >>> od.nd._contrib_arange_like(od.nd.ones((2, 3)), start=1).asnumpy()
        array([[1., 2., 3.], [4., 5., 6.]], dtype=float32)

    Source: RangeLikeParam, src/operator/tensor/init_op.h.
    """

    has_gradient = False
    start = param(float, 0.0, doc="First number.")
    step = param(float, 1.0, doc="Distance of two numbers.")
    repeat = param(int, 1, ge=1, doc="How often each number comes.")
    ctx = param(str, "", doc="Accepted for MXNet's files; the call or the binding says where.")
    axis = param(int, None, doc="Count along this axis only; negative ones count from the last.")

    contract = Contract(reference=_reference)

    def spec(self) -> str:
        """One line of the shape language, which depends on `axis`."""
        return f"data:(*S) -> output:({'*S' if self.axis is None else 'S[axis]'})"

    def forward(self, op_ctx: OpContext, data: Array, output: Output) -> None:
        """From the place of each number; `data` gives only its shape."""
        count = data.size if self.axis is None else data.shape[self.axis]
        numbers = self.start + repeated(op_ctx, count, self.repeat) * self.step
        output.assign(numbers.reshape(output.shape))
