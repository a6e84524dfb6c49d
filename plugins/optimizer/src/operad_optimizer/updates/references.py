"""References of updates for the contract checks: their definitions over whole arrays.

States are given as they are before the step; after the result stands what becomes of them. The
single-precision copy of a weight, `weight32`, is moved as the weight is.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from operad_sdk import Array

Arrays = Array | tuple[Array, ...]
Reference = Callable[..., Any]


def sgd(
    weight: Array, grad: Array, *, lr: float, wd: float, rescale_grad: float,
    clip_gradient: float, weight32: Array | None = None,
) -> Arrays:  # fmt: skip
    """`weight - lr * (grad + wd * weight)`."""
    own = weight if weight32 is None else weight32
    return _moved(weight32, own - lr * (_clipped(rescale_grad * grad, clip_gradient) + wd * own))


def momentum_step(
    weight: Array, grad: Array, *, lr: float, wd: float, rescale_grad: float,
    clip_gradient: float, momentum: float, mom: Array, weight32: Array | None = None,
) -> Arrays:  # fmt: skip
    """The step of `sgd` and a part of the step before."""
    own = weight if weight32 is None else weight32
    step = momentum * mom - lr * (_clipped(rescale_grad * grad, clip_gradient) + wd * own)
    return _moved(weight32, own + step, step)


def nesterov_step(
    weight: Array, grad: Array, *, lr: float, wd: float, rescale_grad: float,
    clip_gradient: float, momentum: float, mom: Array, weight32: Array | None = None,
) -> Arrays:  # fmt: skip
    """The step of `sgd`, 1 + momentum times, and the rest of the step before.

    What is kept of the step is that of the new weight.
    """
    own = weight if weight32 is None else weight32
    clipped = _clipped(rescale_grad * grad, clip_gradient)
    moved = own + momentum**2 * mom - (1 + momentum) * lr * (clipped + wd * own)
    return _moved(weight32, moved, momentum * mom - lr * (clipped + wd * moved))


def adam(
    weight: Array, grad: Array, *, lr: float, wd: float, rescale_grad: float,
    clip_gradient: float, beta1: float, beta2: float, epsilon: float, mean: Array, var: Array,
) -> Arrays:  # fmt: skip
    """The average gradient over the root of the average squared one."""
    grad = _clipped(rescale_grad * grad + wd * weight, clip_gradient)
    mean, var = _average(mean, beta1, grad), _average(var, beta2, grad**2)
    return weight - lr * mean / (np.sqrt(var) + epsilon), mean, var


def rmsprop(
    weight: Array, grad: Array, *, lr: float, wd: float, rescale_grad: float,
    clip_gradient: float, gamma1: float, epsilon: float, clip_weights: float, n: Array,
) -> Arrays:  # fmt: skip
    """The gradient over the root of the average squared one."""
    grad = _clipped(rescale_grad * grad + wd * weight, clip_gradient)
    n = _average(n, gamma1, grad**2)
    return _clipped(weight - lr * grad / np.sqrt(n + epsilon), clip_weights), n


def rmsprop_of_deviations(
    weight: Array, grad: Array, *, lr: float, wd: float, rescale_grad: float, clip_gradient: float,
    gamma1: float, gamma2: float, epsilon: float, clip_weights: float, n: Array, g: Array, delta: Array,
) -> Arrays:  # fmt: skip
    """The gradient over its standard deviation, and a part of the step before."""
    grad = _clipped(rescale_grad * grad + wd * weight, clip_gradient)
    n, g = _average(n, gamma1, grad**2), _average(g, gamma1, grad)
    delta = gamma2 * delta - lr * grad / np.sqrt(n - g**2 + epsilon)
    return _clipped(weight + delta, clip_weights), n, g, delta


def ftrl(
    weight: Array, grad: Array, *, lr: float, wd: float, rescale_grad: float, clip_gradient: float,
    lamda1: float, beta: float, z: Array, n: Array,
) -> Arrays:  # fmt: skip
    """The minimum of all linearised losses, of the L1 norm and of the distances from all weights before."""
    grad = _clipped(rescale_grad * grad, clip_gradient)
    summed = n + grad**2
    z = z + grad - (np.sqrt(summed) - np.sqrt(n)) * weight / lr
    within = np.minimum(np.maximum(z, -lamda1), lamda1)
    return (within - z) / ((beta + np.sqrt(summed)) / lr + wd), z, summed


def ftml(
    weight: Array, grad: Array, *, lr: float, wd: float, rescale_grad: float, clip_grad: float,
    beta1: float, beta2: float, epsilon: float, t: int, d: Array, v: Array, z: Array,
) -> Arrays:  # fmt: skip
    """The minimum of a moving average of quadratic approximations, of which `d` is the curvature."""
    grad = _clipped(rescale_grad * grad + wd * weight, clip_grad)
    v = _average(v, beta2, grad**2)
    curvature = (1 - beta1**t) / lr * (np.sqrt(v / (1 - beta2**t)) + epsilon)
    z = _average(z, beta1, grad) - (curvature - beta1 * d) * weight
    return -z / curvature, curvature, v, z


def group_adagrad(
    weight: Array, grad: Array, *, lr: float, rescale_grad: float, clip_gradient: float, epsilon: float,
    history: Array,
) -> Arrays:  # fmt: skip
    """The gradient over the root of its rows' summed mean squares."""
    grad = _clipped(rescale_grad * grad, clip_gradient)
    axes = tuple(range(1, grad.ndim))
    history = history + [[np.mean(row**2)] for row in grad] if grad.size else history
    return weight - lr * grad / np.sqrt(np.expand_dims(history[:, 0], axes) + epsilon), history


def sign_sgd(weight: Array, grad: Array, *, lr: float, wd: float) -> Array:
    """`sgd` of the gradient's signs."""
    return weight - lr * ((grad > 0) * 1.0 - (grad < 0) + wd * weight)


def signum(
    weight: Array, grad: Array, *, lr: float, wd: float, rescale_grad: float,
    clip_gradient: float, momentum: float, wd_lh: float, mom: Array,
) -> Arrays:  # fmt: skip
    """`sign_sgd` of the average gradient, which `mom` is the negative of."""
    average = _average(-mom, momentum, _clipped(rescale_grad * grad, clip_gradient) + wd * weight)
    return sign_sgd(weight, average, lr=lr, wd=wd_lh), -average


def lamb_direction(
    weight: Array, grad: Array, *, beta1: float, beta2: float, epsilon: float, t: int,
    bias_correction: bool, wd: float, rescale_grad: float, clip_gradient: float, mean: Array, var: Array,
    weight32: Array | None = None,
) -> Arrays:  # fmt: skip
    """The direction of `adam`, with corrected averages, and weight decay apart."""
    own = weight if weight32 is None else weight32
    grad = _clipped(rescale_grad * grad, clip_gradient)
    mean, var = _average(mean, beta1, grad), _average(var, beta2, grad**2)
    first, second = (mean / (1 - beta1**t), var / (1 - beta2**t)) if bias_correction else (mean, var)
    direction = wd * own + first / (np.sqrt(second) + epsilon)
    return direction, mean, var, *([] if weight32 is None else [weight32])


def lamb_step(
    weight: Array, g: Array, r1: Array, r2: Array, *, lr: float, lower_bound: float, upper_bound: float,
    weight32: Array | None = None,
) -> Arrays:  # fmt: skip
    """A step along `g`, of the length that the weight's norm sets."""
    norm, other = max(r1.item(), lower_bound) if lower_bound >= 0 else r1.item(), r2.item()
    norm = min(norm, upper_bound) if upper_bound >= 0 else norm
    ratio = norm / other if norm and other else 1.0
    return _moved(weight32, (weight if weight32 is None else weight32) - lr * ratio * g)


def adamw(
    weight: Array, grad: Array, rescale_grad: Array, *, lr: float, wd: float, eta: float,
    clip_gradient: float, beta1: float, beta2: float, epsilon: float, mean: Array, var: Array,
    weight32: Array | None = None,
) -> Arrays:  # fmt: skip
    """`adam`, and weight decay apart; nothing where the gradient's scale is 0 or not finite."""
    own, scale = weight if weight32 is None else weight32, rescale_grad.item()
    if scale == 0 or not np.isfinite(scale):
        return _moved(weight32, own, mean, var)
    grad = _clipped(scale * grad, clip_gradient)
    mean, var = _average(mean, beta1, grad), _average(var, beta2, grad**2)
    return _moved(weight32, own - eta * (lr * mean / (np.sqrt(var) + epsilon) + wd * own), mean, var)


def lamb(
    weight: Array, grad: Array, *, lr: float, lower_bound: float, upper_bound: float,
    weight32: Array | None = None, **given: Any,
) -> Arrays:  # fmt: skip
    """Both phases."""
    own = weight if weight32 is None else weight32
    direction, mean, var = lamb_direction(own, grad, **given)
    norms = (np.linalg.norm(own.ravel()), np.linalg.norm(direction.ravel()))
    (moved,) = lamb_step(own, direction, *norms, lr=lr, lower_bound=lower_bound, upper_bound=upper_bound)
    return _moved(weight32, moved, mean, var)


def of_each(reference: Reference, states: Sequence[str], names: Mapping[str, str], count: str) -> Reference:
    """The definition of a step of several tensors, from that of one.

    Args:
        names: What `reference` calls the parameters, and the rates that are arguments.
        count: The parameter that counts the tensors.
    """
    taken = [*names, *(f"{state}_{position}" for position in range(_MOST) for state in states)]

    def several(*arrays: Array, **given: Any) -> tuple[Array, ...]:
        total = given.pop(count)
        own, rest = arrays[: 2 * total], arrays[2 * total :]
        rates = [name for name in names if name != count and name not in given]
        given |= dict(zip(rates, rest, strict=False))
        moved = []
        for position in range(total):
            of_one = {names[name]: _share(given[name], name, position) for name in names if name != count}
            of_one |= {state: given[f"{state}_{position}"] for state in states}
            shared = () if rates else rest
            moved.append(reference(own[2 * position], own[2 * position + 1], *shared, **of_one))
        return (*(first for first, *_ in moved), *(state for _, *rest in moved for state in rest))

    keywords = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in taken]
    several.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]
    return several


_MOST = 5
"""Tensors that the checks give at most."""


def _share(value: Any, name: str, position: int) -> Any:
    return value[position] if isinstance(value, tuple) or name in ("lrs", "wds") else value


def _moved(weight32: Array | None, moved: Array, *states: Array) -> tuple[Array, ...]:
    """The new weight, the states, and the new copy if there is one."""
    return moved, *states, *([] if weight32 is None else [moved])


def _average(average: Array, keep: float, value: Array) -> Array:
    return keep * average + (1 - keep) * value


def _clipped(values: Array, bound: float) -> Array:
    return np.minimum(np.maximum(values, -bound), bound) if bound >= 0 else values
