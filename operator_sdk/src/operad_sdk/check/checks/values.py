"""Group F: outputs beside those of the author's reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from operad_sdk.check.closeness import at, coarsest, expect_close, magnitude, tolerance
from operad_sdk.check.kinds import ORDINARY
from operad_sdk.check.reference import call_reference
from operad_sdk.check.register import Evidence, check
from operad_sdk.check.trial import Array, Trial
from operad_sdk.check.violation import OperatorRaised, Violation

_FAR: Final = 512
"""How many times as large arguments are of which nothing is declared: beyond where `exp` overflows."""


@check("F213", ORDINARY)
def reference(trial: Trial) -> Evidence:
    """Outputs beside those of the author's reference function."""
    function = trial.subject.contract.reference
    if function is None:
        return None
    expected = call_reference(function, trial)
    values = expected if isinstance(expected, (tuple, list)) else [expected]
    found = trial.result.outputs[: len(values)]
    if len(values) > len(found):
        raise Violation(f"the reference gives {len(values)} arrays, and there are {len(found)} outputs")
    arrays = [_numbers(name, value) for name, value in zip(trial.outputs, values, strict=False)]
    for name, one, want in zip(trial.outputs, found, arrays, strict=False):
        if want.shape != one.shape:
            raise Violation(f"{name} has shape {one.shape}, and the reference gives {want.shape}")
    names, bounds = trial.outputs[: len(values)], tolerance(trial.subject.contract, coarsest(trial))
    compared = expect_close(names, found, arrays, "", bounds, magnitude(trial.inputs, found))
    _expect_finite_far_out(trial, function, len(values))
    return compared


def _expect_finite_far_out(trial: Trial, function: Callable[..., Any], count: int) -> None:
    """For large arguments the operator overflows where its reference does, and only there."""
    contract = trial.subject.contract
    names = zip(trial.arguments, trial.inputs, strict=True)
    inputs = [
        array * array.dtype.type(_FAR) if array.dtype.kind == "f" and contract.domain(name) is None else array
        for name, array in names
    ]
    try:
        found = trial.forward(inputs).outputs[:count]
        expected = call_reference(function, trial, inputs)
    except (OperatorRaised, Violation):
        return  # nothing was promised of such arguments
    values = expected if isinstance(expected, (tuple, list)) else [expected]
    for name, one, value in zip(trial.outputs, found, values, strict=False):
        with np.errstate(all="ignore"):
            want = np.asarray(value).astype(one.dtype)
        lost = ~np.isfinite(one) & np.isfinite(want) if one.dtype.kind == "f" else np.zeros(one.shape, bool)
        if lost.any():
            place = tuple(int(i) for i in np.unravel_index(int(np.argmax(lost)), one.shape))
            raise Violation(
                f"{at(name, place)} is {one[place].item()!r} for arguments {_FAR} times as large, expected "
                f"{want[place].item()!r}",
                fix="Rearrange the computation so that no intermediate result overflows.",
            )


def _numbers(name: str, value: Any) -> Array:
    """What a reference gives for an output, as an array."""
    try:
        array = np.asarray(value)
    except ValueError:  # lists of several lengths
        array = np.asarray(None)
    if array.dtype.kind not in "biuf":
        raise Violation(f"for {name} the reference gives {value!r:.60}, expected an array of numbers")
    return array
