"""Regression outputs: the prediction going forward, its distance from the label going back.

The gradient ignores the gradient with respect to the output. As in MXNet, it is divided by the number of
outputs per item, so that `grad_scale` has the same meaning for any number.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

import numpy as np

from operad_loss.classes import LabelledProperty, fits
from operad_loss.scalars import (
    absolute_error,
    half_squared_error,
    logistic,
    logistic_cross_entropy,
    prediction,
)
from operad_sdk import Array, Contract, InferredShapes, PartialShape, ShapeError, gradient, operator, param

_END: Final = "a loss, at the end of a network"
_ASSUMED: Final = "a label that is not given has the shape of data, less an axis of one"


class _RegressionOutput(LabelledProperty):
    """Base class of the three: shapes, and the scale of the gradient."""

    grad_scale = param(float, 1.0, doc="Factor of the gradient.")
    spec = "data:(N, *S), label:any(N, *L) -> output:(N, *S)"
    compute_dtype = "float32"
    inplace = "data -> output"

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """Infer shapes; the label has as many elements as `data`, and may lack an axis of one."""
        (data, label), outputs, _ = super().infer_shape(in_shapes)
        if data is None or None in data:
            return [data, label], outputs, []
        if label is None or None in label:
            usual = data[:1] if len(data) == 2 and data[1] == 1 else data
            label = next((shape for shape in (usual, data) if fits(label, shape)), label)
        elif prod(label) != prod(data):  # type: ignore[arg-type]
            raise ShapeError(
                f"{self.name}: label has shape {label}, expected one of as many elements as data {data}"
            )
        return [data, label], outputs, []

    @gradient(inplace="output")
    def data_grad(output: Array, label: Array, grad_scale: float, data_grad: Array) -> None:
        """`d loss / d data = grad_scale * (output - label) / n`, with n outputs per item."""
        np.subtract(output, label.reshape(output.shape), out=data_grad)
        np.multiply(data_grad, grad_scale / max(prod(output.shape[1:]), 1), out=data_grad)


@operator("LinearRegressionOutput")
class LinearRegressionOutput(_RegressionOutput):
    """The data itself; the gradient is its difference from the label, that of half the squared error.

    Shapes:
        data: (N, ...)
        label: the shape of `data`, or (N,) for (N, 1)
        output: the shape of `data`

    Example:
        >>> import operad as od
        >>> x, label = od.nd.array([[1], [2]]), od.nd.array([3, 4])
        >>> od.nd.LinearRegressionOutput(x, label).asnumpy()
        array([[1.], [2.]], dtype=float32)

    Source: RegressionForward and RegressionBackward, src/operator/regression_output-inl.h.
    """

    contract = Contract(
        reference=prediction, ignores_head_gradient=_END, loss=half_squared_error, assumes_shapes=_ASSUMED
    )

    def forward(data: Array) -> Array:
        """The data itself."""
        return data


@operator("MAERegressionOutput")
class MAERegressionOutput(_RegressionOutput):
    """The data itself; the gradient is the sign of its difference from the label, that of the absolute error.

    Shapes:
        data: (N, ...)
        label: the shape of `data`, or (N,) for (N, 1)
        output: the shape of `data`

    Example:
        >>> import operad as od
        >>> x, label = od.nd.array([[1], [2]]), od.nd.array([3, 4])
        >>> od.nd.MAERegressionOutput(x, label).asnumpy()
        array([[1.], [2.]], dtype=float32)

    Source: MAERegressionOutput, src/operator/regression_output.cc.
    """

    contract = Contract(
        reference=prediction, ignores_head_gradient=_END, loss=absolute_error, assumes_shapes=_ASSUMED
    )

    def forward(data: Array) -> Array:
        """The data itself."""
        return data

    @gradient(inplace="output")
    def data_grad(output: Array, label: Array, grad_scale: float, data_grad: Array) -> None:
        """`d loss / d data = grad_scale * sign(output - label) / n`, with n outputs per item."""
        np.sign(np.subtract(output, label.reshape(output.shape), out=data_grad), out=data_grad)
        np.multiply(data_grad, grad_scale / max(prod(output.shape[1:]), 1), out=data_grad)


@operator("LogisticRegressionOutput")
class LogisticRegressionOutput(_RegressionOutput):
    """The logistic function of the data; the gradient is that of the cross-entropy to the label.

    Shapes:
        data: (N, ...)
        label: the shape of `data`, or (N,) for (N, 1)
        output: the shape of `data`

    Example:
        >>> import operad as od
        >>> x, label = od.nd.array([[0], [2]]), od.nd.array([0, 1])
        >>> od.nd.LogisticRegressionOutput(x, label).asnumpy().round(4)
        array([[0.5   ], [0.8808]], dtype=float32)

    Source: LogisticRegressionOutput, src/operator/regression_output.cc.
    """

    accepts = "floating"
    element_cost = 3
    contract = Contract(
        reference=logistic, ignores_head_gradient=_END, loss=logistic_cross_entropy, assumes_shapes=_ASSUMED
    )

    def forward(data: Array, output: Array) -> None:
        """`t / (1 + t)` with `t = e^x`, so that `t` alone is left where it is small."""
        # from 40 on 1 is the nearest float64, far below where an exponential overflows
        tail = np.exp(np.minimum(data, 40, out=output), out=output)
        np.divide(tail, np.add(tail, 1), out=output)
