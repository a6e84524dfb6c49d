"""Gradients that are 0 by nature, and not for want of examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from operad_check.trials.trial import Trial


def is_flat(trial: Trial, gradients: Sequence[Any]) -> bool:
    """Return whether gradients are 0, as those of step functions; B301 checks that 0 is right.

    A function may be flat in a declared domain alone, so no argument with a domain counts.
    """
    contract = trial.subject.contract
    pairs = zip(trial.arguments, trial.differentiable(), strict=True)
    if contract.why_no_numeric_gradient(trial.prop) or any(f and contract.domain(name) for name, f in pairs):
        return False
    return all(array is None or (array.size and not array.any()) for array in gradients)
