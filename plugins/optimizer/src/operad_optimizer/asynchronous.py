"""Optimizers with noise or delay: `SGLD`, `DCASGD`; and `Test`, which only adds."""

from __future__ import annotations

import math
from typing import Any, final

from operad import NDArray, nd
from operad_optimizer.base import Index, Optimizer, State, register
from operad_optimizer.state import zeros_like


@register
@final
class SGLD(Optimizer):
    """Langevin dynamics: half a step of gradient descent, and normal noise of variance `lr`.

    Source: Welling and Teh, "Bayesian learning via stochastic gradient Langevin dynamics", 2011.
    """

    def step(self, index: Index, weight: NDArray, grad: NDArray, state: State) -> None:
        """`w = w - lr / 2 (g + wd w) + sqrt(lr) z`."""
        lr, wd = self._get_lr(index), self._get_wd(index)
        shape, dtype = weight.shape, weight.dtype.name
        noise = nd._init_normal(scale=math.sqrt(lr), shape=shape, dtype=dtype, ctx=weight.ctx)
        weight += noise - lr / 2 * (self.rescaled(grad) + wd * weight)


@register
@final
class DCASGD(Optimizer):
    """Gradient descent that makes up for how old a gradient is.

    A gradient that was computed at a former weight `p` is corrected by `lamda g^2 (w - p)`, where `g^2`
    stands for the second derivative.

    Args:
        momentum: How much of the last step is kept.
        lamda: Weight of the correction.
        arguments: As in `Optimizer`.

    Source: Zheng et al., "Asynchronous stochastic gradient descent with delay compensation", 2017. Differs:
    works with momentum, which raises in MXNet 1.9.1.
    """

    elementwise = True

    def __init__(self, momentum: float = 0.0, lamda: float = 0.04, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.momentum = momentum
        self.lamda = lamda

    def create_state(self, index: Index, weight: NDArray) -> State:
        """The last step, if any of it is kept, and the former weight."""
        return (zeros_like(weight) if self.momentum else None), weight.copy()

    def step(self, index: Index, weight: NDArray, grad: NDArray, state: State) -> None:
        """`m = momentum m - lr (g + wd w + lamda g^2 (w - p))`, `p = w`, and `w = w + m`."""
        last, former = state
        lr, wd, grad = self._get_lr(index), self._get_wd(index), self.rescaled(grad)
        delayed = self.lamda * nd.square(grad) * (weight - former)
        step = -lr * (grad + wd * weight + delayed)
        if last is not None:
            last[:] = self.momentum * last + step
            step = last
        former[:] = weight
        weight += step


@register
@final
class Test(Optimizer):
    """Adds the rescaled gradient, and keeps the weight; for tests of what calls optimizers."""

    elementwise = True
    __test__ = False  # pytest's mark of what is no test

    def create_state(self, index: Index, weight: NDArray) -> State:
        """The weight that was last written."""
        return zeros_like(weight)

    def step(self, index: Index, weight: NDArray, grad: NDArray, state: State) -> None:
        """`w = w + rescale_grad g`."""
        weight += grad * self.rescale_grad
        state[:] = weight
