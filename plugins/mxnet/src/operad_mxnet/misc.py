"""`mx.misc`: learning rates as programs of before MXNet 0.9 scheduled them.

Source: python/mxnet/misc.py.
"""

from __future__ import annotations

from operad.lr_scheduler import FactorScheduler as _FactorScheduler
from operad.lr_scheduler import LRScheduler

LearningRateScheduler = LRScheduler


class FactorScheduler(_FactorScheduler):
    """The rate times `factor` after every `step` updates, see `operad.lr_scheduler`; other defaults.

    Args:
        step: Updates at one rate.
        factor: What the rate is multiplied by.
    """

    def __init__(self, step: int, factor: float = 0.1) -> None:
        super().__init__(step, factor)
