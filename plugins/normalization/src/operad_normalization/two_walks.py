"""Outputs of `GroupNorm` and `InstanceNorm` in float64: data is walked over twice, and not three times.

A number near the mean, known before the first walk, gives mean and variance in one. The first element will
do: it is one of n, so `(first - mean)^2` is at most n times the variance, and the variance, a difference,
loses log10(n) of 16 digits, whatever the mean. Squares of differences may be beyond the range. Then some
deviation is not finite, and the usual kernel computes once more.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any, Final

import numpy as np

from operad.operator import ForwardArrays
from operad_sdk import Array, Cost, KernelCall, OpContext, Operator, OpReq, operator, param
from operad_sdk import OperatorProperty as DeclaredProperty
from operad_sdk.vector import InVectorCode

_FROM_SIZE: Final = 1 << 20
"""Elements from which it pays; below, the form takes 0.5 to 0.9 of its time."""
_LEAST_EPS: Final = 1e-100
"""Least number that is added to variances, so that squares below the type's range do not matter."""


@operator("_standardize_from")
class StandardizeFrom(DeclaredProperty):
    """Rows standardized, with a number near the mean of each."""

    spec = (
        "data:(N, C, K), near:(N, C, 1), gamma:(C), beta:(C)"
        " -> output:(N, C, K), mean:(N, C), std:(N, C), rest:(N, C)"
    )
    accepts = "floating"
    has_gradient = False
    eps = param(float, 1e-3, ge=0, doc="Added to the variance.")

    def forward(
        data: Array, near: Array, gamma: Array, beta: Array, eps: float
    ) -> tuple[Array, Array, Array, Array]:
        """Outputs as those of `InstanceNorm`."""
        with np.errstate(all="ignore"):
            d = data - near
            shift, squares = d.mean(2, keepdims=True), (d * d).mean(2, keepdims=True)
            deviation = np.sqrt(np.maximum(squares - shift * shift, 0) + eps)
            mean = near + shift
            rest = (near - mean) + shift
            gain, offset = gamma[:, None], beta[:, None]
            output = (data - mean - rest) * (1 / deviation) * gain + offset
            return output, mean[:, :, 0], deviation[:, :, 0], rest[:, :, 0] * 0.25


def write_in_two_walks(
    self: Any,
    op_ctx: OpContext,
    data: Array,
    gamma: Array,
    beta: Array,
    output: Array,
    mean: Array,
    std: Array,
    rest: Array,
) -> None:
    """Write the outputs of a layer whose groups have one gain each."""
    samples, groups, *inner = self.groups(data.shape).shape
    shape = samples, groups, prod(inner)
    x, y = data.reshape(shape), output.reshape(shape)
    targets, req = [y, mean, std, rest], [OpReq.WRITE] * 4
    found = _operator(self.eps, op_ctx.ctx, shape, data.dtype)
    found.forward(op_ctx, ForwardArrays([x, x[..., :1], gamma, beta], req, targets))
    if np.isfinite(std).all():
        return
    kind: Any = type(self)
    usual = _usual(kind, tuple(self.get_params().items()), op_ctx.ctx, data.shape, gamma.shape, data.dtype)
    usual.forward(op_ctx, ForwardArrays([data, gamma, beta], req, [output, mean, std, rest]))


@lru_cache(maxsize=256)
def _operator(eps: float, ctx: Any, shape: Any, dtype: Any) -> Operator:
    shapes = [shape, (*shape[:2], 1), shape[1:2], shape[1:2]]
    made: Operator = StandardizeFrom(eps=eps).create_operator(ctx, shapes, [dtype] * 4)
    return made


@lru_cache(maxsize=64)
def _usual(kind: Any, params: Any, ctx: Any, shape: Any, vector: Any, dtype: Any) -> Operator:
    """The kernel that follows from a layer's own function."""
    prop = kind(**dict(params))
    made: Operator = prop.derived_kernels()[0].factory(prop, ctx, [shape, vector, vector], [dtype] * 3)
    return made


def _refusal(call: KernelCall, is_large: bool) -> str | None:
    size = call.size("data")
    if call.in_types[0] != "float64" or call.prop.eps < _LEAST_EPS or not size:
        return "it is for data of float64, where something is added to variances"
    return None if is_large or size >= _FROM_SIZE else f"{size} elements, it pays from {_FROM_SIZE}"


# mutant: equivalent, because an estimate is no result
def _cost(call: KernelCall) -> Cost:
    """One pass that reads the data twice and writes once, and some calls in Python around it."""
    found = Cost(0.2 * call.size("data"), size_bytes=12.0 * call.size("data"), beside_us=15)
    return found._replace(pooled_us=found.work_us)


# Not in place: where squares were beyond the range, the data is read again.
IN_TWO_WALKS: Final = {
    "name": "in_two_walks",
    "priority": 1,
    "when": InVectorCode(_refusal),
    "cost": _cost,
    "inplace": "",
}
