"""Relatives of Adam: `Adamax`, `Nadam`. Their steps are arithmetic of arrays; nothing is read."""

from __future__ import annotations

from typing import Any, final

from operad import NDArray, nd
from operad_optimizer.adaptive import AdamAverages
from operad_optimizer.base import Index, State, register
from operad_optimizer.momentum import WithTwoStates


@register
@final
class Adamax(WithTwoStates):
    """Adam with the largest gradient, which decays, in place of the root of the average squared one.

    Args:
        learning_rate: Roughly the size of a step.
        beta1: How much of the average gradient is kept.
        beta2: How much of the largest gradient is kept.
        arguments: As in `Optimizer`.

    Source: Kingma and Ba, "Adam: a method for stochastic optimization", 2015, section 7.1. Differs: where all
    gradients were 0, the weight stays, and does not become NaN as in MXNet.
    """

    elementwise = True

    def __init__(
        self, learning_rate: float = 0.002, beta1: float = 0.9, beta2: float = 0.999, **arguments: Any
    ) -> None:
        super().__init__(learning_rate=learning_rate, **arguments)
        self.beta1 = beta1
        self.beta2 = beta2

    def step(self, index: Index, weight: NDArray, grad: NDArray, state: State) -> None:
        """`m = b1 m + (1 - b1) g`, `u = max(b2 u, |g|)`, and `w = w - lr / (1 - b1^t) m / u`."""
        average, largest = state
        lr = self._get_lr(index) / (1 - self.beta1 ** self._index_update_count[index])
        grad = self.clipped(grad * self.rescale_grad + self._get_wd(index) * weight)
        average[:] = self.beta1 * average + (1 - self.beta1) * grad
        largest[:] = nd.broadcast_maximum(self.beta2 * largest, nd.abs(grad))
        weight -= lr * average / (largest + (largest == 0))


@register
@final
class Nadam(AdamAverages):
    """Adam with Nesterov's momentum, whose share grows towards `beta1`.

    Args:
        learning_rate: Roughly the size of a step.
        beta1: How much of the average gradient is kept.
        beta2: How much of the average squared gradient is kept.
        epsilon: Added to the root.
        schedule_decay: How fast the share grows.
        arguments: As in `Optimizer`.

    Attributes:
        m_schedule: Product of the shares so far; one for all weights, as in MXNet, so that it falls with
            every weight's update.

    Source: Dozat, "Incorporating Nesterov momentum into Adam", 2016.
    """

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        schedule_decay: float = 0.004,
        **arguments: Any,
    ) -> None:
        super().__init__(beta1, beta2, epsilon, learning_rate=learning_rate, **arguments)
        self.schedule_decay = schedule_decay
        self.m_schedule = 1.0

    def step(self, index: Index, weight: NDArray, grad: NDArray, state: State) -> None:
        """Adam's step along the gradient and the average ahead, each corrected for its bias towards 0."""
        first, second = state
        count = self._index_update_count[index]
        now, ahead = self._share(count), self._share(count + 1)
        self.m_schedule *= now
        grad = self.clipped(grad * self.rescale_grad + self._get_wd(index) * weight)
        first[:] = self.beta1 * first + (1 - self.beta1) * grad
        second[:] = self.beta2 * second + (1 - self.beta2) * nd.square(grad)
        of_gradient = (1 - now) / (1 - self.m_schedule)
        of_average = ahead / (1 - self.m_schedule * ahead)
        root = nd.sqrt(second / (1 - self.beta2**count)) + self.epsilon
        weight -= self._get_lr(index) * (of_gradient * grad + of_average * first) / root

    def _share(self, count: int) -> float:
        """Share of the average that counts at an update."""
        return float(self.beta1 * (1 - 0.5 * 0.96 ** (count * self.schedule_decay)))
