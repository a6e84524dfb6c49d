"""Squares, roots and reciprocals. All but the square's gradient read the value, not the argument."""

from __future__ import annotations

import numpy as np

from operad_elemwise.families import of_one, of_real

square = of_one(
    "square", np.square, "`y = x^2`; `dy/dx = 2 x`.", ("[-2, 3]", "[4., 9.]"),
    lambda output_grad, data, data_grad: np.multiply(np.multiply(output_grad, data, data_grad), 2, data_grad),
    "output_grad, data", reference=lambda data: data * data,
)  # fmt: skip
sqrt = of_real(
    "sqrt", np.sqrt, "`y = sqrt x`; `dy/dx = 1 / (2 y)`.", ("[4, 9]", "[2., 3.]"),
    lambda output_grad, output, data_grad: np.multiply(
        np.divide(output_grad, output, data_grad), 0.5, data_grad
    ),
    "output_grad, output", reference=lambda data: np.exp(np.log(data) / 2),
)  # fmt: skip
rsqrt = of_real(
    "rsqrt", lambda data, output: np.divide(1, np.sqrt(data, output), output),
    "`y = 1 / sqrt x`; `dy/dx = -y^3 / 2`.", ("[4, 16]", "[0.5 , 0.25]"),
    # the magnitude once, for the sign of the infinite gradient at -0
    lambda output_grad, output: -0.5 * output_grad * np.absolute(output) * output * output, "output_grad",
    reference=lambda data: np.where(data < 0, np.nan, np.abs(data) ** -0.5),
)  # fmt: skip
cbrt = of_real(
    "cbrt", np.cbrt, "`y = x^(1/3)`; `dy/dx = 1 / (3 y^2)`.", ("[-8, 27]", "[-2.,  3.]"),
    lambda output_grad, output: output_grad / output / output / 3, "output_grad",
    reference=lambda data: np.copysign(np.abs(data) ** (1 / 3), data),
)  # fmt: skip
rcbrt = of_real(
    "rcbrt", lambda data, output: np.divide(1, np.cbrt(data, output), output),
    "`y = x^(-1/3)`; `dy/dx = -y^4 / 3`.", ("[-8, 64]", "[-0.5 ,  0.25]"),
    lambda output_grad, output: -output_grad * np.square(np.square(output) * 3**-0.5), "output_grad",
    reference=lambda data: np.copysign(np.abs(data) ** (-1 / 3), data),
)  # fmt: skip
reciprocal = of_real(
    "reciprocal", np.reciprocal, "`y = 1 / x`; `dy/dx = -y^2`.", ("[-2, 4]", "[-0.5 ,  0.25]"),
    lambda output_grad, output: -output_grad * output * output, "output_grad",
    reference=lambda data: data**-1.0,
)  # fmt: skip
