"""Squares, roots and reciprocals. All but the square's gradient read the value, not the argument."""

from __future__ import annotations

import numpy as np

from operad_elemwise.documentation import unary_doc
from operad_sdk import Array, Contract, from_ufunc, unary


def _twice_data(ograd: Array, data: Array, out: Array) -> None:
    np.multiply(ograd, data, out=out)
    np.multiply(out, 2, out=out)


square = from_ufunc(
    np.square,
    gradient=_twice_data,
    gradient_inplace=("ograd", "data"),
    accepts="number",
    contract=Contract(reference=lambda data: data * data),
    doc=unary_doc("square", "Square of every element.", "[-2, 3]", "[4., 9.]"),
)


def _half_over_root(ograd: Array, out_value: Array, out: Array) -> None:
    np.divide(ograd, out_value, out=out)
    np.multiply(out, 0.5, out=out)


sqrt = from_ufunc(
    np.sqrt,
    gradient=_half_over_root,
    gradient_inplace=("ograd", "out_value"),
    accepts="floating",
    cost=2,
    contract=Contract(reference=lambda data: np.exp(np.log(data) / 2)),
    doc=unary_doc("sqrt", "Square root of every element.", "[4, 9]", "[2., 3.]"),
)


def _third_over_square(ograd: Array, out_value: Array, out: Array) -> None:
    np.divide(ograd, out_value, out=out)
    np.divide(out, out_value, out=out)
    np.multiply(out, 1 / 3, out=out)


cbrt = from_ufunc(
    np.cbrt,
    gradient=_third_over_square,
    gradient_inplace="ograd",
    accepts="floating",
    cost=20,
    contract=Contract(reference=lambda data: np.copysign(np.abs(data) ** (1 / 3), data)),
    doc=unary_doc("cbrt", "Cube root of every element.", "[-8, 27]", "[-2.,  3.]"),
)


def _minus_square(ograd: Array, out_value: Array, out: Array) -> None:
    np.multiply(ograd, out_value, out=out)
    np.multiply(out, out_value, out=out)
    np.negative(out, out=out)


@unary(
    "reciprocal",
    inplace="data",
    accepts="floating",
    cost=2,
    contract=Contract(reference=lambda data: data**-1.0),
)
def reciprocal(data: Array, out: Array) -> None:
    """One over every element.

    Shapes:
        data: (...)
        output: (...)

    Example:
        >>> import operad as od
        >>> od.nd.reciprocal(od.nd.array([-2, 4])).asnumpy()
        array([-0.5 ,  0.25], dtype=float32)
    """
    np.divide(1, data, out=out)


reciprocal.gradient(inplace="ograd")(_minus_square)


@unary(
    "rsqrt", inplace="data", accepts="floating", cost=4, contract=Contract(reference=lambda data: data**-0.5)
)
def rsqrt(data: Array, out: Array) -> None:
    """One over the square root of every element.

    Shapes:
        data: (...)
        output: (...)

    Example:
        >>> import operad as od
        >>> od.nd.rsqrt(od.nd.array([4, 16])).asnumpy()
        array([0.5 , 0.25], dtype=float32)
    """
    np.sqrt(data, out=out)
    np.divide(1, out, out=out)


@rsqrt.gradient(inplace="ograd")
def _(ograd: Array, out_value: Array, out: Array) -> None:
    np.multiply(ograd, out_value, out=out)
    np.multiply(out, out_value, out=out)
    np.multiply(out, out_value, out=out)
    np.multiply(out, -0.5, out=out)


@unary(
    "rcbrt",
    inplace="data",
    accepts="floating",
    cost=22,
    contract=Contract(reference=lambda data: np.copysign(np.abs(data) ** (-1 / 3), data)),
)
def rcbrt(data: Array, out: Array) -> None:
    """One over the cube root of every element.

    Shapes:
        data: (...)
        output: (...)

    Example:
        >>> import operad as od
        >>> od.nd.rcbrt(od.nd.array([-8, 64])).asnumpy()
        array([-0.5 ,  0.25], dtype=float32)
    """
    np.cbrt(data, out=out)
    np.divide(1, out, out=out)


@rcbrt.gradient(inplace="out_value")
def _(ograd: Array, out_value: Array, out: Array) -> None:
    np.square(out_value, out=out)
    np.square(out, out=out)
    np.multiply(ograd, out, out=out)
    np.multiply(out, -1 / 3, out=out)
