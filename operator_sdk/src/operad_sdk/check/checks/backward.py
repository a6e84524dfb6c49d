"""Group B: identities of gradients that need no derivative."""

from __future__ import annotations

from typing import Any

import numpy as np

from operad.operator import OUT, OGRAD, OpReq, SimpleOpProperty
from operad_sdk.check.bits import expect_same
from operad_sdk.check.closeness import expect_close, magnitude, tolerance
from operad_sdk.check.kinds import ORDINARY, WIDE
from operad_sdk.check.register import Evidence, check
from operad_sdk.check.trial import Trial, raising
from operad_sdk.check.violation import Violation


@check("B303", WIDE)
def linear(trial: Trial) -> Evidence:
    """Sums and multiples of head gradients give sums and multiples of gradients."""
    if not any(trial.differentiable()) or trial.subject.contract.ignores_head_gradient:
        return None
    one, other = _heads(trial, 10), _heads(trial, 20)
    mixed = [None if a is None else 2 * a - 0.5 * b for a, b in zip(one, other, strict=True)]
    first, second, found = (trial.backward(heads) for heads in (one, other, mixed))
    expected = [None if a is None else 2 * a - 0.5 * b for a, b in zip(first, second, strict=True)]
    names = [f"gradient of {name}" for name in trial.arguments]
    bounds = tolerance(trial.subject.contract, np.dtype(np.float64))
    scale = magnitude(first, second)
    hint = "If it is a loss: declare Contract(ignores_head_gradient=reason)."
    fix = hint if all(a is None or np.array_equal(a, b) for a, b in zip(first, second, strict=True)) else ""
    expect_close(names, found, expected, "for head gradients 2 g - h / 2", bounds, scale, fix=fix)
    return _nonzero(first)


@check("B304", WIDE)
def ignores_head_gradient(trial: Trial) -> Evidence:
    """Another head gradient, and none, change nothing."""
    if not any(trial.differentiable()) or not trial.subject.contract.ignores_head_gradient:
        return None
    first = trial.backward()
    names = [f"gradient of {name}" for name in trial.arguments]
    other = trial.backward(_heads(trial, 20))
    expect_same(names, other, first, "for another head gradient")
    return _nonzero(first)


@check("B306", ORDINARY, reports_raising=True)
def runs(trial: Trial) -> Evidence:
    """Backward for all gradients and for each alone; what functions return fits their arguments."""
    flows = trial.differentiable()
    if not any(flows):
        return None
    trial.backward()
    for place in [place for place, flag in enumerate(flows) if flag]:
        trial.backward(req=[OpReq.WRITE if i == place else OpReq.NULL for i in range(len(flows))])
    if isinstance(trial.prop, SimpleOpProperty):
        _check_returned(trial, trial.prop)
    return sum(flows)


def _check_returned(trial: Trial, prop: SimpleOpProperty) -> None:
    arrays = {OGRAD: trial.out_grads[0], OUT: trial.result.outputs[0]}
    arrays |= dict(zip(trial.arguments, trial.inputs, strict=True))
    context = (trial.context(prop.backward_resource(trial.in_shapes)),) if prop.simple.takes_context else ()
    for name, gradient, array in zip(trial.arguments, prop.simple.gradients, trial.inputs, strict=True):
        if gradient is None or gradient.takes_out:
            continue
        reads = [arrays[read].copy() for read in gradient.reads]
        with raising("backward"):
            value = gradient.function(*context, *reads, *prop.call_params(trial.in_types[0]))
        if isinstance(value, np.ndarray) and value.ndim and value.shape != array.shape:
            raise Violation(f"the gradient of {name} has shape {value.shape}, and {name} has {array.shape}")
        if isinstance(value, np.ndarray) and value.dtype.kind not in "fb":
            raise Violation(f"the gradient of {name} is {value.dtype}, and {name} is {array.dtype}")


@check("B307", WIDE)
def written(trial: Trial) -> Evidence:
    """No element of a gradient keeps either of two poisons."""
    if not any(trial.differentiable()):
        return None
    first = trial.backward()
    second = trial.backward(in_grads=[None if a is None else np.full_like(a, -112.75) for a in first])
    for name, one, two in zip(trial.arguments, first, second, strict=True):
        if one is None:
            continue
        kept = np.isnan(one) & (two == -112.75)
        if kept.any():
            place = [int(i) for i in np.argwhere(kept)[0]]
            raise Violation(f"gradient of {name}{place or ''} is not written: it holds what was there before")
    return sum(array.size for array in first if array is not None)


@check("B309", ORDINARY)
def changes_nothing_else(trial: Trial) -> Evidence:
    """Everything that backward is handed is the same afterwards."""
    if not any(trial.differentiable()):
        return None
    given: list[tuple[str, Any, Any]] = []

    def keep(entry: Any, array: Any) -> Any:
        names = trial.arguments if entry.kind == "in_data" else trial.outputs
        word = "head gradient of " if entry.kind == "out_grad" else ""
        handed = array.copy()
        given.append((word + names[entry.index], handed, array))
        return handed

    trial.backward(keep=keep)
    names, found, before = zip(*given, strict=True)
    return expect_same(names, found, before, "after backward")


@check("B310", WIDE)
def deterministic(trial: Trial) -> Evidence:
    """The same pass twice, prepared, on a new operator, and after forward has run on other values."""
    if not any(trial.differentiable()):
        return None
    first = trial.backward()
    found = {
        "when run again": trial.backward(),
        "by prepare_backward": trial.backward(prepared=True),
        "on an operator that ran nothing before": trial.backward(operator=trial.new_operator()),
    }
    trial.forward([_other(array) for array in trial.inputs])
    found["after forward has run on other values"] = trial.backward()
    names = [f"gradient of {name}" for name in trial.arguments]
    exact = not trial.subject.contract.nondeterministic
    return sum(expect_same(names, other, first, when, is_exact=exact) for when, other in found.items())


def _other(array: Any) -> Any:
    """The same values in another order, so that they stay in their domain."""
    return array[(slice(None, None, -1),) * array.ndim].copy()


def _heads(trial: Trial, salt: int) -> list[Any]:
    return [
        None if head is None else trial.lattice(head.shape, head.dtype, salt + place)
        for place, head in enumerate(trial.out_grads)
    ]


def _nonzero(gradients: Any) -> int:
    return sum(int(np.count_nonzero(array)) for array in gradients if array is not None)
