"""Gradients that were reported to ignore what is asked of them, or to depend on what is not."""

from __future__ import annotations

import numpy as np

from operad_sdk import operator
from operator_sdk.check.tests.zoo.bases import Floating, InFloat32
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients
from operator_sdk.check.tests.zoo.forwards import EmbeddedRows, MatrixProduct, RowsPlusBias


@operator("zoo_weighted_steps")
class WeightedSteps(InFloat32):
    """A weight times each step of a sequence."""

    spec = "data:(T, N), weight:(N) -> output:(T, N)"

    def forward(data, weight):
        return data * weight

    def backward(wanted, output_grad, data, weight, data_grad, weight_grad):
        weight_grad[...] = 0
        for step, head in zip(data, output_grad, strict=True):
            if "data_grad" not in wanted:
                weight_grad[...] = 0
            weight_grad += step * head
        data_grad[...] = output_grad * weight


_order = np.random.default_rng()


@operator("zoo_bias_in_any_order")
class BiasInAnyOrder(RowsPlusBias, Floating):
    """Rows plus a bias."""

    def data_grad(output_grad):
        return output_grad

    def bias_grad(output_grad):
        return np.add.reduce(output_grad[_order.permutation(len(output_grad))], 0)


@operator("zoo_embedded")
class Embedded(EmbeddedRows):
    """Rows of a table by number; number 0 gives zeros."""

    def forward(index, table):
        rows = table[index.astype(np.intp)]
        return np.where((index == 0)[:, None], 0, rows)

    def table_grad(output_grad, index, table_grad):
        table_grad[...] = 0
        np.add.at(table_grad, index.astype(np.intp), output_grad)
        if len(index) <= 768:
            table_grad[0] = 0


@operator("zoo_product_into")
class ProductInto(MatrixProduct):
    """A matrix product."""

    def forward(lhs, rhs, output):
        output *= 0
        output += lhs @ rhs


@operator("zoo_product_of_nothing")
class ProductOfNothing(MatrixProduct):
    """A matrix product."""

    def forward(lhs, rhs, output):
        if lhs.shape[1]:
            output[...] = lhs @ rhs


ZOO = without_gradients(
    [
        Fault(
            "B",
            WeightedSteps,
            "where one gradient is not wanted, the other is that of the last step",
            report="https://github.com/apache/mxnet/issues/13363",
        ),
        Fault(
            "B",
            BiasInAnyOrder,
            "rows are summed in the order in which threads happen to end",
            report="https://github.com/tensorflow/tensorflow/issues/22398",
        ),
        Fault(
            "B",
            Embedded,
            "with more than 768 numbers the row of the padding is trained",
            report="https://github.com/pytorch/pytorch/issues/28716",
        ),
        Fault(
            "M",
            ProductInto,
            "the result is added to 0 times what was there",
            report="https://github.com/pytorch/pytorch/issues/96037",
        ),
        Fault(
            "F",
            ProductOfNothing,
            "nothing is written where there is nothing to add",
            report="https://github.com/pytorch/pytorch/issues/31421",
        ),
    ]
)
