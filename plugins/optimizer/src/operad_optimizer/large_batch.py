"""Gradient descent for large batches, with a rate for each weight: `LARS`, `LBSGD`.

Norms stay arrays, so no step waits for one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, final

from operad import NDArray, nd
from operad_optimizer.base import Index, State, register
from operad_optimizer.momentum import WithMomentum
from operad_sdk import ParamError

_LEAST: Final = 1e-18
"""Keeps the ratio of two squared norms finite."""


def _squared_norm(array: NDArray) -> Any:
    return nd.sum(nd.square(array.astype("float32", copy=False)))


class _Descent(WithMomentum):
    """Gradient descent with momentum and rates that are arrays."""

    def descend(self, weight: NDArray, push: NDArray, state: State, momentum: float) -> None:
        """Move by `-push`, and by part of the last step, which is kept."""
        if state is None:
            weight -= push
            return
        state[:] = momentum * state - push
        weight += state


@register
@final
class LARS(_Descent):
    """Gradient descent with a rate in proportion to the ratio of the weight's norm and the gradient's.

    The rate is `lr eta |w| / (|g| + wd |w| + eps)`, and `lr` where a norm is 0 and for biases, betas and
    gammas.

    Args:
        momentum: How much of the last step is kept.
        lazy_update: Accepted for MXNet's calls; arrays are never sparse.
        eta: The factor.
        eps: Added to the gradient's norm.
        momentum_correction: Scale the last step as the learning rate changes.
        arguments: As in `Optimizer`.

    Source: You, Gitman and Ginsburg, "Large batch training of convolutional networks", 2017; for the
    correction Goyal et al., "Accurate, large minibatch SGD", 2017, section 3.2. Differs: each
    weight's last step is corrected; in MXNet that of the first weight only, unless several are updated in one
    call.
    """

    def __init__(
        self,
        momentum: float = 0.0,
        lazy_update: bool = True,
        eta: float = 0.001,
        eps: float = 0.0,
        momentum_correction: bool = True,
        **arguments: Any,
    ) -> None:
        super().__init__(**arguments)
        self.momentum = momentum
        self.momentum_correction = momentum_correction
        self.lazy_update = lazy_update
        self.eta = eta
        self.eps = eps
        self._last_rates: dict[Index, float] = {}

    def set_wd_mult(self, args_wd_mult: Mapping[Index, float]) -> None:
        """Set factors of weight decay; names that do not end in `_weight` have 0."""
        super().set_wd_mult(args_wd_mult)
        for name in self.idx2name.values():
            if not name.endswith("_weight"):
                self.wd_mult.setdefault(name, 0.0)

    def step(self, index: Index, weight: NDArray, grad: NDArray, state: State) -> None:
        """The rate, then a step of gradient descent."""
        lr, wd, rate = self._get_lr(index), self._get_wd(index), self.learning_rate
        last = self._last_rates.get(index, rate)
        self._last_rates[index] = rate
        momentum = self.momentum * rate / last if self.momentum_correction and last else self.momentum
        push = self.rescaled(grad) + wd * weight
        name = self.idx2name.get(index, str(index))
        if not name.endswith(("gamma", "beta", "bias")):
            push = nd.broadcast_mul(push, self._ratio(weight, grad, wd).astype(push.dtype, copy=False))
        self.descend(weight, lr * push, state, momentum)

    def _ratio(self, weight: NDArray, grad: NDArray, wd: float) -> Any:
        of_weight = nd.sqrt(_squared_norm(weight))
        of_grad = nd.sqrt(_squared_norm(grad)) * abs(self.rescale_grad)
        exists = (of_weight > 0) * (of_grad > 0)
        below = of_grad + wd * of_weight + self.eps
        # 1 where a norm is 0; what is added below keeps the other branch from dividing 0 by 0.
        return exists * self.eta * of_weight / (below + (1 - exists)) + (1 - exists)


@register
@final
class LBSGD(_Descent):
    """Gradient descent with large batches that are put together from `batch_scale` small ones.

    Each weight moves with every `batch_scale`-th update, along the mean of the gradients since, at a rate
    that warms up to `batch_scale` times the learning rate.

    Args:
        momentum: How much of the last step is kept.
        multi_precision: As in `Optimizer`.
        warmup_strategy: `"linear"`, `"power2"` or `"sqrt"` in the number of updates; `"lars"`: the root of
            the ratio of the squared norms of weight and gradient, between 0.01 and 100.
        warmup_epochs: Epochs that the warm-up takes.
        batch_scale: Small batches in a large one.
        updates_per_epoch: Updates in an epoch.
        begin_epoch: The epoch that training begins with.
        num_epochs: Accepted for MXNet's calls.
        arguments: As in `Optimizer`.

    Raises:
        ParamError: A strategy or a number is out of range.
    """

    def __init__(
        self,
        momentum: float = 0.0,
        multi_precision: bool = False,
        warmup_strategy: str = "linear",
        warmup_epochs: int = 5,
        batch_scale: int = 1,
        updates_per_epoch: int = 32,
        begin_epoch: int = 0,
        num_epochs: int = 60,
        **arguments: Any,
    ) -> None:
        super().__init__(multi_precision=multi_precision, **arguments)
        if warmup_strategy not in ("linear", "power2", "sqrt", "lars"):
            expected = "expected 'linear', 'power2', 'sqrt' or 'lars'"
            raise ParamError(f"LBSGD: warmup_strategy is {warmup_strategy!r}, {expected}")
        if batch_scale < 1:
            raise ParamError(f"LBSGD: batch_scale is {batch_scale}, expected at least 1")
        self.momentum = momentum
        self.warmup_strategy = warmup_strategy
        self.warmup_epochs = warmup_epochs
        self.batch_scale = batch_scale
        self.updates_per_epoch = updates_per_epoch
        self.num_epochs = num_epochs
        self.init_updates = begin_epoch * updates_per_epoch
        self._sums: dict[Index, tuple[int, NDArray | None]] = {}

    def step(self, index: Index, weight: NDArray, grad: NDArray, state: State) -> None:
        """Add to the gradients since the last step; with the last of a large batch, step."""
        count, total = self._sums.get(index, (self.init_updates, None))
        count += 1
        if count % self.batch_scale:
            self._sums[index] = count, grad.copy() if total is None else total + grad
            return
        self._sums[index] = count, None
        total = grad if total is None else total + grad
        lr, wd, mean = self._get_lr(index), self._get_wd(index), total / self.batch_scale
        push = lr * (self.rescaled(mean) + wd * weight)
        if self.warmup_strategy == "lars":
            ratio = self._ratio(weight, mean, wd).astype(push.dtype, copy=False)
            push = nd.broadcast_mul(push, ratio)
        else:
            push = push * self.multiplier(count)
        self.descend(weight, push, state, self.momentum)

    def multiplier(self, count: int) -> float:
        """The factor of the learning rate at an update."""
        last = self.warmup_epochs * self.updates_per_epoch
        if count >= last:
            return float(self.batch_scale)
        if last <= 1:
            return 1.0
        done = count / last
        shapes = {"linear": done, "power2": done**2, "sqrt": math.sqrt(done)}
        return 1.0 + (self.batch_scale - 1) * shapes[self.warmup_strategy]

    @staticmethod
    def _ratio(weight: NDArray, grad: NDArray, wd: float) -> Any:
        of_weight, of_grad = _squared_norm(weight), _squared_norm(grad)
        return nd.clip(nd.sqrt(of_weight / (of_grad + wd * of_weight + _LEAST)), a_min=0.01, a_max=100)
