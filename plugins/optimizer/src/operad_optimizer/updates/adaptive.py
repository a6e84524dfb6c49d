"""Steps whose size the gradients seen so far set: Adam, RMSProp, and the followers of a leader."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from operad_optimizer.updates import references
from operad_optimizer.updates.family import (
    CLIP,
    COUNT,
    DECAY,
    RATE,
    RESCALE,
    real,
    sourced,
    step_contract,
    update,
)
from operad_optimizer.updates.formulas import decayed, kept_after, move_average, rescaled
from operad_sdk import Array, Real, define

_KEEP = "Decay rate of the average gradient."
_KEEP_SQUARE = "Decay rate of the average squared gradient."
_EPSILON = real(1e-8, "Added to the root.")
_EPSILON_INSIDE = real(1e-8, "Added under the root.")
_GAMMA1 = real(0.95, "Decay rate of the averages.")
_CLIP_WEIGHTS = real(-1.0, "Bound of each element of the new weight; below 0: none.")
_ABOVE_0: Final[dict[str, Any]] = {"params": {"lr": (0.1, 0.5)}}
"""Rates for the contract checks, of rules that divide by the rate."""


def _clipped_decayed(
    grad: Array, weight: Array, wd: float, rescale_grad: float, clip_gradient: float
) -> Array:
    """`clip(rescale_grad grad + wd weight)`."""
    # mutant: 1.0 becomes 2.0: equivalent, because any bound below 0 is none
    grad = rescaled(grad, rescale_grad, -1.0)
    return rescaled(decayed(grad, weight, wd), 1.0, clip_gradient)


def _adam(
    weight: Array, grad: Array, mean: Array, var: Array, out: Array, lr: float = RATE,
    beta1: float = real(0.9, _KEEP), beta2: float = real(0.999, _KEEP_SQUARE), epsilon: float = _EPSILON,
    wd: float = DECAY, rescale_grad: float = RESCALE, clip_gradient: float = CLIP,
) -> None:  # fmt: skip
    """`weight = weight - lr mean / (sqrt(var) + epsilon)`, by averages of the gradient and its square.

    Weight decay is added to the gradient before it is clipped. The averages' bias towards 0 is the
    caller's to correct, in `lr`; the class `Adam` does.
    """
    grad = _clipped_decayed(grad, weight, wd, rescale_grad, clip_gradient)
    move_average(mean, beta1, grad)
    move_average(var, beta2, np.square(grad))
    np.subtract(weight, lr * mean / (np.sqrt(var) + epsilon), out=out)


adam_update = update(
    "adam_update", _adam, ("[1]", "[2]", "[0]", "[0]", "lr=0.1", "beta1=0.5", "beta2=0.75", "[0.9]"),
    "AdamUpdateKernel", reference=references.adam, is_lazy=True,
)  # fmt: skip


def _rmsprop(
    weight: Array, grad: Array, n: Array, out: Array, lr: float = RATE, gamma1: float = _GAMMA1,
    epsilon: float = _EPSILON_INSIDE, wd: float = DECAY, rescale_grad: float = RESCALE,
    clip_gradient: float = CLIP, clip_weights: float = _CLIP_WEIGHTS,
) -> None:  # fmt: skip
    """`weight = weight - lr grad / sqrt(n + epsilon)`, where `n` is the moved average squared gradient."""
    grad = _clipped_decayed(grad, weight, wd, rescale_grad, clip_gradient)
    move_average(n, gamma1, np.square(grad))
    np.subtract(weight, lr * grad / np.sqrt(n + epsilon), out=out)
    _clip(out, clip_weights)


rmsprop_update = update(
    "rmsprop_update", _rmsprop, ("[1]", "[2]", "[0]", "lr=0.1", "gamma1=0.75", "[0.8]"),
    "RMSPropUpdateKernel", reference=references.rmsprop,
)  # fmt: skip


def _rmspropalex(
    weight: Array, grad: Array, n: Array, g: Array, delta: Array, out: Array, lr: float = RATE,
    gamma1: float = _GAMMA1, gamma2: float = real(0.9, "Factor of the previous step (momentum)."),
    epsilon: float = _EPSILON_INSIDE, wd: float = DECAY, rescale_grad: float = RESCALE,
    clip_gradient: float = CLIP, clip_weights: float = _CLIP_WEIGHTS,
) -> None:  # fmt: skip
    """`delta = gamma2 delta - lr grad / sqrt(n - g^2 + epsilon)`, and then `weight = weight + delta`.

    The moved averages `n` of the squared gradient and `g` of the gradient give its variance. After
    Graves, "Generating sequences with recurrent neural networks", 2013, equations 38 to 45.
    """
    grad = _clipped_decayed(grad, weight, wd, rescale_grad, clip_gradient)
    move_average(n, gamma1, np.square(grad))
    move_average(g, gamma1, grad)
    delta *= gamma2
    delta -= lr * grad / np.sqrt(n - np.square(g) + epsilon)
    np.add(weight, delta, out=out)
    _clip(out, clip_weights)


rmspropalex_update = update(
    "rmspropalex_update", _rmspropalex,
    ("[1]", "[2]", "[0]", "[0]", "[0]", "lr=0.1", "gamma1=0.5", "[0.8]"), "RMSPropAlexUpdateKernel",
    reference=references.rmsprop_of_deviations, inputs={"n": Real(4.75, 8.0)},
)  # fmt: skip


def _ftrl(
    weight: Array, grad: Array, z: Array, n: Array, out: Array, lr: float = RATE,
    lamda1: float = real(0.01, "Weight of the L1 norm."),
    beta: float = real(1.0, "Added to the root of `n`."),
    wd: float = DECAY, rescale_grad: float = RESCALE, clip_gradient: float = CLIP,
) -> None:  # fmt: skip
    """`weight = (clip(z, lamda1) - z) / ((beta + sqrt(n)) / lr + wd)`: the best so far, often exactly 0.

    Before, `z = z + grad - (sqrt(n + grad^2) - sqrt(n)) / lr weight` and `n = n + grad^2`. After McMahan
    et al., "Ad click prediction: a view from the trenches", 2013, algorithm 1.
    """
    grad = rescaled(grad, rescale_grad, clip_gradient)
    root = np.sqrt(n)
    n += np.square(grad)
    new_root = np.sqrt(n)
    z += grad
    z -= (new_root - root) * weight / lr
    np.divide(np.clip(z, -lamda1, lamda1) - z, (beta + new_root) / lr + wd, out=out)


ftrl_update = update(
    "ftrl_update", _ftrl, ("[1]", "[2]", "[0]", "[0]", "lr=0.5", "lamda1=1", "[0.1667]"),
    "FtrlUpdateKernel", reference=references.ftrl, **_ABOVE_0,
)  # fmt: skip


def _ftml(
    weight: Array, grad: Array, d: Array, v: Array, z: Array, out: Array, lr: float = RATE,
    beta1: float = real(0.6, _KEEP), beta2: float = real(0.999, _KEEP_SQUARE), epsilon: float = _EPSILON,
    t: int = COUNT, wd: float = DECAY, rescale_grad: float = RESCALE, clip_grad: float = CLIP,
) -> None:  # fmt: skip
    """`weight = -z / d`, the minimum of a moving average of the losses' approximations.

    Before, `v` moves to the average squared gradient,
    `d' = (1 - beta1^t) / lr (sqrt(v / (1 - beta2^t)) + epsilon)`,
    `z = beta1 z + (1 - beta1) grad - (d' - beta1 d) weight`, and `d = d'`. Weight decay is added to the
    gradient before it is clipped. After Zheng and Kwok, "Follow the moving leader in deep learning",
    2017, algorithm 1.
    """
    grad = _clipped_decayed(grad, weight, wd, rescale_grad, clip_grad)
    move_average(v, beta2, np.square(grad))
    curvature = (1 - kept_after(beta1, t)) * (np.sqrt(v / (1 - kept_after(beta2, t))) + epsilon) / lr
    move_average(z, beta1, grad)
    z -= (curvature - beta1 * d) * weight
    d[...] = curvature
    np.divide(-z, d, out=out)


ftml_update = update(
    "ftml_update", _ftml, ("[1]", "[2]", "[0]", "[0]", "[0]", "lr=0.1", "t=1", "[0.9]"), "FTMLKernel",
    reference=references.ftml, **_ABOVE_0,
)  # fmt: skip


def _group_adagrad(
    weight: Array, grad: Array, history: Array, output: Array, lr: float = RATE,
    rescale_grad: float = RESCALE, clip_gradient: float = CLIP,
    epsilon: float = real(1e-5, "Added under the root."),
) -> None:  # fmt: skip
    grad = rescaled(grad, rescale_grad, clip_gradient)
    if weight.size:
        history += np.square(grad).reshape(len(grad), -1).mean(axis=1, keepdims=True)
    each = history.reshape(-1, *[1] * (weight.ndim - 1))
    np.subtract(weight, lr * grad / np.sqrt(each + epsilon), out=output)


group_adagrad_update = define(
    "_contrib_group_adagrad_update", "weight:(N, *S), grad:(N, *S), state history:(N, 1) -> output:(N, *S)",
    _group_adagrad,
    summary="""`weight = weight - lr grad / sqrt(history + epsilon)`, with one rate for each row.

Before, the mean square of a row of the gradient is added to the row's `history`. A row whose gradient is
0 stays as it is.""",
    example=("[[1, 1]]", "[[2, 2]]", "[[0]]", "lr=0.5", "epsilon=0", "[[0.5, 0.5]]"),
    source=sourced("GroupAdagradDnsRspKernel, src/operator/contrib/optimizer_op-inl.h",
                   "the gradient is an array of all rows, where MXNet takes only row-sparse ones"),
    accepts="floating", compute_dtype="float32", inplace="weight",
    element_cost=4,
    contract=step_contract(
        has_states=True, reference=references.group_adagrad,
        undefined="an epsilon below 0 makes the sum of squares negative, which has no root",
    ),
)  # fmt: skip


def _clip(weight: Array, bound: float) -> None:
    """Keep a weight within its bounds."""
    if bound >= 0:
        np.clip(weight, -bound, bound, out=weight)
