"""Gradients that are 0 by nature, and not for want of examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from operad_sdk.check.trials.trial import Trial


def is_flat(trial: Trial, gradients: Sequence[Any]) -> bool:
    """Whether gradients are 0, as those of steps are; that they are is B301's to compare.

    Where a domain is declared it may be the domain that is flat, and the function that is not.
    """
    contract = trial.subject.contract
    pairs = zip(trial.arguments, trial.differentiable(), strict=True)
    if contract.why_no_numeric_gradient(trial.prop) or any(f and contract.domain(name) for name, f in pairs):
        return False
    return all(array is None or (array.size and not array.any()) for array in gradients)
