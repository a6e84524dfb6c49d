"""Optimizers without a second moment: `SGD`, `ccSGD`, `NAG`, `Signum`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

from operad import NDArray, nd
from operad_optimizer.aggregation import aggregation_size, in_turn, pays_together
from operad_optimizer.base import Index, State, UpdateCall, register
from operad_optimizer.momentum import WithMomentum


@register
class SGD(WithMomentum):
    """Stochastic gradient descent, with momentum if that is not 0.

    Args:
        momentum: How much of the last step is kept.
        lazy_update: Accepted for MXNet's calls; arrays are never sparse.
        arguments: As in `Optimizer`.
    """

    elementwise = True

    def __init__(self, momentum: float = 0.0, lazy_update: bool = True, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.momentum = momentum
        self.lazy_update = lazy_update
        self.aggregate_num = aggregation_size(4)

    def step_call(self, index: Index, state: State) -> UpdateCall:
        """With the last step, if any of it is kept."""
        if state is None:
            return self.call_of(index, "sgd_update", ())
        return self.call_of(index, "sgd_mom_update", (state,), "momentum")

    def step_several(
        self, indices: Sequence[Index], weights: Sequence[NDArray], grads: Sequence[NDArray], states: State
    ) -> None:
        """One operator call on devices, unless only some weights keep their last step."""
        kept = [state for state in states if state is not None]
        if (kept and len(kept) != len(indices)) or not pays_together(weights):
            super().step_several(indices, weights, grads, states)
            return
        rates = {"lrs": self._get_lrs(indices), "wds": self._get_wds(indices), "num_weights": len(indices)}
        shared = self.common_of_several() | ({"momentum": self.momentum} if kept else {})
        operator = nd.multi_sgd_mom_update if kept else nd.multi_sgd_update
        operator(*in_turn(weights, grads, *([kept] if kept else [])), out=list(weights), **rates, **shared)


@register
class ccSGD(SGD):
    """`SGD` under a name that old programs use."""


@register
@final
class NAG(WithMomentum):
    """Gradient descent with Nesterov's momentum.

    Args:
        momentum: How much of the last step is kept.
        arguments: As in `Optimizer`.
    """

    elementwise = True

    def __init__(self, momentum: float = 0.0, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.momentum = momentum

    def step_call(self, index: Index, state: State) -> UpdateCall:
        """With the last step, if any of it is kept."""
        if state is None:
            return self.call_of(index, "sgd_update", ())
        return self.call_of(index, "nag_mom_update", (state,), "momentum")


@register
@final
class Signum(WithMomentum):
    """Steps of one size along the sign of the gradient, or of its average.

    Args:
        learning_rate: The size.
        momentum: How much of the average is kept; 0: there is none.
        wd_lh: Weight decay outside the sign.
        arguments: As in `Optimizer`.
    """

    elementwise = True

    def __init__(
        self, learning_rate: float = 0.01, momentum: float = 0.9, wd_lh: float = 0.0, **arguments: Any
    ) -> None:
        super().__init__(learning_rate=learning_rate, **arguments)
        self.momentum = momentum
        self.wd_lh = wd_lh

    def step_call(self, index: Index, state: State) -> UpdateCall:
        """With the average, if there is one."""
        if state is None:
            return self.call_of(index, "signsgd_update", ())
        return self.call_of(index, "signum_update", (state,), "momentum", "wd_lh")
