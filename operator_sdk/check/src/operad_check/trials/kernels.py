"""The kernels that checks try, with those that would pay off for larger arrays only."""

from __future__ import annotations

from typing import Any

from operad.context import cpu
from operad.operator import Kernel, KernelCall, ranked
from operad_check.trials.trial import Trial


def is_possible(kernel: Kernel) -> bool:
    """Return whether a kernel can run in this environment; compiled loops need numba."""
    return kernel.device in ("any", "cpu") and bool(getattr(kernel.when, "is_possible", True))


def can_compute(kernel: Kernel, call: KernelCall) -> bool:
    """Return whether a kernel applies to a call, or would apply to a larger one."""
    when: Any = getattr(kernel.when, "regardless_of_size", kernel.when)
    return kernel._replace(when=when).rejection(call) is None


def call_of(trial: Trial) -> KernelCall:
    """Description of a trial's call, by which kernels are chosen."""
    return KernelCall(trial.prop, cpu(), trial.in_shapes, trial.in_types)


def usable(call: KernelCall) -> list[Kernel]:
    """Kernels that can compute a call, best first."""
    return [kernel for kernel in ranked(call) if can_compute(kernel, call)]
