"""`Dropout`: zero a random part of the data while training.

The mask is a hidden output of bytes, 1 where an element is kept, so that backward needs nothing else
and the data may be recycled. What kept elements were multiplied by is a hidden output too, so that a
backward pass in another mode than its forward pass is right all the same. 16 random bits decide an
element, a quarter of what a double would draw; the probability is exact to 2**-17.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from operad.dtypes import DType
from operad.errors import DTypeError, ShapeError
from operad.operator import InferredTypes
from operad_sdk import (
    Array,
    Contract,
    Distribution,
    OpContext,
    OperatorProperty,
    Output,
    PartialShape,
    ResourceRequest,
    gradient,
    operator,
    param,
)

_STEPS: Final = 1 << 16


@operator("Dropout")
class Dropout(OperatorProperty):
    """Each element is zeroed with probability `p`, and the others divided by `1 - p`, while training.

    In prediction, and with `p=0`, the output is the data, unless `mode="always"`.

    Shapes:
        data: Any.
        output: As data.
        mask (hidden): As data, with length 1 on `axes`, where one decision counts for all.
        scale (hidden): (1,).

    Example:
        >>> import operad as od
        >>> od.random.seed(1)
        >>> with od.autograd.train_mode():
        ...     kept = od.nd.Dropout(od.nd.array([[1, 2, 3, 4]] * 100), p=0.5).asnumpy()
        >>> sorted(set(kept[:, 0].tolist()))
        [0.0, 2.0]

    Source: DropoutParam, src/operator/nn/dropout-inl.h.
    Differs: the mask is a byte an element, and its scale an output.
    """

    p = param(float, 0.5, ge=0, le=1, doc="Probability that an element is zeroed.")
    mode = param(str, "training", choices=("training", "always"), doc="When to drop: in training, or always.")
    axes = param("shape", (), doc="Axes along which one decision counts for all elements.")
    cudnn_off = param(bool, False, doc="Accepted for MXNet's files; there is no cuDNN here.")

    spec = "data:(...) -> output:(...), hidden mask:uint8(*M), hidden scale:(1)"
    forward_inplace = (("data", "output"),)
    contract = Contract(
        distribution=Distribution(
            mean=lambda prop: 1 - prop.p,
            variance=lambda prop: prop.p * (1 - prop.p),
            draws=lambda prop, inputs, outputs: outputs[1],
            params=({"p": 0.25}, {"p": 0.5}),
        )
    )

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> Any:
        """As the spec says; the mask is as the output, but for the axes that share a decision."""
        ins, (output, _, scale), aux = super().infer_shape(in_shapes)
        mask = output
        if mask is not None and self.axes:
            shared = {self._axis(axis, len(mask)) for axis in self.axes}
            mask = tuple(1 if axis in shared else length for axis, length in enumerate(mask))
        return ins, [output, mask, scale], aux

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """A floating type."""
        dtype = in_types[0]
        if dtype is not None and dtype.kind != "f":
            raise DTypeError(f"Dropout: data is {dtype}, expected a floating type; cast with astype")
        return super().infer_type(in_types)

    def _axis(self, axis: int, ndim: int) -> int:
        if not -ndim <= axis < ndim:
            raise ShapeError(f"Dropout: axes names axis {axis}, but data has {ndim} axes")
        return axis % ndim

    def forward_resource(self, in_shapes: Any) -> list[ResourceRequest]:
        """Random numbers, unless nothing is ever dropped."""
        return [ResourceRequest.RANDOM] if self.p > 0 else []

    def forward(
        self, op_ctx: OpContext, is_train: bool, data: Array, output: Output, mask: Output, scale: Output
    ) -> None:
        """Draw the mask and apply it."""
        if self.p == 0 or not (is_train or self.mode == "always"):
            output.assign(data)
            mask.assign(1)
            scale.assign(1)
            return
        factor = 1 / (1 - self.p) if self.p < 1 else 0.0
        draws = op_ctx.requested[0].generator.integers(_STEPS, size=mask.shape, dtype=np.uint16)
        keep = draws >= round(self.p * _STEPS)
        mask.assign(keep)
        scale.assign(factor)
        with output.writing() as out:
            op_ctx.xp.multiply(data, keep, out=out)
            out *= factor

    @gradient(inplace=[("output_grad", "data_grad")])
    def data_gradient(
        self, op_ctx: OpContext, output_grad: Array, mask: Array, scale: Array, data_grad: Output
    ) -> None:
        """The gradient of what was kept."""
        with data_grad.writing() as grad:
            op_ctx.xp.multiply(output_grad, mask, out=grad)
            grad *= scale.reshape(())
