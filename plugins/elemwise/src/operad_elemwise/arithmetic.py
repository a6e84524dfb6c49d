"""Arithmetic of two arrays of one shape: `+`, `-`, `*`, `/`, `%`, `**`, hypotenuse, larger and smaller.

`elemwise_*` are the names that symbols' arithmetic has in MXNet; broadcasting is another plugin's.
"""

from __future__ import annotations

import numpy as np

from operad_elemwise.families import is_integer, of_two
from operad_sdk import Contract, Drawn, Real
from operad_sdk.quotients import divide_integers, remainder, slope_of_base, slope_of_exponent, slope_of_length

_COPIES = {"lhs": lambda output_grad: output_grad, "rhs": lambda output_grad: output_grad}

elemwise_add = of_two(
    "elemwise_add", np.add, "`y = lhs + rhs`; `d/dlhs = d/drhs = 1`.", ("[1, 2]", "[3, 4]", "[4., 6.]"),
    _COPIES, "output_grad", reference=lambda lhs, rhs: lhs + rhs,
)  # fmt: skip
grad_add = of_two(
    "_grad_add", np.add, "`y = lhs + rhs`, by which MXNet adds gradients up; `d/dlhs = d/drhs = 1`.",
    ("[1, 2]", "[3, 4]", "[4., 6.]"), _COPIES, "output_grad", reference=lambda lhs, rhs: lhs + rhs,
)  # fmt: skip
elemwise_sub = of_two(
    "elemwise_sub", np.subtract, "`y = lhs - rhs`; `d/dlhs = 1`, `d/drhs = -1`.",
    ("[1, 2]", "[3, 5]", "[-2., -3.]"),
    {"lhs": lambda output_grad: output_grad,
     "rhs": lambda output_grad, rhs_grad: np.negative(output_grad, rhs_grad)}, "output_grad",
    reference=lambda lhs, rhs: lhs - rhs,
)  # fmt: skip
elemwise_mul = of_two(
    "elemwise_mul", np.multiply, "`y = lhs * rhs`; `d/dlhs = rhs`, `d/drhs = lhs`.",
    ("[1, 2]", "[3, 5]", "[ 3., 10.]"),
    {"lhs": lambda output_grad, rhs, lhs_grad: np.multiply(output_grad, rhs, lhs_grad),
     "rhs": lambda output_grad, lhs, rhs_grad: np.multiply(output_grad, lhs, rhs_grad)},
     "output_grad, lhs, rhs",
    reference=lambda lhs, rhs: lhs * rhs,
)  # fmt: skip
elemwise_div, scatter_elemwise_div = (
    of_two(
        name, np.divide,
        "`y = lhs / rhs`, of integers rounded towards zero; `d/dlhs = 1 / rhs`, `d/drhs = -y / rhs`.",
        ("[1, 2]", "[4, 4]", "[0.25, 0.5 ]"),
        {"lhs": lambda output_grad, rhs, lhs_grad: np.divide(output_grad, rhs, lhs_grad),
         "rhs": lambda output_grad, output, rhs: -output_grad * (output / rhs)}, "output_grad",
        contract=Contract(reference=lambda lhs, rhs: lhs / rhs, undefined="0 / 0 is no number"),
    )
    for name in ("elemwise_div", "_scatter_elemwise_div")  # which MXNet has for sparse arrays
)  # fmt: skip
for _division in (elemwise_div, scatter_elemwise_div):
    _division.kernel(priority=1, when=is_integer)(divide_integers)

_BETWEEN_JUMPS = Contract(
    inputs={
        # Odd sixteenths are no multiples of eighths, where the remainder jumps and has no slope.
        "lhs": Drawn(
            lambda rng, shape, prop, shapes: (2 * rng.integers(-16, 16, shape) + 1) / 16, is_real=True
        ),
        "rhs": Real(nonzero=True),
    },
    reference=lambda lhs, rhs: np.fmod(lhs, rhs) + rhs * (np.fmod(lhs, rhs) * np.sign(rhs) < 0),
)
mod = of_two(
    "_mod", remainder,
    "`y = lhs - floor(lhs / rhs) * rhs`, 0 where `rhs` is; `d/dlhs = 1`, `d/drhs = -floor(lhs / rhs)`.",
    ("[-7, 7, 7]", "[3, 3, 0]", "[2., 1., 0.]"),
    {"lhs": lambda output_grad: output_grad,
     "rhs": lambda output_grad, lhs, rhs: -output_grad * np.floor(lhs / rhs)},
    "output_grad", element_cost=15, is_flat_for_integers=True, contract=_BETWEEN_JUMPS,
    source="mshadow_op::mod, src/operator/mshadow_op.h.",
)  # fmt: skip
power = of_two(
    "_power", np.power,
    "`y = lhs^rhs`; `d/dlhs = rhs * lhs^(rhs - 1)`, `d/drhs = y ln(lhs)`, 0 where `lhs` is.",
    ("[2, 9]", "[3, 0.5]", "[8., 3.]"),
    {"lhs": slope_of_base, "rhs": slope_of_exponent},
    "output_grad", integers_as="float64", reference=np.float_power,
)  # fmt: skip
hypot = of_two(
    "_hypot", np.hypot,
    "`y = sqrt(lhs^2 + rhs^2)`, without overflow; `d/dlhs = lhs / y`, `d/drhs = rhs / y`, 0 at 0.",
    ("[3, 5]", "[4, 12]", "[ 5., 13.]"),
    {"lhs": lambda output_grad, lhs, output: slope_of_length(output_grad, lhs, output),
     "rhs": lambda output_grad, rhs, output: slope_of_length(output_grad, rhs, output)},
    "output_grad", integers_as="float64",
    reference=lambda lhs, rhs: np.abs(lhs + 1j * rhs),
)  # fmt: skip
maximum = of_two(
    "_maximum", np.maximum,
    "`y = max(lhs, rhs)`; `d/dlhs = 1` where `lhs >= rhs`, else 0; `d/drhs = 1` where `lhs < rhs`, else 0.",
    ("[1, 4]", "[3, 2]", "[3., 4.]"),
    {"lhs": lambda output_grad, lhs, rhs, lhs_grad: np.multiply(output_grad, lhs >= rhs, lhs_grad),
     "rhs": lambda output_grad, lhs, rhs, rhs_grad: np.multiply(output_grad, lhs < rhs, rhs_grad)},
    "output_grad, lhs, rhs", accepts="any", reference=lambda lhs, rhs: np.where(lhs > rhs, lhs, rhs),
)  # fmt: skip
minimum = of_two(
    "_minimum", np.minimum,
    "`y = min(lhs, rhs)`; `d/dlhs = 1` where `lhs <= rhs`, else 0; `d/drhs = 1` where `lhs > rhs`, else 0.",
    ("[1, 4]", "[3, 2]", "[1., 2.]"),
    {"lhs": lambda output_grad, lhs, rhs, lhs_grad: np.multiply(output_grad, lhs <= rhs, lhs_grad),
     "rhs": lambda output_grad, lhs, rhs, rhs_grad: np.multiply(output_grad, lhs > rhs, rhs_grad)},
    "output_grad, lhs, rhs", accepts="any", reference=lambda lhs, rhs: np.where(lhs < rhs, lhs, rhs),
)  # fmt: skip
