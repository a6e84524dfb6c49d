"""An operator with weights, for tests of kernels that have something prepared of them."""

from __future__ import annotations

from operad_sdk import OperatorProperty, blocked_sum, operator


def scaled_rows(name, base=OperatorProperty):
    """Rows times weights."""

    @operator(name)
    class Scaled(base):
        """Each row times the weights."""

        spec = "data:(N, D), weight:(D) -> output:(N, D)"

        def forward(data, weight):
            """The product."""
            return data * weight

        def data_grad(output_grad, weight):
            """The weight."""
            return output_grad * weight

        def weight_grad(output_grad, data):
            """The sum over rows."""
            return blocked_sum(output_grad * data, 0)

    return Scaled
