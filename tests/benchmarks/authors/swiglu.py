"""A gated unit."""

from __future__ import annotations

import numpy as np

from operad_sdk import Array, Contract, OperatorProperty, operator


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


@operator("author_swiglu")
class SwiGlu(OperatorProperty):
    """`gate * sigmoid(gate) * value`.

    Source: Shazeer, GLU Variants Improve Transformer, equation 6, without its products.
    """

    spec = "gate:(...), value:(...) -> output:(...)"
    accepts = "floating"
    compute_dtype = "float32"
    contract = Contract(reference=lambda gate, value: gate / (1 + np.exp(-gate)) * value)

    def forward(gate: Array, value: Array) -> Array:
        """The definition."""
        return gate * _sigmoid(gate) * value

    def gate_grad(output_grad: Array, gate: Array, value: Array) -> Array:
        """The slope of `x s(x)` is `s + x s (1 - s)`."""
        s = _sigmoid(gate)
        return output_grad * value * (s + gate * s * (1 - s))

    def value_grad(output_grad: Array, gate: Array) -> Array:
        """`g gate s(gate)`."""
        return output_grad * gate * _sigmoid(gate)
