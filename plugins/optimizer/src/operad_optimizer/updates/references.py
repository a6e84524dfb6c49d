"""What the contract checks compare updates with: their definitions over whole arrays.

States are those before the step.
"""

from __future__ import annotations

import numpy as np

from operad_sdk import Array


def sgd(
    weight: Array, grad: Array, *, lr: float, wd: float, rescale_grad: float,
    clip_gradient: float, weight32: Array | None = None,
) -> Array:  # fmt: skip
    """`weight - lr * (grad + wd * weight)`."""
    weight = weight if weight32 is None else weight32
    return weight - lr * (_clipped(rescale_grad * grad, clip_gradient) + wd * weight)


def momentum_step(
    weight: Array, grad: Array, *, lr: float, wd: float, rescale_grad: float,
    clip_gradient: float, momentum: float, mom: Array, weight32: Array | None = None,
) -> Array:  # fmt: skip
    """The step of `sgd` and a part of the step before."""
    weight = weight if weight32 is None else weight32
    return momentum * mom + sgd(
        weight, grad, lr=lr, wd=wd, rescale_grad=rescale_grad, clip_gradient=clip_gradient
    )


def nesterov_step(
    weight: Array, grad: Array, *, lr: float, wd: float, rescale_grad: float,
    clip_gradient: float, momentum: float, mom: Array, weight32: Array | None = None,
) -> Array:  # fmt: skip
    """The step of `sgd`, 1 + momentum times, and the rest of the step before."""
    weight = weight if weight32 is None else weight32
    step = weight - sgd(weight, grad, lr=lr, wd=wd, rescale_grad=rescale_grad, clip_gradient=clip_gradient)
    return weight + momentum**2 * mom - (1 + momentum) * step


def adam(
    weight: Array, grad: Array, *, lr: float, wd: float, rescale_grad: float,
    clip_gradient: float, beta1: float, beta2: float, epsilon: float, mean: Array, var: Array,
) -> Array:  # fmt: skip
    """The average gradient over the root of the average squared one."""
    grad = _clipped(rescale_grad * grad + wd * weight, clip_gradient)
    divisor = np.sqrt(grad**2 + beta2 * (var - grad**2)) + epsilon
    return weight - lr * (grad + beta1 * (mean - grad)) / divisor


def rmsprop(
    weight: Array, grad: Array, *, lr: float, wd: float, rescale_grad: float,
    clip_gradient: float, gamma1: float, epsilon: float, clip_weights: float, n: Array,
) -> Array:  # fmt: skip
    """The gradient over the root of the average squared one."""
    grad = _clipped(rescale_grad * grad + wd * weight, clip_gradient)
    moved = weight - lr * grad / np.sqrt(grad**2 + gamma1 * (n - grad**2) + epsilon)
    return _clipped(moved, clip_weights)


def sign_sgd(weight: Array, grad: Array, *, lr: float, wd: float) -> Array:
    """`sgd` of the gradient's signs."""
    return weight - lr * ((grad > 0) * 1.0 - (grad < 0) + wd * weight)


def signum(
    weight: Array, grad: Array, *, lr: float, wd: float, rescale_grad: float,
    clip_gradient: float, momentum: float, wd_lh: float, mom: Array,
) -> Array:  # fmt: skip
    """`sign_sgd` of the average gradient, which `mom` is the negative of."""
    grad = _clipped(rescale_grad * grad, clip_gradient) + wd * weight
    return sign_sgd(weight, grad - momentum * (mom + grad), lr=lr, wd=wd_lh)


def lamb_direction(
    weight: Array, grad: Array, *, beta1: float, beta2: float, epsilon: float, t: int,
    bias_correction: bool, wd: float, rescale_grad: float, clip_gradient: float, mean: Array, var: Array,
    weight32: Array | None = None,
) -> Array:  # fmt: skip
    """The direction of `adam`, with corrected averages, and weight decay apart."""
    weight = weight if weight32 is None else weight32
    grad = _clipped(rescale_grad * grad, clip_gradient)
    first, second = grad + beta1 * (mean - grad), grad**2 + beta2 * (var - grad**2)
    if bias_correction:
        first, second = first / (1 - beta1**t), second / (1 - beta2**t)
    return wd * weight + first / (np.sqrt(second) + epsilon)


def lamb_step(
    weight: Array, g: Array, r1: Array, r2: Array, *, lr: float, lower_bound: float, upper_bound: float,
    weight32: Array | None = None,
) -> Array:  # fmt: skip
    """A step along `g`, of the length that the weight's norm sets."""
    norm, other = max(r1.item(), lower_bound) if lower_bound >= 0 else r1.item(), r2.item()
    norm = min(norm, upper_bound) if upper_bound >= 0 else norm
    ratio = norm / other if norm and other else 1.0
    return (weight if weight32 is None else weight32) - lr * ratio * g


def _clipped(values: Array, bound: float) -> Array:
    return np.minimum(np.maximum(values, -bound), bound) if bound >= 0 else values
