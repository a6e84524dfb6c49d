"""LAMB in its two phases: Adam's direction, and a step scaled by the norms of weight and direction."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from operad_optimizer.updates.family import (
    CLIP,
    COUNT,
    RATE,
    RESCALE,
    by_blocks,
    mixed,
    real,
    step_contract,
    update,
)
from operad_optimizer.updates.formulas import kept_after, move_average, rescaled
from operad_optimizer.updates.references import lamb_direction, lamb_step
from operad_sdk import Array, define, param

_PHASE_2: Final = "LambUpdatePhaseTwoKernel, src/operator/optimizer_op-inl.h."
_KEEP: Final = real(0.9, "Decay rate of the average gradient.")
_KEEP_SQUARE: Final = real(0.999, "Decay rate of the average squared gradient.")
_EPSILON: Final = real(1e-6, "Added to the root.")
_CORRECTS: Final[Any] = param(bool, True, doc="Correct the averages' bias towards 0.")
_DECAY: Final[Any] = param(float, run_time=True, doc="Weight decay.")
_LEAST: Final = real(-1.0, "Least norm of the weight; below 0: none.")
_LARGEST: Final = real(-1.0, "Largest norm of the weight; below 0: none.")


def _phase1(
    weight: Array, grad: Array, mean: Array, var: Array, out: Array,
    beta1: float = _KEEP, beta2: float = _KEEP_SQUARE, epsilon: float = _EPSILON, t: int = COUNT,
    bias_correction: bool = _CORRECTS, wd: float = _DECAY,
    rescale_grad: float = RESCALE, clip_gradient: float = CLIP,
) -> None:  # fmt: skip
    """`output = m / (sqrt(v) + epsilon) + wd weight`: Adam's direction, for phase 2.

    Here `m = mean / (1 - beta1^t)` and `v = var / (1 - beta2^t)`, or mean and var as they are, are the
    moved averages of the gradient and its square.
    """
    grad = rescaled(grad, rescale_grad, clip_gradient)
    move_average(mean, beta1, grad)
    move_average(var, beta2, np.square(grad))
    if bias_correction:
        mean, var = mean / (1 - kept_after(beta1, t)), var / (1 - kept_after(beta2, t))
    np.add(mean / (np.sqrt(var) + epsilon), wd * weight, out=out)


lamb_update_phase1 = update(
    "lamb_update_phase1", _phase1, ("[1]", "[2]", "[0]", "[0]", "t=1", "wd=0.5", "[1.5]"),
    "LambUpdatePhaseOneKernel", reference=lamb_direction,
)  # fmt: skip
mp_lamb_update_phase1 = mixed(
    "mp_lamb_update_phase1", _phase1, ("[1]", "[2]", "[0]", "[0]", "[1]", "t=1", "wd=0.5", "[1.5]"),
    "LambUpdatePhaseOneKernel", moves_weight=False, reference=lamb_direction,
    params={"epsilon": (1e-6, 0.0, 0.5)},  # below 0 it may cancel the root, and no digit is left
)  # fmt: skip


def _norm(data: Array) -> Array:
    return np.linalg.norm(data.reshape(-1).astype(np.float64))


lamb_norm = define(
    "_lamb_norm", "data:(...) -> output:(1)", _norm,
    summary="Euclidean norm of all elements, which phase 2 takes of the weight and of the direction.",
    example=("[3, 4]", "[5.]"), accepts="floating", compute_dtype="float32",
    contract=step_contract(reference=lambda data: np.sqrt((data**2).sum(keepdims=True)).reshape(1)),
)  # fmt: skip


def _step(g: Array, r1: Array, r2: Array, lr: float, lower_bound: float, upper_bound: float) -> Array:
    """`lr norm / r2 g`, where `norm` is `r1` within its bounds; the ratio is 1 where one of them is 0."""
    norm = np.maximum(r1, lower_bound) if lower_bound >= 0 else r1
    norm = np.minimum(norm, upper_bound) if upper_bound >= 0 else norm
    both = np.logical_and(norm != 0, r2 != 0)
    ratio = np.where(both, norm, 1) / np.where(both, r2, 1) * lr
    return ratio.reshape(()) * g  # so that weights with no axis keep theirs


def _phase2(
    weight: Array, g: Array, r1: Array, r2: Array, output: Array,
    lr: float = RATE, lower_bound: float = _LEAST, upper_bound: float = _LARGEST,
) -> None:  # fmt: skip
    np.subtract(weight, _step(g, r1, r2, lr, lower_bound, upper_bound), out=output)


def _mixed_phase2(
    weight: Array, g: Array, r1: Array, r2: Array, weight32: Array,
    lr: float = RATE, lower_bound: float = _LEAST, upper_bound: float = _LARGEST,
) -> Array:  # fmt: skip
    weight32 -= _step(g, r1, r2, lr, lower_bound, upper_bound)
    return weight32


lamb_update_phase2 = define(
    "lamb_update_phase2", "weight:(...), g:(...), r1:(1), r2:(1) -> output:(...)", _phase2,
    summary="`weight - lr r1 / r2 g`, where `r1` and `r2` are the norms of `weight` and `g`.",
    example=("[3, 4]", "[2, 0]", "[5]", "[2]", "lr=0.1", "[2.5, 4. ]"), source=_PHASE_2,
    accepts="floating", compute_dtype="float32", inplace="weight, g",
    contract=step_contract(reference=lamb_step),
)  # fmt: skip
mp_lamb_update_phase2 = define(
    "mp_lamb_update_phase2",
    "weight:(...), g:float32(...), r1:float32(1), r2:float32(1), state weight32:float32(...)"
    " -> output:(...)", _mixed_phase2,
    summary="`lamb_update_phase2` of a half-precision weight through its single-precision copy.",
    example=("od.nd.array([3, 4], dtype='float16')", "[2, 0]", "[5]", "[2]", "[3, 4]", "lr=0.1",
             "array([2.5, 4. ], dtype=float16)"), source=_PHASE_2,
    accepts="floating", inplace="weight",
    contract=step_contract(has_states=True, reference=lamb_step),
)  # fmt: skip


def lamb(
    weight: Array, grad: Array, mean: Array, var: Array, out: Array, lr: float = RATE,
    beta1: float = _KEEP, beta2: float = _KEEP_SQUARE, epsilon: float = _EPSILON, wd: float = _DECAY,
    rescale_grad: float = RESCALE, lower_bound: float = _LEAST, upper_bound: float = _LARGEST,
    clip_gradient: float = CLIP, bias_correction: bool = _CORRECTS, t: int = COUNT,
) -> None:  # fmt: skip
    """Both phases of LAMB, `lamb_update_phase1` and `lamb_update_phase2`, with the norms between them."""
    direction = np.empty_like(weight)
    given = (beta1, beta2, epsilon, t, bias_correction, wd, rescale_grad, clip_gradient)
    by_blocks(_phase1, (weight, grad, mean, var, direction), given)
    norm, other = (_norm(array).astype(weight.dtype) for array in (weight, direction))
    np.subtract(weight, _step(direction, norm, other, lr, lower_bound, upper_bound), out=out)
