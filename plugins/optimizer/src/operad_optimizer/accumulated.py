"""Optimizers that divide by what squared gradients add up to: `AdaGrad`, `GroupAdaGrad`, `AdaDelta`.

Their steps are arithmetic of arrays. Nothing is read, so the engine goes on.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from operad import NDArray, nd
from operad_optimizer.base import Index, Optimizer, State, register
from operad_optimizer.momentum import WithTwoStates
from operad_optimizer.state import zeros_like
from operad_sdk import ParamError


@register
@final
class AdaGrad(Optimizer):
    """Steps divided by the root of all squared gradients so far.

    `h = h + g^2`, and then `w = w - lr (g / sqrt(h + eps) + wd w)`, of the rescaled and clipped gradient `g`.

    Args:
        eps: Added under the root.
        arguments: As in `Optimizer`.

    Source: Duchi, Hazan and Singer, "Adaptive subgradient methods for online learning and stochastic
    optimization", 2011.
    """

    elementwise = True

    def __init__(self, eps: float = 1e-7, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.float_stable_eps = eps

    def create_state(self, index: Index, weight: NDArray) -> State:
        """The sum of squared gradients."""
        return zeros_like(weight)

    def step(self, index: Index, weight: NDArray, grad: NDArray, state: State) -> None:
        """The formula of the class."""
        lr, wd = self._get_lr(index), self._get_wd(index)
        grad = self.rescaled(grad)
        state += nd.square(grad)
        weight -= lr * (grad / nd.sqrt(state + self.float_stable_eps) + wd * weight)


@register
@final
class GroupAdaGrad(Optimizer):
    """`AdaGrad` with one sum for each row: of the row's mean squared gradients.

    Args:
        eps: Added under the root.
        arguments: As in `Optimizer`; there is no weight decay.

    Raises:
        ParamError: There is weight decay, or a weight is no matrix.
    """

    def __init__(self, eps: float = 1e-5, **arguments: Any) -> None:
        super().__init__(**arguments)
        if self.wd:
            raise ParamError(f"GroupAdaGrad: wd is {self.wd}, expected 0: it has no weight decay")
        self.float_stable_eps = eps

    def create_state(self, index: Index, weight: NDArray) -> State:
        """The rows' sums."""
        if len(weight.shape) != 2:
            raise ParamError(f"GroupAdaGrad: weight {index!r} has shape {weight.shape}, expected 2 axes")
        rows = np.zeros((weight.shape[0], 1), weight.dtype)
        return nd.array(rows, ctx=weight.ctx, dtype=weight.dtype)

    def step(self, index: Index, weight: NDArray, grad: NDArray, state: State) -> None:
        """`h = h + mean(g^2)` of each row, and then `w = w - lr g / sqrt(h + eps)`."""
        lr, grad = self._get_lr(index), self.rescaled(grad)
        state += nd.mean(nd.square(grad), axis=1, keepdims=True)
        weight -= lr * nd.broadcast_div(grad, nd.sqrt(state + self.float_stable_eps))


@register
@final
class AdaDelta(WithTwoStates):
    """Steps in proportion to the average of former steps, without a learning rate.

    `a = rho a + (1 - rho) g^2`, the step `d = g sqrt(b + eps) / sqrt(a + eps)`,
    `b = rho b + (1 - rho) d^2`, and `w = w - d - wd w`.

    Args:
        rho: How much of both averages is kept.
        epsilon: Added under the roots.
        arguments: As in `Optimizer`.

    Source: Zeiler, "ADADELTA: an adaptive learning rate method", 2012.
    """

    elementwise = True

    def __init__(self, rho: float = 0.9, epsilon: float = 1e-5, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.rho = rho
        self.epsilon = epsilon

    def step(self, index: Index, weight: NDArray, grad: NDArray, state: State) -> None:
        """The formulas of the class."""
        gradients, steps = state
        grad = self.rescaled(grad)
        gradients[:] = self.rho * gradients + (1 - self.rho) * nd.square(grad)
        delta = grad * nd.sqrt(steps + self.epsilon) / nd.sqrt(gradients + self.epsilon)
        steps[:] = self.rho * steps + (1 - self.rho) * nd.square(delta)
        weight -= delta + self._get_wd(index) * weight
