"""`mx.misc`: learning rates as programs of before MXNet 0.9 scheduled them.

Source: python/mxnet/misc.py.
"""

from __future__ import annotations

from typing import Any

import operad

LearningRateScheduler = operad.lr_scheduler.LRScheduler


def FactorScheduler(step: int, factor: float = 0.1) -> Any:  # noqa: N802 - a class in MXNet
    """`operad.lr_scheduler.FactorScheduler`: the rate times `factor` after every `step` updates."""
    return operad.lr_scheduler.FactorScheduler(step, factor)
