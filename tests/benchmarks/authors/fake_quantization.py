"""Rounding to eight bits, with a gradient as if there were none."""

from __future__ import annotations

import numpy as np

from operad_sdk import Array, Contract, OperatorProperty, operator, param


@operator("author_fake_quantization")
class FakeQuantization(OperatorProperty):
    """`data` rounded to a multiple of `scale`, within 256 steps; the gradient passes within them.

    Source: Jacob et al., Quantization and Training of Neural Networks for Efficient Inference, equation 12.
    """

    spec = "data:(...) -> output:(...)"
    accepts = "floating"
    compute_dtype = "float32"
    scale = param(float, 0.02, gt=0, doc="The length of a step.")
    zero = param(int, 128, ge=0, le=255, doc="The step that stands for 0.")
    contract = Contract(
        reference=lambda data, scale, zero: (np.clip(np.rint(data / scale) + zero, 0, 255) - zero) * scale,
        no_numeric_gradient="the gradient is that of a straight line, and the function has steps",
    )

    def forward(data: Array, scale: float, zero: int) -> Array:
        """The definition."""
        return (np.clip(np.rint(data / scale) + zero, 0, 255) - zero) * scale

    def data_grad(output_grad: Array, data: Array, scale: float, zero: int) -> Array:
        """`g` where the step is one of the 256, and 0 elsewhere."""
        step = np.rint(data / scale) + zero
        return np.where((step >= 0) & (step <= 255), output_grad, 0)
