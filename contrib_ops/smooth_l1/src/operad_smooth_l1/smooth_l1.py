"""`smooth_l1`: quadratic near zero, linear beyond."""

from __future__ import annotations

import numpy as np

from operad_sdk import Array, Contract, Scalar, mapper, sign, unary


@mapper
def huber(a: float, sigma: float) -> float:
    """The value at one point, where `sigma^2` may be beyond the range though `sigma a` is not."""
    scaled = sigma * a
    if abs(scaled * sigma) > 1:
        return abs(a) - 0.5 / (sigma * sigma)
    return 0.5 * scaled * scaled


@mapper
def huber_gradient(head: float, a: float, sigma: float) -> float:
    """The gradient with respect to the output times the slope: `sigma^2 a` within, the sign of `a` beyond."""
    slope = sigma * a * sigma
    if abs(slope) > 1:
        return head * sign(a)  # mutant: equivalent, because the sign is 1 or -1 there
    return head * slope


def _integral_of_slope(data: Array, scalar: float) -> Array:
    """Area under the slope, which grows to 1 and stays there: a triangle, then a rectangle."""
    with np.errstate(divide="ignore"):
        rising = np.minimum(np.abs(data), np.divide(1, scalar**2))
    return rising * rising * scalar**2 / 2 + (np.abs(data) - rising)


@unary(
    "smooth_l1",
    accepts="number",
    integers_as="float64",
    element_cost=0.3,
    scalar=Scalar("sigma", default=1.0, doc="The pieces meet where |x| is 1 / sigma²."),
    contract=Contract(reference=_integral_of_slope),
)
def smooth_l1(x: Array, sigma: float, output: Array) -> None:
    """sigma² x² / 2 where |x| <= 1 / sigma², and |x| - 1 / (2 sigma²) beyond.

    Shapes:
        data: Any.
        output: As data.

    Example:
        >>> import operad as od
        >>> od.nd.smooth_l1(od.nd.array([-2, 0.5, 3]), scalar=1.0).asnumpy()
        array([1.5  , 0.125, 2.5  ], dtype=float32)

    Source: smooth_l1, src/operator/tensor/elemwise_binary_scalar_op_extended.cc.
    """
    huber.map(x, sigma, out=output)


@smooth_l1.gradient(inplace="output_grad")
def _(output_grad: Array, x: Array, sigma: float, x_grad: Array) -> None:
    huber_gradient.map(output_grad, x, sigma, out=x_grad)
