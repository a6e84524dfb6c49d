"""Gradients that were reported to be wrong beside zeros, for repeated places, or for some arguments."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, OperatorProperty, operator, param, unary
from operad_sdk.domains import Integers
from operator_sdk.check.tests.zoo import forwards
from operator_sdk.check.tests.zoo.bases import InFloat32
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients
from operator_sdk.check.tests.zoo.forwards import BatchedProduct


@operator("zoo_row_product")
class RowProduct(forwards.RowProduct, InFloat32):
    """Product of each row."""

    spec = "data:(N, D) -> output:(N)"

    def data_grad(output_grad, data, output):
        return (output_grad * output)[:, None] / data


@operator("zoo_where_or_number")
class WhereOrNumber(OperatorProperty):
    """Elements where a condition holds, else those of another array, or a number."""

    accepts = {"data": "floating"}
    is_number = param(bool, False, doc="A number stands for the other array.")
    spec = "condition:any(...), data:(...), other:(...) if not is_number -> output:(...)"
    contract = Contract(inputs={"condition": Integers(0, 1)})

    def forward(condition, data, other):
        return np.where(condition != 0, data, -1 if other is None else other).astype(data.dtype)

    def data_grad(condition, output_grad, is_number):
        return output_grad * ((condition == 0) if is_number else (condition != 0))

    def other_grad(condition, output_grad):
        return output_grad * (condition == 0)


@operator("zoo_batch_product")
class BatchProduct(BatchedProduct, InFloat32):
    """Products of matrices in a batch."""

    def rhs_grad(output_grad, lhs):
        return lhs.reshape(lhs.shape[0], lhs.shape[2], lhs.shape[1]) @ output_grad


@unary("zoo_softplus_by_parts", accepts="floating")
def softplus_by_parts(x):
    """A positive part and what smooths it."""
    return np.maximum(x, 0) + np.log1p(np.exp(-abs(x)))


@softplus_by_parts.gradient
def _(output_grad, x):
    decay = np.exp(-abs(x))
    return output_grad * ((x > 0) - np.sign(x) * decay / (1 + decay))


ZOO = without_gradients(
    [
        Fault(
            "B",
            RowProduct,
            "the product is divided by each factor, zero or not",
            report="https://github.com/apache/mxnet/issues/17864",
        ),
        Fault(
            "B",
            WhereOrNumber,
            "with a number in the place of an array the mask is the wrong way round",
            report="https://github.com/apache/mxnet/issues/17893",
        ),
        Fault(
            "B",
            BatchProduct,
            "a matrix is reshaped where it should be transposed",
            report="https://github.com/apache/mxnet/issues/18102",
        ),
        Fault(
            "B",
            softplus_by_parts,
            "at 0 the slope is that of a kink, and there is none",
            report="https://github.com/jax-ml/jax/issues/2107",
        ),
    ]
)
