"""`IdentityAttachKLSparseReg`: a penalty on activations that are not sparse."""

from __future__ import annotations

from operad_sdk import (
    Array,
    Contract,
    OperatorProperty,
    blocked_sum,
    gradient,
    operator,
    param,
    unit_interval,
)


def _moved(data: Array, moving_avg: Array, momentum: float, is_train: bool) -> Array:
    mean = data.sum(0) / max(len(data), 1)
    return momentum * moving_avg + (1 - momentum) * mean if is_train and data.size else moving_avg


@operator("IdentityAttachKLSparseReg")
class IdentityAttachKLSparseReg(OperatorProperty):
    """The data itself; the gradient of a penalty on the mean of each column is added to its gradient.

    The penalty is the Kullback-Leibler divergence of the mean from the target t, and `dy/dx = 1 + penalty
    ((1 - t) / (1 - m) - t / m)` with the moving mean m, which training moves.

    Shapes:
        data: (N, C), activations between 0 and 1.
        moving_avg: (C,)
        output: (N, C)
        average (hidden): (C,), the moving mean that the gradient is of.

    Example:
        >>> import operad as od
        >>> data, mean = od.nd.array([[0.5], [0.25]]), od.nd.array([0.5])
        >>> od.nd.IdentityAttachKLSparseReg(data, mean).asnumpy().ravel()
        array([0.5 , 0.25], dtype=float32)

    Source: IdentityAttachKLSparseRegOp, src/operator/identity_attach_KL_sparse_reg-inl.h. Differs: the moving
    mean is updated in forward, not in backward.
    """

    sparseness_target = param(float, 0.1, gt=0, lt=1, doc="The mean activation wanted.")
    penalty = param(float, 0.001, doc="Factor of the penalty.")
    momentum = param(float, 0.9, ge=0, lt=1, doc="Share of the moving mean that one training step leaves.")
    spec = "data:(N, C), state moving_avg:(C) -> output:(N, C), hidden average:(C)"
    accepts = "floating"
    compute_dtype = "float32"
    unknown_slopes = (
        "its gradient adds that of a penalty on a moving mean, and is no derivative of the output"
    )
    initializers = {"moving_avg": '["zero", {}]'}
    contract = Contract(
        inputs={"data": unit_interval(), "moving_avg": unit_interval()},
        reference=lambda data, moving_avg, momentum, is_train: (
            data, *[_moved(data, moving_avg, momentum, is_train)] * 2
        ),
        expected_failures={"B303": "the penalty's part does not depend on the head gradient"},
        no_numeric_gradient="it adds the gradient of a penalty to that of the output",
    )  # fmt: skip

    def forward(
        data: Array, moving_avg: Array, momentum: float, is_train: bool, output: Array, average: Array
    ) -> None:
        """The data; in training the mean moves."""
        if is_train and data.size:
            moving_avg *= momentum
            moving_avg += (1 - momentum) / len(data) * blocked_sum(data, 0)
        output[...], average[...] = data, moving_avg

    @gradient
    def data_grad(output_grad: Array, average: Array, sparseness_target: float, penalty: float) -> Array:
        """`1 + penalty ((1 - t) / (1 - m) - t / m)`."""
        slope = (1 - sparseness_target) / (1 - average) - sparseness_target / average
        return output_grad + penalty * slope
