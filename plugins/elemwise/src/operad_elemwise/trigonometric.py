"""Trigonometric and hyperbolic functions, their inverses, and the two units of angle."""

from __future__ import annotations

import math

import numpy as np

from operad_elemwise.families import of_real

sin = of_real(
    "sin", np.sin, "`y = sin x`; `dy/dx = cos x`.", ("[0, 1]", "[0.    , 0.8415]"),
    lambda output_grad, data, data_grad: np.multiply(output_grad, np.cos(data, data_grad), data_grad), "data",
    reference=lambda data: np.exp(1j * data).imag,
)  # fmt: skip
cos = of_real(
    "cos", np.cos, "`y = cos x`; `dy/dx = -sin x`.", ("[0, 1]", "[1.    , 0.5403]"),
    lambda output_grad, data: -output_grad * np.sin(data), "output_grad, data",
    reference=lambda data: np.exp(1j * data).real,
)  # fmt: skip
tan = of_real(
    "tan", np.tan, "`y = tan x`; `dy/dx = 1 + y^2`.", ("[0, 1]", "[0.    , 1.5574]"),
    lambda output_grad, output: output_grad * (1 + np.square(output)), "output_grad, output",
    reference=lambda data: np.sin(data) / np.cos(data),
)  # fmt: skip
arcsin = of_real(
    "arcsin", np.arcsin, "The angle whose sine `x` is; `dy/dx = 1 / sqrt(1 - x^2)`.",
    ("[0, 1]", "[0.    , 1.5708]"),
    lambda output_grad, data: output_grad / np.sqrt((1 - data) * (1 + data)), "output_grad, data",
    reference=lambda data: np.arctan2(data, np.sqrt(1 - data**2)),
)  # fmt: skip
arccos = of_real(
    "arccos", np.arccos, "The angle whose cosine `x` is; `dy/dx = -1 / sqrt(1 - x^2)`.",
    ("[0, 1]", "[1.5708, 0.    ]"),
    lambda output_grad, data: -output_grad / np.sqrt((1 - data) * (1 + data)), "output_grad, data",
    reference=lambda data: np.arctan2(np.sqrt(1 - data**2), data),
)  # fmt: skip
arctan = of_real(
    "arctan", np.arctan, "The angle whose tangent `x` is; `dy/dx = 1 / (1 + x^2)`.",
    ("[0, 1]", "[0.    , 0.7854]"),
    lambda output_grad, data: output_grad / (1 + np.square(data)), "output_grad, data",
    reference=lambda data: np.angle(1 + 1j * data),
)  # fmt: skip
degrees = of_real(
    # not np.degrees, whose factor in float32 is not the one nearest to 180 / pi
    "degrees", lambda data, output: np.multiply(data, 180 / math.pi, output),
    "`y = 180 x / pi`; `dy/dx = 180 / pi`.", ("[0, 1]", "[ 0.    , 57.2958]"),
    lambda output_grad, data_grad: np.multiply(output_grad, 180 / math.pi, data_grad), "output_grad",
    reference=lambda data: data / np.pi * 180,
)  # fmt: skip
radians = of_real(
    "radians", np.radians, "`y = pi x / 180`; `dy/dx = pi / 180`.", ("[0, 180]", "[0.    , 3.1416]"),
    lambda output_grad, data_grad: np.multiply(output_grad, math.pi / 180, data_grad), "output_grad",
    reference=lambda data: data / 180 * np.pi,
)  # fmt: skip
sinh = of_real(
    "sinh", np.sinh, "`y = (e^x - e^-x) / 2`; `dy/dx = cosh x`.", ("[0, 1]", "[0.    , 1.1752]"),
    lambda output_grad, data: output_grad * np.cosh(data), "output_grad, data",
    reference=lambda data: (np.exp(data) - np.exp(-data)) / 2,
)  # fmt: skip
cosh = of_real(
    "cosh", np.cosh, "`y = (e^x + e^-x) / 2`; `dy/dx = sinh x`.", ("[0, 1]", "[1.    , 1.5431]"),
    lambda output_grad, data: output_grad * np.sinh(data), "output_grad, data",
    reference=lambda data: (np.exp(data) + np.exp(-data)) / 2,
)  # fmt: skip
tanh = of_real(
    "tanh", np.tanh, "`y = sinh x / cosh x`; `dy/dx = 1 - y^2`.", ("[0, 1]", "[0.    , 0.7616]"),
    lambda output_grad, output, data_grad: np.multiply(
        output_grad, np.subtract(1, np.square(output, data_grad), data_grad), data_grad
    ), "output",
    reference=lambda data: 1 - 2 / (np.exp(2 * data) + 1),
)  # fmt: skip
arcsinh = of_real(
    "arcsinh", np.arcsinh, "`y = ln(x + sqrt(x^2 + 1))`; `dy/dx = 1 / sqrt(x^2 + 1)`.",
    ("[0, 1]", "[0.    , 0.8814]"),
    lambda output_grad, data: output_grad / np.hypot(data, 1), "output_grad, data",
    reference=lambda data: np.log(data + np.sqrt(data**2 + 1)),
)  # fmt: skip
arccosh = of_real(
    "arccosh", np.arccosh, "`y = ln(x + sqrt(x^2 - 1))`; `dy/dx = 1 / sqrt(x^2 - 1)`.",
    ("[1, 2]", "[0.   , 1.317]"),
    # not x^2 - 1, which overflows
    lambda output_grad, data: output_grad / (np.sqrt(np.abs(data) - 1) * np.sqrt(np.abs(data) + 1)),
    "output_grad, data",
    reference=lambda data: np.log(data + np.sqrt(data**2 - 1)),
)  # fmt: skip
arctanh = of_real(
    "arctanh", np.arctanh, "`y = ln((1 + x) / (1 - x)) / 2`; `dy/dx = 1 / (1 - x^2)`.",
    ("[0, 0.5]", "[0.    , 0.5493]"),
    lambda output_grad, data: output_grad / ((1 - data) * (1 + data)), "output_grad, data",
    reference=lambda data: np.log((1 + data) / (1 - data)) / 2,
)  # fmt: skip
