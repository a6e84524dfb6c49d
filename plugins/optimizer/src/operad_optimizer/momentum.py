"""Base of optimizers with momentum."""

from __future__ import annotations

from operad import NDArray
from operad_optimizer.base import Index, Optimizer, State
from operad_optimizer.state import zeros_like


class WithMomentum(Optimizer):
    """Keeps the last step, or an average, of each weight, unless `momentum` is 0."""

    momentum: float

    def create_state(self, index: Index, weight: NDArray) -> State:
        """Zeros, or None without momentum."""
        return zeros_like(weight) if self.momentum else None


class WithTwoStates(Optimizer):
    """Keeps two arrays of each weight's shape, which are zeros at first."""

    def create_state(self, index: Index, weight: NDArray) -> State:
        """Both arrays."""
        return zeros_like(weight), zeros_like(weight)
