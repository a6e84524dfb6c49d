"""Signs and integers. Rounding is flat: none of its operators has a gradient.

They differ in what they make of a half: `round` moves it away from 0, `rint` down, as in MXNet 1.x
(and unlike `numpy.rint`, which moves it to the even neighbour). `fix` is another name of `trunc`.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from operad_elemwise.families import of_one
from operad_sdk import Contract


def _sign(data: Any, output: Any) -> Any:
    """-1, 0 or 1; 0 for NaN."""
    np.copyto(np.sign(data, output), 0, where=np.isnan(data))
    return output


abs_ = of_one(
    "abs", np.absolute, "`y = |x|`; `dy/dx` is the sign of `x`, 0 at 0.", ("[-2, 3]", "[2., 3.]"),
    lambda output_grad, data, data_grad: np.multiply(output_grad, _sign(data, data_grad), data_grad),
    "data",
    reference=lambda data: np.where(data < 0, -data, data),
)  # fmt: skip
negative = of_one(
    "negative", np.negative, "`y = -x`; `dy/dx = -1`.", ("[-2, 3]", "[ 2., -3.]"),
    lambda output_grad, data_grad: np.negative(output_grad, data_grad), "output_grad",
    reference=lambda data: 0 - data,
)  # fmt: skip
sign = of_one(
    "sign", _sign, "-1, 0 or 1, the sign of `x`; 0 for NaN.", ("[-2, 0, 3]", "[-1.,  0.,  1.]"),
    contract=Contract(
        nan_policy="NaN has no sign: 0, as in MXNet", reference=lambda data: (data > 0) * 1 - (data < 0) * 1
    ),
)  # fmt: skip
logical_not = of_one(
    "logical_not", np.logical_not, "1 where `x` is 0, else 0.", ("[0, 3]", "[1., 0.]"),
    accepts="any", reference=lambda data: data == 0,
)  # fmt: skip
ceil = of_one(
    "ceil", np.ceil, "The integer at or above `x`.", ("[-1.5, 1.5]", "[-1.,  2.]"),
    reference=lambda data: -(-data // 1),
)  # fmt: skip
floor = of_one(
    "floor", np.floor, "The integer at or below `x`.", ("[-1.5, 1.5]", "[-2.,  1.]"),
    reference=lambda data: data // 1,
)  # fmt: skip
trunc, fix = (
    of_one(
        name, np.trunc, "`x` rounded towards 0.", ("[-1.5, 1.5]", "[-1.,  1.]"),
        reference=lambda data: data - np.fmod(data, 1),
    )
    for name in ("trunc", "fix")
)  # fmt: skip


def _round(data: Any, output: Any, is_up: Any) -> None:
    """The whole part, and 1 more or less where the rest, which is exact, says so."""
    np.trunc(data, output)
    with np.errstate(invalid="ignore"):
        rest = data - output  # NaN at infinity, which is whole
    np.add(output, is_up(rest, 0.5), output)
    np.subtract(output, np.less_equal(rest, -0.5).astype(output.dtype), output)


round_ = of_one(
    "round", lambda data, output: _round(data, output, np.greater_equal),
    "The integer next to `x`; halves away from 0.", ("[-1.5, 1.5, 1.9, 2.1]", "[-2.,  2.,  2.,  2.]"),
    inplace="", element_cost=4, reference=lambda data: np.copysign(np.floor(np.abs(data) + 0.5), data),
)  # fmt: skip
rint = of_one(
    "rint", lambda data, output: _round(data, output, np.greater),
    "The integer next to `x`; halves down.", ("[-1.5, 1.5, 1.9, 2.1]", "[-2.,  1.,  2.,  2.]"),
    inplace="", element_cost=4, reference=lambda data: np.ceil(data - 0.5),
    source="mshadow_op::rint, src/operator/mshadow_op.h.",
)  # fmt: skip
_STRAIGHT_THROUGH: Final = "it is 1 on purpose: what is rounded can be trained"
round_ste = of_one(
    "_contrib_round_ste", lambda data, output: _round(data, output, np.greater_equal),
    "The integer next to `x`, halves away from 0; the gradient goes straight through: `dy/dx = 1`.",
    ("[-1.5, 1.5, 1.9, 2.1]", "[-2.,  2.,  2.,  2.]"), lambda output_grad: output_grad, "output_grad",
    inplace="", element_cost=4,
    contract=Contract(
        reference=lambda data: np.copysign(np.floor(np.abs(data) + 0.5), data),
        no_numeric_gradient=_STRAIGHT_THROUGH,
    ),
    source="src/operator/contrib/stes_op.cc.",
)  # fmt: skip
sign_ste = of_one(
    "_contrib_sign_ste", _sign,
    "-1, 0 or 1, the sign of `x`; 0 for NaN. The gradient goes straight through: `dy/dx = 1`.",
    ("[-2, 0, 3]", "[-1.,  0.,  1.]"), lambda output_grad: output_grad, "output_grad",
    contract=Contract(
        nan_policy="NaN has no sign: 0, as in MXNet", reference=lambda data: (data > 0) * 1 - (data < 0) * 1,
        no_numeric_gradient=_STRAIGHT_THROUGH,
    ),
    source="src/operator/contrib/stes_op.cc.",
)  # fmt: skip
