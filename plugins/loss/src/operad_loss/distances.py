"""Losses and distances that obey the head gradient.

`bce_with_logits`, `nll_loss`, `cosine_distance` and `cdist`; `cross_entropy` is in operad-transformer. What
becomes of a loss for each item is the program's: its mean, its sum, its product with weights.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from operad_sdk import Array, Contract, Drawn, Shape, Shapes, blocked_sum, define, param, unit_interval

_SHARED: Final[dict[str, Any]] = {"accepts": "floating", "compute_dtype": "float32"}


def _bce(data: Array, label: Array) -> Array:
    """`(1 - t) max(x, 0) + t max(-x, 0) + ln(1 + e^-|x|)`."""
    wrong = (1 - label) * np.maximum(data, 0) + label * np.maximum(-data, 0)
    return wrong + np.log1p(np.exp(-np.abs(data)))


bce_with_logits = define(
    "bce_with_logits", "data:(...), label:(...) -> output:(...)", lambda data, label: _bce(data, label),
    {
        "data": lambda output_grad, data, label: output_grad * (1 / (1 + np.exp(-data)) - label),
        "label": lambda output_grad, data: -output_grad * data,
    },
    summary="The binary cross entropy of logits and probabilities, element by element: "
    "`y = -t ln s - (1 - t) ln(1 - s)` with `s = 1 / (1 + e^-x)`; `dy/dx = s - t`, `dy/dt = -x`.",
    example=("[0, 2]", "[1, 0]", "[0.6931, 2.1269]"), element_cost=8, **_SHARED,
    contract=Contract(
        inputs={"label": unit_interval()},
        reference=lambda data, label: label * np.logaddexp(0, -data) + (1 - label) * np.logaddexp(0, data),
    ),
)  # fmt: skip


def _labels(rng: np.random.Generator, shape: Shape, prop: Any, shapes: Shapes) -> Array:
    """Classes; a quarter of the rows do not count."""
    labels = rng.integers(0, max(1, shapes["data"][-1]), shape)
    return np.where(rng.random(shape) < 0.25, prop.ignored, labels)


def _is_label(label: Array, classes: int, ignored: int) -> Array:
    """True at each item's class."""
    return (label[..., None] == np.arange(classes, like=label)) & (label != ignored)[..., None]


def _nll_slope(output_grad: Array, label: Array, ignored: int, data_grad: Array) -> None:
    is_label = _is_label(label, data_grad.shape[-1], ignored)
    data_grad[...] = np.where(is_label, -output_grad[..., None], 0)


nll_loss = define(
    "nll_loss", "data:(*N, C), label:int64(*N) -> output:(*N)",
    lambda data, label, ignored: -blocked_sum(
        np.where(_is_label(label, data.shape[-1], ignored), data, 0), -1
    ),
    {"data": _nll_slope},
    summary="The negative log likelihood of each item: minus the logarithm, in `data`, of its class; "
    "`dy/dx = -1` there, else 0. An item labelled `ignored`, or with no class, has 0.",
    example=("[[-1, -2], [-3, -4]]", "[1, 0], dtype='int64'", "[2., 3.]"), element_cost=4, **_SHARED,
    params={"ignored": param(int, -100, lt=0, doc="The label of items that do not count.")},
    contract=Contract(
        inputs={"label": Drawn(_labels)}, nan_policy="only the logarithm of the class is read",
        reference=lambda data, label, ignored: np.array([
            0 if place == ignored else -row[int(place)]
            for row, place in zip(data.reshape(-1, data.shape[-1]), label.reshape(-1), strict=True)
        ]).reshape(label.shape) if data.size else np.zeros(label.shape),
    ),
)  # fmt: skip


def _directions(x: Array) -> tuple[Array, Array]:
    """Rows of length 1, or 0 where they are 0, and their lengths, or infinity.

    In units of their largest magnitude, so that no square leaves the type.
    """
    largest = np.max(np.abs(x), axis=-1, keepdims=True)
    unit = np.where((largest > 0) & (largest < np.inf), largest, 1)
    total = blocked_sum(np.square(x / unit), -1, keepdims=True)
    length = np.where(total == 0, total.dtype.type(np.inf), np.sqrt(np.where(total == 0, 1, total)))
    return x / unit / length, unit * length


def _half_square(a: Array, b: Array) -> Array:
    """`1 - cos` of directions: half the square of their distance, which has digits where it is small."""
    has_none = ~(a.any(-1, keepdims=True) & b.any(-1, keepdims=True))
    return np.where(has_none, 1, blocked_sum(np.square(a - b), -1, keepdims=True) / 2)


def _cosine(lhs: Array, rhs: Array) -> Array:
    if not lhs.size:
        return np.ones_like(lhs, shape=lhs.shape[:-1])
    return _half_square(_directions(lhs)[0], _directions(rhs)[0])[..., 0]


def _cosine_slope(output_grad: Array, own: Array, other: Array) -> Array:
    """`(cos a - b) / length`, where a and b are the directions of both."""
    if not own.size:
        return own
    (a, length), (b, _) = _directions(own), _directions(other)
    return output_grad[..., None] * ((a - b - _half_square(a, b) * a) / length)


cosine_distance = define(
    "cosine_distance", "lhs:(*N, D), rhs:(*N, D) -> output:(*N)", lambda lhs, rhs: _cosine(lhs, rhs),
    {
        "lhs": lambda output_grad, lhs, rhs: _cosine_slope(output_grad, lhs, rhs),
        "rhs": lambda output_grad, lhs, rhs: _cosine_slope(output_grad, rhs, lhs),
    },
    summary="1 less the cosine of the angle between rows, without overflow; of a row of zeros 1. "
    "`dy/da = (cos a/|a| - b/|b|) / |a|`, and 0 where `a` is.",
    example=("[[1, 0], [1, 1]]", "[[0, 2], [2, 2]]", "[1., 0.]"), element_cost=20, **_SHARED,
    contract=Contract(
        reference=lambda lhs, rhs: 1 - (lhs * rhs).sum(-1) / np.where(
            (lengths := np.sqrt((lhs**2).sum(-1)) * np.sqrt((rhs**2).sum(-1))) == 0, 1, lengths
        )
    ),
)  # fmt: skip


def _apart(lhs: Array, rhs: Array) -> Array:
    return lhs[..., :, None, :] - rhs[..., None, :, :]


def _distances(lhs: Array, rhs: Array, p: float, output: Array) -> None:
    apart = np.abs(_apart(lhs, rhs))
    if not apart.shape[-1] or p == 1:
        output[...] = blocked_sum(apart, -1)
    elif p == np.inf:
        output[...] = np.max(apart, axis=-1)
    else:
        output[...] = _length(apart, p)[..., 0]


def _length(apart: Array, p: float) -> Array:
    largest = np.max(apart, axis=-1, keepdims=True)
    unit = np.where((largest > 0) & (largest < np.inf), largest, 1)
    powers = blocked_sum(np.power(apart / unit, p), -1, keepdims=True)
    return unit * (np.sqrt(powers) if p == 2 else np.power(powers, 1 / p))


def _distance_slopes(output_grad: Array, lhs: Array, rhs: Array, output: Array, p: float) -> Array:
    """`sign(d) (|d| / y)^(p - 1)` for each pair and coordinate, and 0 where the distance is."""
    apart, y = _apart(lhs, rhs), output[..., None]
    if p == 1:
        slope = np.sign(apart)
    elif p == np.inf:
        slope = np.sign(apart) * (np.abs(apart) == y)
    else:
        share = np.abs(apart) / np.where(y == 0, y.dtype.type(np.inf), y)
        slope = (
            apart / np.where(y == 0, y.dtype.type(np.inf), y)
            if p == 2
            else np.sign(apart) * np.power(np.where(share == 0, 1, share), p - 1) * (share != 0)
        )
    return output_grad[..., None] * slope


cdist = define(
    "cdist", "lhs:(*B, N, D), rhs:(*B, M, D) -> output:(*B, N, M)", _distances,
    {
        "lhs": lambda output_grad, lhs, rhs, output, p: blocked_sum(
            _distance_slopes(output_grad, lhs, rhs, output, p), -2
        ),
        "rhs": lambda output_grad, lhs, rhs, output, p: -blocked_sum(
            _distance_slopes(output_grad, lhs, rhs, output, p), -3
        ),
    },
    summary="The distance of each row of `lhs` from each of `rhs`, `y = (sum |a - b|^p)^(1/p)`, without "
    "overflow; `dy/da = sign(a - b) (|a - b| / y)^(p - 1)`, and 0 where `y` is.",
    example=("[[0, 0], [3, 4]]", "[[0, 0]]", "[[0.],\n       [5.]]"), element_cost=4, **_SHARED,
    params={"p": param(float, 2.0, ge=1, doc="The norm; infinity is the largest coordinate.")},
    contract=Contract(
        params={"p": [2.0, 1.0, 3.0, float("inf")]},
        reference=lambda lhs, rhs, p: np.linalg.norm(_apart(lhs, rhs), p, axis=-1) if lhs.shape[-1]
        else np.zeros((*lhs.shape[:-1], rhs.shape[-2])),
        ties="of the largest norm all coordinates that equal it have the whole gradient",
    ),
)  # fmt: skip
