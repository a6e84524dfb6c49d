"""Smooth rectifiers, and the gated units made of them: `silu`, `gelu_tanh`, `swiglu`, `geglu`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from operad_sdk import UNARY, Array, Contract, OperatorProperty, define

_LOGISTIC_IS_1: Final = 40.0
"""Argument from which 1 is the nearest float64, far below those whose exponential overflows a float32."""
_ROOT_2_OVER_PI: Final = 0.79788456080286535588
_CUBE: Final = 0.044715
_LARGEST_SQUARE: Final = 1e6
"""Square far beyond those from which slopes are 0 and 1; larger ones may overflow."""


def _logistic(x: Array) -> Array:
    tail = np.exp(np.minimum(x, _LOGISTIC_IS_1))
    return tail / (1 + tail)


def _silu(x: Array) -> Array:
    return x * _logistic(x)


def _silu_slope(x: Array) -> Array:
    s = _logistic(x)
    return s + x * s * (1 - s)


def _gelu(x: Array) -> Array:
    """`1 + tanh(u)` is `2 logistic(2 u)`, which has digits left where `tanh(u)` is nearly -1."""
    square = np.minimum(x * x, _LARGEST_SQUARE)
    return x * _logistic(2 * _ROOT_2_OVER_PI * x * (1 + _CUBE * square))


def _gelu_slope(x: Array) -> Array:
    square = np.minimum(x * x, _LARGEST_SQUARE)
    s = _logistic(2 * _ROOT_2_OVER_PI * x * (1 + _CUBE * square))
    return s + x * s * (1 - s) * (2 * _ROOT_2_OVER_PI) * (1 + 3 * _CUBE * square)


def _silu_reference(x: Array) -> Array:
    return x / (1 + np.exp(-x))


def _gelu_reference(x: Array) -> Array:
    return x * (1 + np.tanh(_ROOT_2_OVER_PI * (x + _CUBE * x**3))) / 2


def _unit(
    name: str, unit: Callable[[Array], Array], slope: Callable[[Array], Array],
    reference: Callable[[Array], Array], summary: str, result: str, source: str, cost: float,
) -> type[OperatorProperty]:  # fmt: skip
    return define(
        name, UNARY, lambda data: unit(data), lambda output_grad, data: output_grad * slope(data),
        summary=summary, example=("[-1, 0, 3]", result), reference=reference, source=source,
        accepts="floating", compute_dtype="float32", element_cost=cost,
    )  # fmt: skip


def _gated(
    name: str, unit: Callable[[Array], Array], slope: Callable[[Array], Array],
    reference: Callable[[Array], Array], summary: str, result: str, equation: int, cost: float,
) -> type[OperatorProperty]:  # fmt: skip
    return define(
        name, "gate:(...), value:(...) -> output:(...)", lambda gate, value: unit(gate) * value,
        {
            "gate": lambda output_grad, gate, value: output_grad * (value * slope(gate)),
            "value": lambda output_grad, gate: output_grad * unit(gate),
        },
        summary=summary, example=("[-1, 0, 3]", "[2, 2, 2]", result),
        contract=Contract(reference=lambda gate, value: reference(gate) * value),
        source=f"Shazeer, GLU Variants Improve Transformer, equation {equation}, without its products.",
        accepts="floating", compute_dtype="float32", element_cost=cost,
    )  # fmt: skip


silu = _unit(
    "silu", _silu, _silu_slope, _silu_reference,
    "`y = x s(x)` with `s(x) = 1 / (1 + e^-x)`; `dy/dx = s + x s (1 - s)`.", "[-0.2689,  0.    ,  2.8577]",
    "Hendrycks and Gimpel, Gaussian Error Linear Units, section 2.", 3.0,
)  # fmt: skip
gelu_tanh = _unit(
    "gelu_tanh", _gelu, _gelu_slope, _gelu_reference,
    "`y = x (1 + tanh(u)) / 2` with `u = sqrt(2 / pi) (x + 0.044715 x^3)`; "
    "`dy/dx = s + 2 x s (1 - s) du/dx` with `s = 1 / (1 + e^-2u)`.", "[-0.1588,  0.    ,  2.9964]",
    "Hendrycks and Gimpel, Gaussian Error Linear Units, section 2.", 6.0,
)  # fmt: skip
swiglu = _gated(
    "swiglu", _silu, _silu_slope, _silu_reference,
    "`silu(gate) value`; the gradients are `value silu'(gate)` and `silu(gate)`.",
    "[-0.5379,  0.    ,  5.7154]", 6, 3.5,
)  # fmt: skip
geglu = _gated(
    "geglu", _gelu, _gelu_slope, _gelu_reference,
    "`gelu_tanh(gate) value`; the gradients are `value gelu_tanh'(gate)` and `gelu_tanh(gate)`.",
    "[-0.3176,  0.    ,  5.9927]", 6, 6.5,
)  # fmt: skip
