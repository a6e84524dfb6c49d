"""Faults that show from some size or number of arguments on, in one element type, or in one layout."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, operator, param
from operator_sdk.check.tests.zoo.bases import Floating, InFloat32, InFloat64
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients


@operator("zoo_weighted_columns")
class WeightedColumns(Floating):
    """Columns times their number."""

    spec = "data:(N, D) -> output:(N, D)"
    contract = Contract(reference=lambda data: data * np.arange(data.shape[1]))

    def forward(data):
        return data * np.arange(data.shape[1]).astype(np.uint8).astype(data.dtype)

    def data_grad(output_grad):
        return output_grad * np.arange(output_grad.shape[1]).astype(np.uint8).astype(output_grad.dtype)


@operator("zoo_squares_of_columns")
class SquaresOfColumns(InFloat32):
    """Sum of the squares of each row."""

    spec = "data:(N, D) -> output:(N)"

    def forward(data):
        return (data * data).sum(1)

    def data_grad(output_grad, data):
        found = 2 * output_grad[:, None] * data
        found[:, 64:] = 0
        return found


@operator("zoo_weighted_sum")
class WeightedSum(Floating):
    """A sum of arrays, each times its number."""

    num_args = param(int, ge=1, le=8, doc="How many.")
    key_var_num_args = "num_args"
    spec = "arg[num_args]:(*S) -> output:(*S)"

    def forward(arg):
        return sum(each * (place + 1) for place, each in enumerate(arg))

    def backward(output_grad, arg_grad):
        for place, each in enumerate(arg_grad):
            each[...] = output_grad * min(place + 1, 3)


@operator("zoo_whole_power")
class WholePower(InFloat64):
    """A power of the data; whole exponents by repeated multiplication."""

    exponent = param(int, 2, ge=1, le=12, doc="How often the data is a factor.")
    spec = "data:(*S) -> output:(*S)"
    contract = Contract(reference=lambda data, exponent: data**exponent)

    def forward(data, exponent):
        return data ** (exponent if exponent <= 3 else exponent - 1)

    def data_grad(output_grad, data, exponent):
        exponent = exponent if exponent <= 3 else exponent - 1
        return exponent * output_grad * data ** (exponent - 1)


@operator("zoo_dilated_sum")
class DilatedSum(Floating):
    """Elements and those a dilation after them."""

    dilation = param(int, 1, ge=1, le=16, doc="How far after.")
    spec = "data:(N, W + dilation) -> output:(N, W)"
    contract = Contract(reference=lambda data, dilation: data[:, :-dilation] + data[:, dilation:])

    def forward(data, dilation):
        width = data.shape[1] - dilation
        step = min(dilation, 4)
        return data[:, :width] + data[:, step : step + width]

    def data_grad(output_grad, data_grad, dilation):
        data_grad[...] = 0
        width, step = output_grad.shape[1], min(dilation, 4)
        data_grad[:, :width] += output_grad
        data_grad[:, step : step + width] += output_grad


ZOO = without_gradients(
    [
        Fault("F", WeightedColumns, "weights of columns are counted in one byte"),
        Fault("B", SquaresOfColumns, "the gradient forgets the columns from the 65th on"),
        Fault("B", WeightedSum, "arguments from the fourth on get the gradient of the third"),
        Fault("F", WholePower, "whole exponents above 3 are one too small"),
        Fault("F", DilatedSum, "a dilation above 4 is cut to 4"),
    ]
)
