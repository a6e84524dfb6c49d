"""Right operators of domains, of numbers that cancel, and of matrices."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from operad_sdk import (
    Contract,
    OperatorProperty,
    PositiveDefinite,
    Probabilities,
    Real,
    Tolerance,
    blocked_sum,
    operator,
    param,
    positive,
    unary,
    unit_interval,
)
from operator_sdk.check.tests.zoo.bases import InFloat32
from operator_sdk.check.tests.zoo.fault import Right

_BOUNDED = Real(above=-16, below=16)  # squares have to be in range


def _lengths(data, eps):
    return np.sqrt((data * data).sum(axis=1) + eps)


def _slope(own, other, eps):
    """Of the cosine by the first of its two arguments."""
    lengths, others = _lengths(own, eps)[:, None], _lengths(other, eps)[:, None]
    unit = own / lengths
    along = (unit * other / others).sum(axis=1, keepdims=True)
    return (other / others - unit * along) / lengths


@operator("zoo_right_cosine_distance")
class CosineDistance(InFloat32):
    """One less the cosine of each pair of rows; near 0 it is the difference of two numbers near 1."""

    eps = param(float, 1e-4, gt=0, le=1, doc="Added to squares of lengths.")
    spec = "lhs:(N, D), rhs:(N, D) -> output:(N)"

    def _reference(lhs, rhs, eps):
        tops = np.einsum("nd,nd->n", lhs, rhs)
        return 1 - tops / np.sqrt(
            (np.einsum("nd,nd->n", lhs, lhs) + eps) * (np.einsum("nd,nd->n", rhs, rhs) + eps)
        )

    contract = Contract(
        reference=_reference,
        inputs={"lhs": _BOUNDED, "rhs": _BOUNDED},
        params={"eps": [1e-4, 1e-2]},
        narrowed={"eps": "more is no cosine"},
        tolerances={
            "float16": Tolerance(4e-3, 2e-3, "one less a number near 1 loses what is small"),
            "float32": Tolerance(1e-5, 1e-5, "one less a number near 1 loses what is small"),
        },
    )

    def forward(lhs, rhs, eps):
        units = (lhs / _lengths(lhs, eps)[:, None]) * (rhs / _lengths(rhs, eps)[:, None])
        return 1 - units.sum(axis=1)

    def lhs_grad(output_grad, lhs, rhs, eps):
        return -output_grad[:, None] * _slope(lhs, rhs, eps)

    def rhs_grad(output_grad, lhs, rhs, eps):
        return -output_grad[:, None] * _slope(rhs, lhs, eps)


def _log1mexp_reference(data):
    return np.where(data > 1, np.log1p(-np.exp(-data)), np.log(-np.expm1(-data)))


@unary(
    "zoo_right_log1mexp",
    accepts="floating",
    compute_dtype="float32",
    contract=Contract(reference=_log1mexp_reference, inputs={"data": positive(below=16)}),
)
def log1mexp(x):
    """`log(1 - exp(-x))` of positive numbers, without cancellation."""
    small = np.log(-np.expm1(-np.minimum(x, 1)))
    large = np.log1p(-np.exp(-np.maximum(x, 0.5)))
    return np.where(x > 0.6931472, large, small)


@log1mexp.gradient
def _(output_grad, x):
    return output_grad * (np.exp(-x) / -np.expm1(-x))


@unary(
    "zoo_right_sine_over_angle",
    accepts="floating",
    compute_dtype="float32",
    contract=Contract(
        reference=lambda data: np.where(data == 0, 1, np.sin(data) / np.where(data == 0, 1, data)),
        inputs={"data": Real(above=-8, below=8)},
        undefined="infinity has no sine",
    ),
)
def sinc(x):
    """`sin(x) / x`, and 1 at 0."""
    apart = np.where(x == 0, 1, x)
    return np.where(x == 0, 1, np.sin(apart) / apart)


@sinc.gradient
def _(output_grad, x):
    near = np.abs(x) < 0.5
    apart = np.where(near, 1, x)
    square = np.where(near, x * x, 0)
    series = -1 / 3 + square * (1 / 30 + square * (-1 / 840 + square * (1 / 45360 - square / 3991680)))
    return output_grad * np.where(near, x * series, (np.cos(apart) - np.sin(apart) / apart) / apart)


@operator("zoo_right_stable_log_sum_exp")
class StableLogSumExp(InFloat32):
    """`log(sum(exp(data)))` of each row, for numbers of any size; of minus infinities, that."""

    spec = "data:(N, D) -> output:(N); D >= 1"
    contract = Contract(
        reference=lambda data: np.logaddexp.reduce(data, axis=1),
        inputs={"data": Real(above=-512, below=512)},
        undefined="where all are minus infinity, and where one is infinity, there is no slope",
    )

    def forward(data):
        top = data.max(axis=1, keepdims=True)
        top = np.where(np.isinf(top), 0, top)
        with np.errstate(divide="ignore", over="ignore"):
            return np.log(np.exp(data - top).sum(axis=1)) + top[:, 0]

    def data_grad(output_grad, data):
        top = data.max(axis=1, keepdims=True)
        powers = np.exp(data - np.where(np.isinf(top), 0, top))
        return output_grad[:, None] * (powers / powers.sum(axis=1, keepdims=True))


@unary(
    "zoo_right_log_odds",
    accepts="floating",
    compute_dtype="float32",
    contract=Contract(
        reference=lambda data: np.log(data) - np.log1p(-data), inputs={"data": unit_interval()}
    ),
)
def logit(x):
    """`log(x / (1 - x))`, between 0 and 1."""
    return np.log(x) - np.log1p(-x)


@logit.gradient
def _(output_grad, x):
    return output_grad / (x * (1 - x))


def _logs(data):
    with np.errstate(divide="ignore"):
        return np.log(data)


def _divergences(data, target):
    terms = np.where(target == 0, 0, target * (_logs(np.where(target == 0, 1, target)) - _logs(data)))
    return terms.sum(axis=1)


@operator("zoo_right_divergence")
class Divergence(InFloat32):
    """The sum of `target log(target / data)` over each row; where the target is 0 a term is 0."""

    spec = "data:(N, D), target:(N, D) -> output:(N)"
    contract = Contract(
        reference=_divergences,
        inputs={"data": Probabilities(), "target": Probabilities()},
        nan_policy="where the target is 0 the data is not read",
        undefined="a share of 0 where the target has one is infinitely far",
    )

    def forward(data, target):
        return _divergences(data, target)

    def data_grad(output_grad, data, target):
        return np.where(target == 0, 0, -output_grad[:, None] * target / np.where(target == 0, 1, data))

    def target_grad(output_grad, data, target):
        return output_grad[:, None] * (_logs(target) - _logs(data) + 1)


_SMALL = Real(above=-2, below=2)


def _summed(line, *arrays):
    """A sum of products in double precision, as thousands of them may meet in one."""
    return np.einsum(line, *arrays, dtype=np.float64).astype(arrays[0].dtype)


@operator("zoo_right_bilinear_form")
class BilinearForm(InFloat32):
    """`output[b, o] = sum_ij lhs[b, i] weight[o, i, j] rhs[b, j] + bias[o]`, for any axes `b`."""

    spec = "lhs:(*B, I), rhs:(*B, J), weight:(O, I, J), bias:(O) -> output:(*B, O)"
    contract = Contract(
        reference=lambda lhs, rhs, weight, bias: np.einsum("...i,oij,...j->...o", lhs, weight, rhs) + bias,
        inputs={"lhs": _SMALL, "rhs": _SMALL, "weight": _SMALL},
    )

    def forward(lhs, rhs, weight, bias):
        pairs = lhs[..., :, None] * rhs[..., None, :]
        return np.tensordot(pairs, weight, axes=((-2, -1), (1, 2))) + bias

    def lhs_grad(output_grad, rhs, weight):
        return _summed("...o,oij,...j->...i", output_grad, weight, rhs)

    def rhs_grad(output_grad, lhs, weight):
        return _summed("...o,oij,...i->...j", output_grad, weight, lhs)

    def weight_grad(output_grad, lhs, rhs, weight_grad):
        outputs, rows, columns = weight_grad.shape
        weight_grad[...] = _summed(
            "bo,bi,bj->oij",
            output_grad.reshape(int(np.prod(output_grad.shape[:-1])), outputs),
            lhs.reshape(int(np.prod(lhs.shape[:-1])), rows),
            rhs.reshape(int(np.prod(rhs.shape[:-1])), columns),
        )

    def bias_grad(output_grad):
        return blocked_sum(output_grad, tuple(range(output_grad.ndim - 1)))


def _inverse(data):
    """The inverse of each matrix; NaN where there is none."""
    try:
        return np.linalg.inv(data)
    except np.linalg.LinAlgError:
        found = np.full_like(data, np.nan)
        for place, one in enumerate(data):
            with suppress(np.linalg.LinAlgError):
                found[place] = np.linalg.inv(one)
        return found


@operator("zoo_right_log_of_determinant")
class LogDeterminant(OperatorProperty):
    """The logarithm of the absolute value of the determinant of each positive definite matrix."""

    spec = "data:(B, N, N) -> output:(B)"
    accepts = ("float32", "float64")

    def _reference(data):
        """The sum of the logarithms of the pivots."""
        rows = data.copy()
        logs = np.zeros(len(data), data.dtype)
        for step in range(data.shape[1]):
            pivot = rows[:, step, step]
            logs += np.log(np.abs(pivot))
            factors = rows[:, step + 1 :, step] / pivot[:, None]
            rows[:, step + 1 :] -= factors[:, :, None] * rows[:, None, step]
        return logs

    contract = Contract(
        reference=_reference,
        inputs={"data": PositiveDefinite()},
        narrowed={"extreme": "what is not positive definite needs other pivots"},
        undefined="a matrix without an inverse has no slope",
    )

    def forward(data):
        return np.linalg.slogdet(data)[1]

    def data_grad(output_grad, data):
        return output_grad[:, None, None] * _inverse(data).swapaxes(1, 2)


ZOO = [
    Right(CosineDistance, "one less a number near 1, with declared tolerances"),
    Right(log1mexp, "two pieces, of positive numbers only"),
    Right(sinc, "0 over 0 at one place, with a series beside it"),
    Right(StableLogSumExp, "numbers to 512 and rows of minus infinity"),
    Right(logit, "infinite at both ends of its domain"),
    Right(Divergence, "probabilities of 0, whose terms are 0"),
    Right(BilinearForm, "any leading axes, and sums over pairs"),
    Right(LogDeterminant, "matrices whose gradient is an inverse"),
]
