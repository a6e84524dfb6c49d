"""Trigonometric functions, their inverses, and the two units of angle."""

from __future__ import annotations

import math

import numpy as np

from operad_elemwise.documentation import unary_doc
from operad_sdk import Array, Contract, from_ufunc


def _times_cosine(ograd: Array, data: Array, out: Array) -> None:
    np.cos(data, out=out)
    np.multiply(ograd, out, out=out)


def _times_minus_sine(ograd: Array, data: Array, out: Array) -> None:
    np.sin(data, out=out)
    np.multiply(ograd, out, out=out)
    np.negative(out, out=out)


def _times_one_plus_square(ograd: Array, out_value: Array, out: Array) -> None:
    np.square(out_value, out=out)
    np.add(out, 1, out=out)
    np.multiply(ograd, out, out=out)


def _over_chord(ograd: Array, data: Array, out: Array) -> None:
    np.square(data, out=out)
    np.subtract(1, out, out=out)
    np.sqrt(out, out=out)
    np.divide(ograd, out, out=out)


def _over_minus_chord(ograd: Array, data: Array, out: Array) -> None:
    _over_chord(ograd, data, out)
    np.negative(out, out=out)


def _over_one_plus_square(ograd: Array, data: Array, out: Array) -> None:
    np.square(data, out=out)
    np.add(out, 1, out=out)
    np.divide(ograd, out, out=out)


def _in_degrees(ograd: Array, out: Array) -> None:
    np.multiply(ograd, 180 / math.pi, out=out)


def _in_radians(ograd: Array, out: Array) -> None:
    np.multiply(ograd, math.pi / 180, out=out)


sin = from_ufunc(
    np.sin,
    gradient=_times_cosine,
    gradient_inplace="data",
    accepts="floating",
    cost=10,
    contract=Contract(reference=lambda data: np.exp(1j * data).imag),
    doc=unary_doc("sin", "Sine of every element, an angle in radians.", "[0, 1]", "[0.    , 0.8415]"),
)

cos = from_ufunc(
    np.cos,
    gradient=_times_minus_sine,
    gradient_inplace="data",
    accepts="floating",
    cost=10,
    contract=Contract(reference=lambda data: np.exp(1j * data).real),
    doc=unary_doc("cos", "Cosine of every element, an angle in radians.", "[0, 1]", "[1.    , 0.5403]"),
)

tan = from_ufunc(
    np.tan,
    gradient=_times_one_plus_square,
    gradient_inplace="out_value",
    accepts="floating",
    cost=20,
    contract=Contract(reference=lambda data: np.sin(data) / np.cos(data)),
    doc=unary_doc("tan", "Tangent of every element, an angle in radians.", "[0, 1]", "[0.    , 1.5574]"),
)

arcsin = from_ufunc(
    np.arcsin,
    gradient=_over_chord,
    gradient_inplace="data",
    accepts="floating",
    cost=20,
    contract=Contract(reference=lambda data: np.arctan2(data, np.sqrt(1 - data**2))),
    doc=unary_doc("arcsin", "Angle in radians whose sine every element is.", "[0, 1]", "[0.    , 1.5708]"),
)

arccos = from_ufunc(
    np.arccos,
    gradient=_over_minus_chord,
    gradient_inplace="data",
    accepts="floating",
    cost=20,
    contract=Contract(reference=lambda data: np.arctan2(np.sqrt(1 - data**2), data)),
    doc=unary_doc("arccos", "Angle in radians whose cosine every element is.", "[0, 1]", "[1.5708, 0.    ]"),
)

arctan = from_ufunc(
    np.arctan,
    gradient=_over_one_plus_square,
    gradient_inplace="data",
    accepts="floating",
    cost=20,
    contract=Contract(reference=lambda data: np.angle(1 + 1j * data)),
    doc=unary_doc("arctan", "Angle in radians whose tangent every element is.", "[0, 1]", "[0.    , 0.7854]"),
)

degrees = from_ufunc(
    np.degrees,
    gradient=_in_degrees,
    gradient_inplace="ograd",
    accepts="floating",
    contract=Contract(reference=lambda data: data / np.pi * 180),
    doc=unary_doc("degrees", "Every angle in degrees, given in radians.", "[0, 1]", "[ 0.    , 57.2958]"),
)

radians = from_ufunc(
    np.radians,
    gradient=_in_radians,
    gradient_inplace="ograd",
    accepts="floating",
    contract=Contract(reference=lambda data: data / 180 * np.pi),
    doc=unary_doc("radians", "Every angle in radians, given in degrees.", "[0, 180]", "[0.    , 3.1416]"),
)
