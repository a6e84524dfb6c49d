"""Learning-rate schedules: the rate as a function of the number of updates so far.

A schedule keeps no count of its own, so that one asked again, or asked after training was resumed,
gives the same rate.

Source: python/mxnet/lr_scheduler.py. Differs: stateless; `base_lr` is never changed by a call.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, final

from operad.errors import UnsupportedError
from operad_sdk import ParamError
from operad_sdk.arguments import Suggesting, described

WarmupMode = Literal["linear", "constant"]


class LRScheduler(metaclass=Suggesting):
    """A schedule that begins with a warm-up.

    Args:
        base_lr: Rate at the end of the warm-up.
        warmup_steps: Updates that the warm-up takes.
        warmup_begin_lr: Rate at its beginning.
        warmup_mode: `"linear"` from there to `base_lr`, or `"constant"`.

    Raises:
        ParamError: An argument is out of range.
    """

    def __init__(
        self,
        base_lr: float = 0.01,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0.0,
        warmup_mode: WarmupMode = "linear",
    ) -> None:
        name = type(self).__name__
        if warmup_steps < 0:
            raise ParamError(f"{name}: warmup_steps is {warmup_steps}, expected at least 0")
        if warmup_begin_lr > base_lr:
            raise ParamError(
                f"{name}: warmup_begin_lr is {warmup_begin_lr}, expected at most base_lr {base_lr}"
            )
        if warmup_mode not in ("linear", "constant"):
            raise ParamError(f"{name}: warmup_mode is {warmup_mode!r}, expected 'linear' or 'constant'")
        self.base_lr = base_lr
        self.warmup_steps = warmup_steps
        self.warmup_begin_lr = warmup_begin_lr
        self.warmup_mode = warmup_mode

    __repr__ = described

    def __call__(self, num_update: int) -> float:
        """The rate of update number `num_update`; the first has number 1."""
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        return self.rate(num_update)

    def rate(self, num_update: int) -> float:
        """The rate after the warm-up; a subclass has this method, or `__call__` itself."""
        raise UnsupportedError(f"{type(self).__name__} does not say what the rate is; define rate")

    def get_warmup_lr(self, num_update: int) -> float:
        """The rate during the warm-up."""
        if self.warmup_mode == "constant":
            return self.warmup_begin_lr
        rise = self.base_lr - self.warmup_begin_lr
        return self.warmup_begin_lr + rise * num_update / self.warmup_steps


@final
class FactorScheduler(LRScheduler):
    """Multiply the rate with a factor every `step` updates.

    >>> schedule = FactorScheduler(step=10, factor=0.5, base_lr=1.0)
    >>> [schedule(n) for n in (1, 10, 11, 21)]
    [1.0, 1.0, 0.5, 0.25]

    Args:
        step: Updates between two changes.
        factor: At most 1.
        stop_factor_lr: The rate is not made smaller than this.
        base_lr: As in `LRScheduler`, with what follows.
    """

    def __init__(
        self,
        step: int,
        factor: float = 1.0,
        stop_factor_lr: float = 1e-8,
        base_lr: float = 0.01,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0.0,
        warmup_mode: WarmupMode = "linear",
    ) -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if step < 1:
            raise ParamError(f"FactorScheduler: step is {step}, expected at least 1")
        _check_factor("FactorScheduler", factor)
        self.step = step
        self.factor = factor
        self.stop_factor_lr = stop_factor_lr

    def rate(self, num_update: int) -> float:
        """The rate after as many changes as are due."""
        changes = max(num_update - 1, 0) // self.step
        return max(self.base_lr * self.factor**changes, self.stop_factor_lr) if changes else self.base_lr


@final
class MultiFactorScheduler(LRScheduler):
    """Multiply the rate with a factor after each of some given numbers of updates.

    >>> schedule = MultiFactorScheduler(step=[10, 15], factor=0.5, base_lr=1.0)
    >>> [schedule(n) for n in (10, 11, 16)]
    [1.0, 0.5, 0.25]

    Args:
        step: Numbers of updates, increasing.
        factor: At most 1.
        base_lr: As in `LRScheduler`, with what follows.
    """

    def __init__(
        self,
        step: Sequence[int],
        factor: float = 1.0,
        base_lr: float = 0.01,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0.0,
        warmup_mode: WarmupMode = "linear",
    ) -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        steps = list(step)
        if not steps or steps[0] < 1 or any(a >= b for a, b in pairwise(steps)):
            raise ParamError(
                f"MultiFactorScheduler: step is {steps}, expected increasing numbers of at least 1"
            )
        _check_factor("MultiFactorScheduler", factor)
        self.step = steps
        self.factor = factor

    def rate(self, num_update: int) -> float:
        """The rate after as many changes as are due."""
        return self.base_lr * self.factor ** sum(num_update > step for step in self.step)


class _Decay(LRScheduler):
    """From `base_lr` down to `final_lr`, where it stays; `weight` says how."""

    def __init__(
        self,
        max_update: int,
        base_lr: float = 0.01,
        final_lr: float = 0.0,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0.0,
        warmup_mode: WarmupMode = "linear",
    ) -> None:
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if max_update <= warmup_steps:
            raise ParamError(
                f"{type(self).__name__}: max_update is {max_update}, expected more than the "
                f"{warmup_steps} of the warm-up, and at least 1"
            )
        self.max_update = max_update
        self.final_lr = final_lr

    def rate(self, num_update: int) -> float:
        """The rate at this part of the way."""
        done = (min(num_update, self.max_update) - self.warmup_steps) / (self.max_update - self.warmup_steps)
        return self.final_lr + (self.base_lr - self.final_lr) * self.weight(done)

    @abstractmethod
    def weight(self, done: float) -> float:
        """1 at the beginning of the way (0), 0 at its end (1)."""


@final
class PolyScheduler(_Decay):
    """Go down as a power of what remains of `max_update` updates.

    >>> schedule = PolyScheduler(max_update=10, base_lr=1.0)
    >>> [schedule(n) for n in (0, 5, 10, 11)]
    [1.0, 0.25, 0.0, 0.0]
    """

    def __init__(
        self,
        max_update: int,
        base_lr: float = 0.01,
        pwr: float = 2,
        final_lr: float = 0.0,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0.0,
        warmup_mode: WarmupMode = "linear",
    ) -> None:
        super().__init__(max_update, base_lr, final_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        self.power = pwr

    def weight(self, done: float) -> float:
        """The power of the rest."""
        return float((1 - done) ** self.power)


@final
class CosineScheduler(_Decay):
    """Go down along half a wave of the cosine during `max_update` updates.

    >>> schedule = CosineScheduler(max_update=10, base_lr=1.0)
    >>> [round(schedule(n), 4) for n in (0, 5, 10, 11)]
    [1.0, 0.5, 0.0, 0.0]
    """

    def weight(self, done: float) -> float:
        """The cosine, moved to lie between 0 and 1."""
        return (1 + math.cos(math.pi * done)) / 2


def _check_factor(name: str, factor: float) -> None:
    if factor > 1:
        raise ParamError(f"{name}: factor is {factor}, expected at most 1, so that the rate goes down")
