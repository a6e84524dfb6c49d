"""Rounding to whole numbers, which is flat: none of these has a gradient.

They differ in what they make of a half: `round` moves it away from 0, `rint` down, as in MXNet 1.x
(and unlike `numpy.rint`, which moves it to the even neighbour). `fix` is another name of `trunc`.
"""

from __future__ import annotations

import numpy as np

from operad_elemwise.documentation import unary_doc
from operad_sdk import Array, Contract, from_ufunc, unary

ceil = from_ufunc(
    np.ceil,
    accepts="number",
    contract=Contract(reference=lambda data: -(-data // 1)),
    doc=unary_doc("ceil", "Every element rounded up.", "[-1.5, 1.5]", "[-1.,  2.]"),
)

floor = from_ufunc(
    np.floor,
    accepts="number",
    contract=Contract(reference=lambda data: data // 1),
    doc=unary_doc("floor", "Every element rounded down.", "[-1.5, 1.5]", "[-2.,  1.]"),
)

trunc = from_ufunc(
    np.trunc,
    accepts="number",
    contract=Contract(reference=lambda data: data - np.fmod(data, 1)),
    doc=unary_doc("trunc", "Every element rounded towards 0.", "[-1.5, 1.5]", "[-1.,  1.]"),
)

fix = from_ufunc(
    np.trunc,
    name="fix",
    accepts="number",
    contract=Contract(reference=lambda data: data - np.fmod(data, 1)),
    doc=unary_doc("fix", "Every element rounded towards 0.", "[-1.5, 1.5]", "[-1.,  1.]"),
)


@unary(
    "round",
    accepts="number",
    cost=4,
    contract=Contract(reference=lambda data: np.copysign(np.floor(np.abs(data) + 0.5), data)),
)
def round_(data: Array, out: Array) -> None:
    """Every element rounded to the nearest whole number; halves away from 0.

    Shapes:
        data: (...)
        output: (...)

    Example:
        >>> import operad as od
        >>> od.nd.round(od.nd.array([-1.5, 1.5, 1.9, 2.1])).asnumpy()
        array([-2.,  2.,  2.,  2.], dtype=float32)
    """
    np.trunc(data, out=out)
    fraction = np.empty_like(out)
    # exact: a number and its whole part are multiples of the same unit in the last place
    np.subtract(data, out, out=fraction)
    np.trunc(np.multiply(fraction, 2, out=fraction), out=fraction)
    np.add(out, fraction, out=out)


@unary("rint", accepts="number", cost=4, contract=Contract(reference=lambda data: np.ceil(data - 0.5)))
def rint(data: Array, out: Array) -> None:
    """Every element rounded to the nearest whole number; halves down.

    Shapes:
        data: (...)
        output: (...)

    Example:
        >>> import operad as od
        >>> od.nd.rint(od.nd.array([-1.5, 1.5, 1.9, 2.1])).asnumpy()
        array([-2.,  1.,  2.,  2.], dtype=float32)

    Source: mshadow_op::rint, src/operator/mshadow_op.h.
    """
    np.trunc(data, out=out)
    fraction = np.subtract(data, out)  # exact, which the distance from the floor is not
    np.add(out, fraction > 0.5, out=out)
    np.subtract(out, (fraction <= -0.5).astype(out.dtype), out=out)
