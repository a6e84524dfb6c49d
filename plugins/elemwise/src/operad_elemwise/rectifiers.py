"""relu, sigmoid, hard_sigmoid and softsign; every gradient reads the value, not the argument."""

from __future__ import annotations

import numpy as np

from operad_sdk import Array, Contract, param, unary


@unary(
    "relu",
    inplace="data",
    accepts="number",
    contract=Contract(reference=lambda data: (data + np.abs(data)) / 2),
)
def relu(data: Array, out: Array) -> None:
    """The larger of every element and 0.

    Shapes:
        data: (...)
        output: (...)

    Example:
        >>> import operad as od
        >>> od.nd.relu(od.nd.array([-2, 3])).asnumpy()
        array([0., 3.], dtype=float32)
    """
    np.maximum(data, 0, out=out)


@relu.gradient(inplace=("ograd", "out_value"))
def _(ograd: Array, out_value: Array, out: Array) -> None:
    np.multiply(ograd, np.greater(out_value, 0), out=out)


@unary(
    "sigmoid",
    inplace="data",
    accepts="floating",
    cost=12,
    contract=Contract(reference=lambda data: (1 + np.tanh(data / 2)) / 2),
)
def sigmoid(data: Array, out: Array) -> None:
    """`1 / (1 + exp(-x))` of every element.

    Shapes:
        data: (...)
        output: (...)

    Example:
        >>> import operad as od
        >>> od.nd.sigmoid(od.nd.array([-200, 0, 1])).asnumpy().round(4)
        array([0.    , 0.5   , 0.7311], dtype=float32)
    """
    if data.dtype == np.float16:
        out[...] = _logistic(data.astype(np.float32))
    else:
        _logistic(data, out)


def _logistic(data: Array, out: Array | None = None) -> Array:
    """Beyond the clipping the value is subnormal; without it the exponential would overflow."""
    largest = 88.0 if data.dtype == np.float32 else 709.0
    value = np.negative(data, out=out)
    np.minimum(value, largest, out=value)
    np.exp(value, out=value)
    np.add(value, 1, out=value)
    return np.divide(1, value, out=value)


@sigmoid.gradient
def _(ograd: Array, out_value: Array, out: Array) -> None:
    np.subtract(1, out_value, out=out)
    np.multiply(out, out_value, out=out)
    np.multiply(ograd, out, out=out)


@unary(
    "hard_sigmoid",
    inplace="data",
    accepts="floating",
    cost=3,
    contract=Contract(reference=lambda data, alpha, beta: np.minimum(np.maximum(alpha * data + beta, 0), 1)),
)
def hard_sigmoid(
    data: Array,
    alpha: float = param(float, 0.2, doc="Slope."),
    beta: float = param(float, 0.5, doc="Value at 0."),
    *,
    out: Array,
) -> None:
    """`alpha * x + beta` of every element, kept between 0 and 1.

    Shapes:
        data: (...)
        output: (...)

    Example:
        >>> import operad as od
        >>> od.nd.hard_sigmoid(od.nd.array([-3, 1, 3])).asnumpy()
        array([0. , 0.7, 1. ], dtype=float32)
    """
    np.multiply(data, alpha, out=out)
    np.add(out, beta, out=out)
    np.clip(out, 0, 1, out=out)


@hard_sigmoid.gradient(inplace=("ograd", "out_value"))
def _(ograd: Array, out_value: Array, alpha: float, out: Array) -> None:
    between = np.logical_and(out_value > 0, out_value < 1)
    np.multiply(ograd, alpha, out=out)
    np.multiply(out, between, out=out)


@unary(
    "softsign",
    inplace="data",
    accepts="floating",
    cost=3,
    contract=Contract(reference=lambda data: np.where(data < 0, data / (1 - data), data / (1 + data))),
)
def softsign(data: Array, out: Array) -> None:
    """`x / (1 + |x|)` of every element.

    Shapes:
        data: (...)
        output: (...)

    Example:
        >>> import operad as od
        >>> od.nd.softsign(od.nd.array([-1, 0, 3])).asnumpy()
        array([-0.5 ,  0.  ,  0.75], dtype=float32)
    """
    scale = np.empty_like(data)  # a 0-d result would be a number, which has no memory to write
    np.absolute(data, out=scale)
    np.add(scale, 1, out=scale)
    np.divide(data, scale, out=out)


@softsign.gradient(inplace="out_value")
def _(ograd: Array, out_value: Array, out: Array) -> None:
    np.absolute(out_value, out=out)  # 1 - |y| is 1 / (1 + |x|), whose square is the slope
    np.subtract(1, out, out=out)
    np.square(out, out=out)
    np.multiply(ograd, out, out=out)
