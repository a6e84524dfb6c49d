"""Exponentials and logarithms."""

from __future__ import annotations

import math

import numpy as np

from operad_elemwise.families import of_floats, of_real

exp = of_real(
    "exp", np.exp, "`y = e^x`; `dy/dx = y`.", ("[0, 1]", "[1.    , 2.7183]"),
    lambda output_grad, output, data_grad: np.multiply(output_grad, output, data_grad), "output_grad, output",
    reference=lambda data: np.expm1(data) + 1,
)  # fmt: skip
expm1 = of_real(
    "expm1", np.expm1, "`y = e^x - 1`, exact near 0; `dy/dx = e^x`.", ("[0, 1]", "[0.    , 1.7183]"),
    # not y + 1, of which nothing is left where y is near -1
    lambda output_grad, data, data_grad: np.multiply(output_grad, np.exp(data, data_grad), data_grad),
    "data",
    reference=lambda data: np.exp(data) - 1,
)  # fmt: skip
log = of_real(
    "log", np.log, "`y = ln x`; `dy/dx = 1 / x`.", ("[1, 2]", "[0.    , 0.6931]"),
    lambda output_grad, data, data_grad: np.divide(output_grad, data, data_grad), "output_grad, data",
    reference=lambda data: np.log2(data) / np.log2(np.e),
)  # fmt: skip
log10 = of_real(
    "log10", np.log10, "`y = ln x / ln 10`; `dy/dx = 1 / (x ln 10)`.", ("[1, 100]", "[0., 2.]"),
    lambda output_grad, data: output_grad * (1 / math.log(10)) / data, "output_grad, data",
    reference=lambda data: np.log(data) / np.log(10),
)  # fmt: skip
log2 = of_real(
    "log2", np.log2, "`y = ln x / ln 2`; `dy/dx = 1 / (x ln 2)`.", ("[1, 8]", "[0., 3.]"),
    lambda output_grad, data: output_grad * (1 / math.log(2)) / data, "output_grad, data",
    reference=lambda data: np.log(data) / np.log(2),
)  # fmt: skip
log1p = of_real(
    "log1p", np.log1p, "`y = ln(1 + x)`, exact near 0; `dy/dx = 1 / (1 + x)`.",
    ("[0, 1]", "[0.    , 0.6931]"),
    lambda output_grad, data, data_grad: np.divide(output_grad, np.add(data, 1, data_grad), data_grad),
    "data",
    reference=lambda data: np.log(1 + data),
)  # fmt: skip
exp2 = of_floats(
    "exp2", np.exp2, "`y = 2^x`; `dy/dx = y ln 2`.", ("[0, 3, -1]", "[1. , 8. , 0.5]"),
    lambda output_grad, output: output_grad * (output * math.log(2)), lambda data: np.exp(data * math.log(2)),
)  # fmt: skip
