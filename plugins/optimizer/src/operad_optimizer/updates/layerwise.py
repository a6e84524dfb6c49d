"""Parts of layer-wise rates: the squares of norms of many arrays, and LARS's rates from them."""

from __future__ import annotations

import numpy as np

from operad_optimizer.updates.family import BLOCK, RESCALE, blocks, sourced, step_contract
from operad_sdk import Array, define, param


def _sum_of_squares(array: Array) -> Array:
    """Sum squares in float32 at least; partial sums are float64, so that their order does not matter."""
    dtype = np.result_type(array.dtype, np.float32)
    return sum(np.square(part, dtype=dtype).sum(dtype=np.float64) for (part,) in blocks([array]))


def _multi_sum_sq(array_: tuple[Array, ...], output: Array) -> None:
    for position, array in enumerate(array_):
        output[position] = _sum_of_squares(array)


multi_sum_sq = define(
    "multi_sum_sq", "array_[num_arrays]:(*S[i]) -> output:float32(num_arrays)", _multi_sum_sq,
    summary="Of each array the sum of its squared elements, in one array.",
    example=("[3, 4]", "[2]", "num_arrays=2", "[25.,  4.]"),
    source=sourced("MultiSumSqKernel, src/operator/contrib/multi_sum_sq-inl.h"),
    params={"num_arrays": param(int, ge=1, doc="Number of arrays.")},
    accepts="floating",
    contract=step_contract(
        computed_at_once=BLOCK,
        reference=lambda *arrays: np.array([(array**2).sum() for array in arrays]),
    ),
)  # fmt: skip


def _multi_lars(
    lrs: Array, weights_sum_sq: Array, grads_sum_sq: Array, wds: Array, output: Array,
    eta: float = param(float, run_time=True, doc="Share of the weight's norm that a step may have."),
    eps: float = param(float, run_time=True, doc="Added to the norm that is divided by."),
    rescale_grad: float = RESCALE,
) -> None:  # fmt: skip
    norm = np.sqrt(weights_sum_sq)
    step = rescale_grad * np.sqrt(grads_sum_sq) + wds * norm + eps
    is_scaled = np.logical_and(weights_sum_sq > 0, grads_sum_sq > 0)
    # mutant: 1 becomes 2: equivalent, because what is divided by it is not taken
    ratio = eta * norm / np.where(is_scaled, step, 1)
    output[...] = lrs * np.where(is_scaled, ratio, 1)


def _lars(
    lrs: Array, weights_sum_sq: Array, grads_sum_sq: Array, wds: Array, *,
    eta: float, eps: float, rescale_grad: float,
) -> Array:  # fmt: skip
    """Layer by layer."""
    found = lrs.copy()
    for position, (weight, grad) in enumerate(zip(weights_sum_sq**0.5, grads_sum_sq**0.5, strict=True)):
        if weight > 0 and grad > 0:
            found[position] *= eta * weight / (grad * rescale_grad + wds[position] * weight + eps)
    return found


multi_lars = define(
    "multi_lars", "lrs:(N), weights_sum_sq:(N), grads_sum_sq:(N), wds:(N) -> output:(N)", _multi_lars,
    summary="""`lrs eta |weight| / (rescale_grad |grad| + wds |weight| + eps)`: rates of layers for LARS.

The norms are the roots of `weights_sum_sq` and `grads_sum_sq`, which `multi_sum_sq` computes. Where one
of them is 0 the rate stays as it is. After You, Gitman and Ginsburg, "Large batch training of
convolutional networks", 2017, section 4.""",
    example=("[0.5]", "[4]", "[1]", "[0]", "eta=0.5", "eps=0", "[0.5]"),
    source=sourced("MultiLARSKernel, src/operator/contrib/multi_lars-inl.h"),
    accepts="floating", compute_dtype="float32",
    contract=step_contract(
        reference=_lars, params={"eps": (0.5, 0.25)},
        nan_policy="a norm that is NaN is not above 0: the rate stays",
    ),
)  # fmt: skip
