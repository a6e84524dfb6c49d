"""The kernels that checks try: also those that would pay for larger arrays only."""

from __future__ import annotations

from typing import Any

from operad.context import cpu
from operad.operator import Kernel, KernelCall, ranked
from operad_sdk.check.trials.trial import Trial


def is_possible(kernel: Kernel) -> bool:
    """Whether a kernel can run in this environment; compiled loops need numba."""
    return kernel.device in ("any", "cpu") and bool(getattr(kernel.when, "is_possible", True))


def can_compute(kernel: Kernel, call: KernelCall) -> bool:
    """Whether a kernel applies to a call, or would if that were larger."""
    when: Any = getattr(kernel.when, "regardless_of_size", kernel.when)
    return kernel._replace(when=when).rejection(call) is None


def call_of(trial: Trial) -> KernelCall:
    """What kernels are asked for in a trial."""
    return KernelCall(trial.prop, cpu(), trial.in_shapes, trial.in_types)


def usable(call: KernelCall) -> list[Kernel]:
    """Those that can compute a call, best first."""
    return [kernel for kernel in ranked(call) if can_compute(kernel, call)]
