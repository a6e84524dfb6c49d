"""Hyperbolic functions and their inverses."""

from __future__ import annotations

import numpy as np

from operad_elemwise.documentation import unary_doc
from operad_sdk import Array, Contract, from_ufunc


def _times_cosh(ograd: Array, data: Array, out: Array) -> None:
    np.cosh(data, out=out)
    np.multiply(ograd, out, out=out)


def _times_sinh(ograd: Array, data: Array, out: Array) -> None:
    np.sinh(data, out=out)
    np.multiply(ograd, out, out=out)


def _times_one_minus_square(ograd: Array, out_value: Array, out: Array) -> None:
    np.square(out_value, out=out)
    np.subtract(1, out, out=out)
    np.multiply(ograd, out, out=out)


def _over_hypotenuse(ograd: Array, data: Array, out: Array) -> None:
    np.hypot(data, 1, out=out)
    np.divide(ograd, out, out=out)


def _over_root_of_square_minus_one(ograd: Array, data: Array, out: Array) -> None:
    np.square(data, out=out)
    np.subtract(out, 1, out=out)
    np.sqrt(out, out=out)
    np.divide(ograd, out, out=out)


def _over_one_minus_square(ograd: Array, data: Array, out: Array) -> None:
    np.square(data, out=out)
    np.subtract(1, out, out=out)
    np.divide(ograd, out, out=out)


sinh = from_ufunc(
    np.sinh,
    gradient=_times_cosh,
    gradient_inplace="data",
    accepts="floating",
    cost=20,
    contract=Contract(reference=lambda data: (np.exp(data) - np.exp(-data)) / 2),
    doc=unary_doc("sinh", "Hyperbolic sine of every element.", "[0, 1]", "[0.    , 1.1752]"),
)

cosh = from_ufunc(
    np.cosh,
    gradient=_times_sinh,
    gradient_inplace="data",
    accepts="floating",
    cost=20,
    contract=Contract(reference=lambda data: (np.exp(data) + np.exp(-data)) / 2),
    doc=unary_doc("cosh", "Hyperbolic cosine of every element.", "[0, 1]", "[1.    , 1.5431]"),
)

tanh = from_ufunc(
    np.tanh,
    gradient=_times_one_minus_square,
    gradient_inplace="out_value",
    accepts="floating",
    cost=12,
    contract=Contract(reference=lambda data: 1 - 2 / (np.exp(2 * data) + 1)),
    doc=unary_doc("tanh", "Hyperbolic tangent of every element.", "[0, 1]", "[0.    , 0.7616]"),
)

arcsinh = from_ufunc(
    np.arcsinh,
    gradient=_over_hypotenuse,
    gradient_inplace="data",
    accepts="floating",
    cost=20,
    contract=Contract(reference=lambda data: np.log(data + np.sqrt(data**2 + 1))),
    doc=unary_doc("arcsinh", "Inverse hyperbolic sine of every element.", "[0, 1]", "[0.    , 0.8814]"),
)

arccosh = from_ufunc(
    np.arccosh,
    gradient=_over_root_of_square_minus_one,
    gradient_inplace="data",
    accepts="floating",
    cost=20,
    contract=Contract(reference=lambda data: np.log(data + np.sqrt(data**2 - 1))),
    doc=unary_doc("arccosh", "Inverse hyperbolic cosine of every element.", "[1, 2]", "[0.   , 1.317]"),
)

arctanh = from_ufunc(
    np.arctanh,
    gradient=_over_one_minus_square,
    gradient_inplace="data",
    accepts="floating",
    cost=20,
    contract=Contract(reference=lambda data: np.log((1 + data) / (1 - data)) / 2),
    doc=unary_doc("arctanh", "Inverse hyperbolic tangent of every element.", "[0, 0.5]", "[0.    , 0.5493]"),
)
