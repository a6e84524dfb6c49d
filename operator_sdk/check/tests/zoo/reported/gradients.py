"""Gradients that were reported to be wrong beside zeros, for repeated places, or for some arguments."""

from __future__ import annotations

import numpy as np

from operad.errors import ShapeError
from operad_sdk import Contract, OperatorProperty, binary, operator, param
from operad_sdk.domains import Index, Real
from operator_sdk.check.tests.zoo import forwards
from operator_sdk.check.tests.zoo.bases import Floating, InFloat32
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients


@operator("zoo_row_norm")
class RowNorm(Floating):
    """Euclidean length of each row."""

    spec = "data:(N, D) -> output:(N)"

    def forward(data):
        return np.sqrt((data * data).sum(1))

    def data_grad(output_grad, data, output):
        return output_grad[:, None] * data / output[:, None]


@operator("zoo_running_product")
class RunningProduct(forwards.RunningProduct, InFloat32):
    """Products of each row so far."""

    def data_grad(output_grad, data, output):
        after = np.cumsum((output_grad * output)[:, ::-1], 1)[:, ::-1]
        return np.divide(after, data, out=np.zeros_like(data), where=data != 0)


@operator("zoo_product_of_all")
class ProductOfAll(InFloat32):
    """Product of a vector."""

    spec = "data:(N) -> output:(1)"

    def forward(data):
        return data.prod(keepdims=True)

    def data_grad(output_grad, data, output):
        if (data == 0).any():
            return np.broadcast_to(output_grad * data[data != 0].prod(), data.shape)
        return output_grad * output / data


@operator("zoo_gather_columns")
class GatherColumns(OperatorProperty):
    """Elements of each row by number."""

    accepts = {"data": "floating"}
    spec = "data:(N, D), index:any(N, K) -> output:(N, K)"
    contract = Contract(inputs={"index": Index("data", axis=1)})

    def infer_shape(self, in_shapes):
        """There is a column to take."""
        (data, index), outputs, aux = super().infer_shape(in_shapes)
        if data is not None and data[1] == 0:
            raise ShapeError(f"{self.name}: data has shape {data}, expected a column: axis 1 is 0")
        return [data, index], outputs, aux

    def forward(data, index):
        return np.take_along_axis(data, index.astype(np.intp), 1)

    def data_grad(output_grad, index, data_grad):
        data_grad[...] = 0
        np.put_along_axis(data_grad, index.astype(np.intp), output_grad, 1)


@binary(
    "zoo_power_of_base",
    accepts="floating",
    contract=Contract(inputs={"lhs": Real(-0.125, 2.125), "rhs": Real(1.0, 3.125)}),
)
def power_of_base(lhs, rhs):
    """A base of at least 0 to an exponent above 1."""
    return lhs**rhs


@power_of_base.gradient("lhs")
def _(output_grad, lhs, rhs):
    return output_grad * rhs * lhs ** (rhs - 1)


@power_of_base.gradient("rhs")
def _(output_grad, lhs, output):
    return output_grad * output * np.log(lhs)


@operator("zoo_smooth_distance")
class SmoothDistance(Floating):
    """Magnitudes, made smooth within beta of 0."""

    beta = param(float, 1.0, ge=0, doc="Where the quadratic part ends.")
    spec = "data:(*S) -> output:(*S)"

    def forward(data, beta):
        size = abs(data)
        return size if beta == 0 else np.where(size < beta, size * size / (2 * beta), size - beta / 2)

    def data_grad(output_grad, data, beta):
        return output_grad * np.where(abs(data) <= beta, data / np.float64(beta), np.sign(data))


ZOO = without_gradients(
    [
        Fault(
            "B",
            RowNorm,
            "the gradient of a row of zeros is 0 / 0",
            report="https://github.com/pytorch/pytorch/issues/2421",
        ),
        Fault(
            "B",
            RunningProduct,
            "zeros get no gradient: 0 / 0 is taken for 0",
            report="https://github.com/tensorflow/tensorflow/issues/119430",
        ),
        Fault(
            "B",
            ProductOfAll,
            "a zero among the factors gives all of them one gradient",
            report="https://github.com/pytorch/pytorch/issues/82644",
        ),
        Fault(
            "B",
            GatherColumns,
            "of places that are read twice, the last one keeps the gradient",
            report="https://github.com/pytorch/pytorch/issues/1631",
        ),
        Fault(
            "B",
            power_of_base,
            "the logarithm of a base of 0 is in the gradient of the exponent",
            report="https://github.com/pytorch/pytorch/issues/27134",
        ),
        Fault(
            "B",
            SmoothDistance,
            "the quadratic part is divided by its width, which may be 0",
            report="https://github.com/pytorch/pytorch/issues/96813",
        ),
    ]
)
