"""Sign, absolute value, negative, and logical not."""

from __future__ import annotations

import numpy as np

from operad_elemwise.documentation import unary_doc
from operad_sdk import Array, Contract, from_ufunc


def _times_sign(ograd: Array, data: Array, out: Array) -> None:
    np.sign(data, out=out)
    np.multiply(ograd, out, out=out)


def _negated(ograd: Array, out: Array) -> None:
    np.negative(ograd, out=out)


abs_ = from_ufunc(
    np.absolute,
    name="abs",
    gradient=_times_sign,
    gradient_inplace="data",
    accepts="number",
    contract=Contract(reference=lambda data: np.where(data < 0, -data, data)),
    doc=unary_doc("abs", "Absolute value of every element; flat at 0.", "[-2, 3]", "[2., 3.]"),
)

sign = from_ufunc(
    np.sign,
    accepts="number",
    contract=Contract(reference=lambda data: (data > 0) * 1 - (data < 0) * 1),
    doc=unary_doc("sign", "-1, 0 or 1, the sign of every element.", "[-2, 0, 3]", "[-1.,  0.,  1.]"),
)

negative = from_ufunc(
    np.negative,
    gradient=_negated,
    gradient_inplace="ograd",
    accepts="number",
    contract=Contract(reference=lambda data: 0 - data),
    doc=unary_doc("negative", "Every element with its sign changed.", "[-2, 3]", "[ 2., -3.]"),
)

logical_not = from_ufunc(
    np.logical_not,
    contract=Contract(reference=lambda data: data == 0),
    doc=unary_doc("logical_not", "1 where the element is 0, else 0.", "[0, 3]", "[1., 0.]"),
)
