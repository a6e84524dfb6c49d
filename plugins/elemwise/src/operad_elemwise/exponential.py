"""Exponentials and logarithms."""

from __future__ import annotations

import math

import numpy as np

from operad_elemwise.documentation import unary_doc
from operad_sdk import Array, Contract, from_ufunc


def _times_value(ograd: Array, out_value: Array, out: Array) -> None:
    np.multiply(ograd, out_value, out=out)


def _times_value_plus_one(ograd: Array, out_value: Array, out: Array) -> None:
    np.add(out_value, 1, out=out)
    np.multiply(ograd, out, out=out)


def _over_data(ograd: Array, data: Array, out: Array) -> None:
    np.divide(ograd, data, out=out)


def _over_data_times_ln10(ograd: Array, data: Array, out: Array) -> None:
    np.divide(ograd, data, out=out)
    np.multiply(out, 1 / math.log(10), out=out)


def _over_data_times_ln2(ograd: Array, data: Array, out: Array) -> None:
    np.divide(ograd, data, out=out)
    np.multiply(out, 1 / math.log(2), out=out)


def _over_data_plus_one(ograd: Array, data: Array, out: Array) -> None:
    np.add(data, 1, out=out)
    np.divide(ograd, out, out=out)


exp = from_ufunc(
    np.exp,
    gradient=_times_value,
    gradient_inplace=("ograd", "out_value"),
    accepts="floating",
    cost=8,
    contract=Contract(reference=lambda data: np.expm1(data) + 1),
    doc=unary_doc("exp", "e to the power of every element.", "[0, 1]", "[1.    , 2.7183]"),
)

expm1 = from_ufunc(
    np.expm1,
    gradient=_times_value_plus_one,
    gradient_inplace="out_value",
    accepts="floating",
    cost=16,
    contract=Contract(reference=lambda data: np.exp(data) - 1),
    doc=unary_doc("expm1", "`exp(x) - 1` of every element, exact near 0.", "[0, 1]", "[0.    , 1.7183]"),
)

log = from_ufunc(
    np.log,
    gradient=_over_data,
    gradient_inplace=("ograd", "data"),
    accepts="floating",
    cost=8,
    contract=Contract(reference=lambda data: np.log2(data) / np.log2(np.e)),
    doc=unary_doc("log", "Natural logarithm of every element.", "[1, 2]", "[0.    , 0.6931]"),
)

log10 = from_ufunc(
    np.log10,
    gradient=_over_data_times_ln10,
    gradient_inplace=("ograd", "data"),
    accepts="floating",
    cost=16,
    contract=Contract(reference=lambda data: np.log(data) / np.log(10)),
    doc=unary_doc("log10", "Logarithm of every element to base 10.", "[1, 100]", "[0., 2.]"),
)

log2 = from_ufunc(
    np.log2,
    gradient=_over_data_times_ln2,
    gradient_inplace=("ograd", "data"),
    accepts="floating",
    cost=16,
    contract=Contract(reference=lambda data: np.log(data) / np.log(2)),
    doc=unary_doc("log2", "Logarithm of every element to base 2.", "[1, 8]", "[0., 3.]"),
)

log1p = from_ufunc(
    np.log1p,
    gradient=_over_data_plus_one,
    gradient_inplace="data",
    accepts="floating",
    cost=16,
    contract=Contract(reference=lambda data: np.log(1 + data)),
    doc=unary_doc("log1p", "`log(1 + x)` of every element, exact near 0.", "[0, 1]", "[0.    , 0.6931]"),
)
