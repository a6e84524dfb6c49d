"""Optimizers whose steps the gradients' own averages size: `Adam`, `RMSProp`, `Ftrl`, `FTML`, `LAMB`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, final

from operad import NDArray, nd
from operad_optimizer.aggregation import aggregation_size, in_turn, pays_together
from operad_optimizer.base import Index, Optimizer, State, UpdateCall, register
from operad_optimizer.momentum import WithTwoStates
from operad_optimizer.state import zeros_like


class AdamAverages(WithTwoStates):
    """Keeps averages of the gradient and of its square; arguments are those of `Adam`."""

    def __init__(self, beta1: float, beta2: float, epsilon: float, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon


_LARGEST_TOGETHER: Final = 1 << 14
"""Elements of weights that `LAMB` moves together on the host: eight of 4,096 take 0.30 ms so, and 0.44 apart;
of 16,384 0.46 and 0.50; of 65,536 1.6 and 0.9, since a single step is divided into blocks."""


@register
@final
class Adam(AdamAverages):
    """Steps along the average gradient, divided by the root of the average squared gradient.

    Args:
        learning_rate: Roughly the size of a step.
        beta1: How much of the average gradient is kept.
        beta2: How much of the average squared gradient is kept.
        epsilon: Added to the root.
        lazy_update: Accepted for MXNet's calls; arrays are never sparse.
        arguments: As in `Optimizer`.

    Source: Kingma and Ba, "Adam: a method for stochastic optimization", 2015, section 2, last
    paragraph's order of computation.
    """

    elementwise = True

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        lazy_update: bool = True,
        **arguments: Any,
    ) -> None:
        super().__init__(beta1, beta2, epsilon, learning_rate=learning_rate, **arguments)
        self.lazy_update = lazy_update

    def step_call(self, index: Index, state: State) -> UpdateCall:
        """With both averages; the learning rate corrects their bias towards 0."""
        count = self._index_update_count[index]
        correction = math.sqrt(1 - self.beta2**count) / (1 - self.beta1**count)
        rate = self._get_lr(index) * correction
        return self.call_of(index, "adam_update", state, "beta1", "beta2", "epsilon", lr=rate)


@register
@final
class RMSProp(Optimizer):
    """Steps along the gradient, divided by the root of the average squared gradient.

    Args:
        learning_rate: Roughly the size of a step.
        gamma1: How much of the averages is kept.
        gamma2: How much of the last step is kept, where `centered`.
        epsilon: Added under the root.
        centered: Divide by the root of the variance instead, after Graves.
        clip_weights: Bound of each element of a weight; None: none.
        arguments: As in `Optimizer`.
    """

    elementwise = True

    def __init__(
        self,
        learning_rate: float = 0.001,
        gamma1: float = 0.9,
        gamma2: float = 0.9,
        epsilon: float = 1e-8,
        centered: bool = False,
        clip_weights: float | None = None,
        **arguments: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **arguments)
        self.gamma1 = gamma1
        self.gamma2 = gamma2
        self.epsilon = epsilon
        self.centered = centered
        self.clip_weights = clip_weights

    def create_state(self, index: Index, weight: NDArray) -> State:
        """The averages, and where centered the last step."""
        return tuple(zeros_like(weight) for _ in range(3 if self.centered else 1))

    def step_call(self, index: Index, state: State) -> UpdateCall:
        """With the averages."""
        own = ["gamma1", "epsilon", *(["clip_weights"] if self.clip_weights else [])]
        if self.centered:
            return self.call_of(index, "rmspropalex_update", state, *own, "gamma2")
        return self.call_of(index, "rmsprop_update", state, *own)


@register
@final
class Ftrl(WithTwoStates):
    """Follow the regularised leader: weights that matter little become exactly 0.

    Args:
        lamda1: Weight of the L1 norm.
        learning_rate: Roughly the size of a step.
        beta: Added to the root of the squared gradients' sum.
        arguments: As in `Optimizer`.
    """

    elementwise = True

    def __init__(
        self, lamda1: float = 0.01, learning_rate: float = 0.1, beta: float = 1.0, **arguments: Any
    ) -> None:
        super().__init__(learning_rate=learning_rate, **arguments)
        self.lamda1 = lamda1
        self.beta = beta

    def step_call(self, index: Index, state: State) -> UpdateCall:
        """With both sums."""
        return self.call_of(index, "ftrl_update", state, "lamda1", "beta")


@register
@final
class FTML(AdamAverages):
    """Follow the moving leader.

    Args:
        beta1: How much of the average gradient is kept.
        beta2: How much of the average squared gradient is kept.
        epsilon: Added to the root.
        arguments: As in `Optimizer`.
    """

    elementwise = True

    def __init__(
        self, beta1: float = 0.6, beta2: float = 0.999, epsilon: float = 1e-8, **arguments: Any
    ) -> None:
        super().__init__(beta1, beta2, epsilon, **arguments)

    def create_state(self, index: Index, weight: NDArray) -> State:
        """Curvature and averages."""
        return zeros_like(weight), zeros_like(weight), zeros_like(weight)

    def step_call(self, index: Index, state: State) -> UpdateCall:
        """With the averages and the number of the update."""
        own: dict[str, Any] = {"beta1": self.beta1, "beta2": self.beta2, "epsilon": self.epsilon}
        own |= {"t": self._index_update_count[index], "lr": self._get_lr(index)}
        common = self.common(index)
        own["clip_grad"] = common.pop("clip_gradient", -1.0)
        return "ftml_update", state, {**own, **common}


@register
@final
class LAMB(AdamAverages):
    """Adam's direction, with steps in proportion to each weight's norm; for large batches.

    Args:
        learning_rate: Size of a step in proportion to the weight's norm.
        beta1: How much of the average gradient is kept.
        beta2: How much of the average squared gradient is kept.
        epsilon: Added to the root.
        lower_bound: Least norm of a weight that counts; None: none.
        upper_bound: Largest norm of a weight that counts; None: none.
        bias_correction: Correct the averages' bias towards 0.
        arguments: As in `Optimizer`.
    """

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-6,
        lower_bound: float | None = None,
        upper_bound: float | None = None,
        bias_correction: bool = True,
        **arguments: Any,
    ) -> None:
        super().__init__(beta1, beta2, epsilon, learning_rate=learning_rate, **arguments)
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound
        self.bias_correction = bias_correction
        self.aggregate_num = aggregation_size(45)

    def step_several(
        self, indices: Sequence[Index], weights: Sequence[NDArray], grads: Sequence[NDArray], states: State
    ) -> None:
        """One operator call where that pays."""
        if not pays_together(weights, _LARGEST_TOGETHER):
            super().step_several(indices, weights, grads, states)
            return
        counts = tuple(self._index_update_count[index] for index in indices)
        rates = {
            "learning_rates": self._get_lrs(indices),
            "wds": self._get_wds(indices),
            "step_count": counts,
        }
        own = {"beta1": self.beta1, "beta2": self.beta2, "epsilon": self.epsilon}
        own |= {"bias_correction": self.bias_correction, "num_tensors": len(indices), **self.bounds()}
        arrays = in_turn(weights, grads, *zip(*states, strict=True))
        nd._multi_lamb_update(*arrays, out=list(weights), **rates, **own, **self.common_of_several())

    def bounds(self) -> dict[str, float]:
        """The bounds of the norm that there are, as parameters."""
        bounds = {"lower_bound": self.lower_bound, "upper_bound": self.upper_bound}
        return {key: bound for key, bound in bounds.items() if bound is not None}

    def step(self, index: Index, weight: NDArray, grad: NDArray, state: State) -> None:
        """The direction, its norm and the weight's, then the step."""
        own = {"beta1": self.beta1, "beta2": self.beta2, "epsilon": self.epsilon}
        own |= {"t": self._index_update_count[index], "bias_correction": self.bias_correction}
        direction = nd.lamb_update_phase1(weight, grad, *state, **own, **self.common(index))
        norms = [nd._lamb_norm(array) for array in (weight, direction)]
        nd.lamb_update_phase2(weight, direction, *norms, out=weight, lr=self._get_lr(index), **self.bounds())
