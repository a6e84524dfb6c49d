"""Functions with bounds: relu, sigmoid, hard_sigmoid, softsign, clip."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from operad_elemwise.families import of_floats, of_one, of_real
from operad_sdk import Contract, param

relu = of_one(
    "relu", lambda data, output: np.maximum(data, 0, out=output),
    "`y = max(x, 0)`; `dy/dx = 1` where `y > 0`, else 0.", ("[-2, 3]", "[0., 3.]"),
    lambda output_grad, output, data_grad: np.multiply(
        output_grad, np.heaviside(output, 0, data_grad), data_grad
    ), "output", reference=lambda data: (data + np.abs(data)) / 2,
)  # fmt: skip


_LOGISTIC_IS_1: Final = 40.0
"""Argument from which 1 is the nearest float64, far below those whose exponential overflows a float32."""


def _logistic(data: Any, output: Any) -> None:
    """Logistic function as `t / (1 + t)` with `t = e^x`, so that `t` alone is left where it is small."""
    tail = np.exp(np.minimum(data, _LOGISTIC_IS_1, out=output), output)
    np.divide(tail, np.add(tail, 1), output)


sigmoid = of_real(
    "sigmoid", _logistic, "`y = 1 / (1 + e^-x)`; `dy/dx = y (1 - y)`.",
    ("[-200, 0, 1]", "[0.    , 0.5   , 0.7311]"),
    lambda output_grad, output, data_grad: np.multiply(
        output_grad, np.multiply(np.subtract(1, output, data_grad), output, data_grad), data_grad
    ),
    reference=lambda data: (1 + np.tanh(data / 2)) / 2, element_cost=3,
)  # fmt: skip
hard_sigmoid = of_one(
    "hard_sigmoid",
    lambda data, alpha, beta, output: np.minimum(np.maximum(alpha * data + beta, 0), 1, out=output),
    "`y = alpha x + beta`, kept between 0 and 1; `dy/dx = alpha` between them, else 0.",
    ("[-3, 1, 3]", "[0. , 0.7, 1. ]"),
    lambda output_grad, output, alpha: output_grad * alpha * ((output > 0) & (output < 1)),
    "output_grad, output",
    params={"alpha": param(float, 0.2, doc="Slope."), "beta": param(float, 0.5, doc="Value at 0.")},
    accepts="floating", element_cost=2,
    reference=lambda data, alpha, beta: np.minimum(np.maximum(alpha * data + beta, 0), 1),
)  # fmt: skip
softsign = of_real(
    "softsign", lambda data: data / (1 + np.absolute(data)),
    "`y = x / (1 + |x|)`; `dy/dx = 1 / (1 + |x|)^2`.", ("[-1, 0, 3]", "[-0.5 ,  0.  ,  0.75]"),
    lambda output_grad, data: output_grad / np.square(1 + np.absolute(data)), "output_grad, data",
    reference=lambda data: np.where(data < 0, data / (1 - data), data / (1 + data)),
)  # fmt: skip


def _clip(data: Any, a_min: float, a_max: float, output: Any) -> None:
    """Clip between bounds; where these cross, the bound that `data` lies beyond wins, the upper one first."""
    lower, upper = _as_element(a_min, data.dtype), _as_element(a_max, data.dtype)
    is_above = data > upper
    np.copyto(np.maximum(data, lower, out=output), upper, where=is_above)


def _as_element(bound: float, dtype: Any) -> float:
    """Bound as the element type holds it; integers cannot hold every number."""
    if dtype.kind == "f":
        return bound
    limits = np.iinfo(dtype)
    return int(min(max(bound, limits.min), limits.max))


clip = of_one(
    "clip", _clip, "`x`, or the bound that it lies beyond; `dy/dx = 1` from bound to bound, else 0.",
    ("[-3, 1, 3]", "a_min=-1", "a_max=2", "[-1.,  1.,  2.]"),
    # mutant: =: equivalent, because at a bound any slope between is right
    lambda output_grad, data, a_min, a_max: output_grad * ~((data < a_min) | (data > a_max)),
    "output_grad, data",
    params={"a_min": param(float, doc="Smallest value."), "a_max": param(float, doc="Largest value.")},

    # bounds that are equal make it a constant that has no slope anywhere
    contract=Contract(
        params={"a_min": (-1.0, -0.5, 0.0), "a_max": (1.0, 0.5, 2.0)},
        param_sets=[{"a_min": 0.5, "a_max": -0.5}],
        reference=lambda data, a_min, a_max: np.where(
            data > a_max, a_max, np.where(data < a_min, a_min, data)
        ),
    ),
)  # fmt: skip


def _mish_parts(data: Any) -> tuple[Any, Any]:
    """`e^x` and `e^x (e^x + 2)`, of `x` at most 40, from where on the function is `x` itself."""
    growth = np.exp(np.minimum(data, _LOGISTIC_IS_1))
    return growth, growth * (growth + 2)


def _mish(data: Any) -> Any:
    _, product = _mish_parts(data)
    return data * (product / (product + 2))


def _mish_slope(output_grad: Any, data: Any) -> Any:
    growth, product = _mish_parts(data)
    bend = (2 * growth / (product + 2)) * (2 * (1 + growth) / (product + 2))
    return output_grad * (product / (product + 2) + data * bend)


mish = of_floats(
    "mish", _mish, "`y = x t` with `t = tanh(ln(1 + e^x))`; `dy/dx = t + x (1 - t^2) / (1 + e^-x)`.",
    ("[-1, 0, 2]", "[-0.3034,  0.    ,  1.944 ]"), _mish_slope,
    lambda data: data * np.tanh(np.logaddexp(0, data)), element_cost=4,
    source="Misra, Mish: A Self Regularized Non-Monotonic Activation Function, equation 1.",
)  # fmt: skip
hard_swish = of_floats(
    "hard_swish", lambda data: np.where(data <= -3, 0, data * (np.minimum(data + 3, 6) / 6)),
    "`y = x r / 6` with `r = x + 3`, kept between 0 and 6; `dy/dx = (2 x + 3) / 6` there, 0 below, 1 above.",
    ("[-4, -1, 1, 4]", "[ 0.    , -0.3333,  0.6667,  4.    ]"),
    lambda output_grad, data: output_grad * np.where(
        data >= 3, 1, np.where(data > -3, (2 * data + 3) / 6, 0)
    ), lambda data: np.where(data < -3, 0, np.where(data > 3, data, data * (data + 3) / 6)), element_cost=2,
    source="Howard et al., Searching for MobileNetV3, section 5.2.",
)  # fmt: skip
