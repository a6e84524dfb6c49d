"""Group B: identities of gradients that need no derivative, and arrays that backward must not change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from operad.operator import BackwardEntry, OpReq
from operad_check.cases.kinds import LARGE, LONG, ORDINARY, WIDE
from operad_check.comparison.bitwise import expect_same
from operad_check.comparison.closeness import at, coarsest, magnitude, scale_of, tolerance
from operad_check.comparison.flat import is_flat
from operad_check.comparison.terms import expect_close_in_terms, gradients
from operad_check.running.register import Evidence, check
from operad_check.trials.returned import expect_fitting
from operad_check.trials.trial import Array, Trial
from operad_check.trials.violation import OperatorRaised, Violation

_FACTORS: Final = (2.0**-20, 2.0**12)
"""Of the head gradient; clipping or a threshold shows at one of them."""
_ROOM: Final = 2.0**10
"""Factor between the largest number and gradients, so that sums of multiples of gradients are finite."""

_FILL: Final = -112.75
"""Contents of gradients before they are written, where these are not NaN."""


@check("B303", WIDE, LARGE)
def linear(trial: Trial) -> Evidence:
    """Check that sums and multiples of head gradients give sums and multiples of gradients."""
    if not any(trial.differentiable()) or trial.subject.contract.why_head_is_ignored(trial.prop):
        return None
    one, other = _heads(trial, 10), _heads(trial, 20)
    first, second, found = (trial.backward(heads) for heads in (one, other, _mixed(one, other)))
    bounds = tolerance(trial.subject.contract, coarsest(trial))
    scale = scale_of(trial, first, second, trial.inputs, trial.out_grads)
    is_ignored = all(a is None or np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    hint = "If it is a loss: declare Contract(ignores_head_gradient=reason)."
    _expect_finite_close(
        trial,
        found,
        _mixed(first, second),
        "for head gradients 2 g - h / 2",
        bounds,
        scale,
        hint * is_ignored,
    )
    if all(dtype.itemsize >= 4 for dtype in [*trial.in_types, *trial.out_types] if dtype.kind == "f"):
        for factor in _FACTORS:
            if magnitude(first, trial.out_grads) * factor > float(np.finfo(coarsest(trial)).max) / _ROOM:
                continue  # what is summed on the way leaves the range
            scaled = trial.backward(_times(one, factor))
            when = f"(over {factor:g}) for {factor:g} times the head gradient"
            _expect_finite_close(
                trial, _times(scaled, 1 / factor), first, when, bounds, scale, hint * is_ignored
            )
    return _nonzero(first) or (None if is_flat(trial, first) else 0)


@check("B304", WIDE)
def ignores_head_gradient(trial: Trial) -> Evidence:
    """Check that gradients are the same for another head gradient, for zeros and for NaN."""
    if not any(trial.differentiable()) or not trial.subject.contract.why_head_is_ignored(trial.prop):
        return None
    first = trial.backward()
    expect_same(_names(trial), trial.backward(_heads(trial, 20)), first, "for another head gradient")
    for value in (0.0, np.nan):
        heads = [None if head is None else np.full_like(head, value) for head in trial.out_grads]
        expect_same(_names(trial), trial.backward(heads), first, f"for a head gradient of {value:g}")
    return _nonzero(first)


@check("B306", ORDINARY, LARGE, reports_raising=True)
def runs(trial: Trial) -> Evidence:
    """Run backward for all gradients and for each alone; check that returned arrays fit their targets."""
    flows = trial.differentiable()
    if not any(flows):
        return None
    try:
        trial.forward()
    except OperatorRaised:
        return None  # which F201 reports
    _expect_filled(trial, trial.write_requests())
    for place in [place for place, flag in enumerate(flows) if flag]:
        trial.backward(req=[OpReq.WRITE if i == place else OpReq.NULL for i in range(len(flows))])
    expect_fitting(trial, lambda operator: trial.backward(operator=operator), _names(trial))
    return sum(flows)


def _expect_filled(trial: Trial, requests: Sequence[OpReq]) -> None:
    """Raise Violation unless backward writes into the arrays that it is handed, without replacing them."""
    handed = trial.poisoned_gradients(requests)
    returned = trial.backward(req=requests, in_grads=handed)
    for name, mine, theirs in zip(_names(trial), handed, returned, strict=True):
        if mine is not theirs:
            raise Violation(
                f"backward puts another array in place of the {name} it is handed, which stays unwritten",
                fix="Write into the array that is there: operad.operator.assign(in_grad[0], req[0], value).",
            )


@check("B307", WIDE, LARGE, LONG)
def written(trial: Trial) -> Evidence:
    """Check that no element of a gradient keeps either of two poisons."""
    if not any(trial.differentiable()):
        return None
    first = trial.poisoned_gradients(trial.write_requests())
    second = [None if a is None else np.full_like(a, _FILL) for a in first]
    trial.backward(in_grads=first)
    trial.backward(in_grads=second)
    for name, one, two in zip(_names(trial), first, second, strict=True):
        if one is None or two is None:
            continue
        kept = np.isnan(one) & (two == _FILL)
        if kept.any():
            place = tuple(int(i) for i in np.argwhere(kept)[0])
            raise Violation(f"{at(name, place)} is not written: it holds what was there before")
    return sum(array.size for array in first if array is not None)


@check("B309", ORDINARY, LARGE)
def changes_nothing_else(trial: Trial) -> Evidence:
    """Check that backward changes none of the arrays that it reads."""
    if not any(trial.differentiable()):
        return None
    given: list[tuple[str, Any, Any]] = []

    def keep(entry: BackwardEntry, array: Array) -> Array:
        names = trial.arguments if entry.kind == "in_data" else trial.outputs
        word = "head gradient of " if entry.kind == "out_grad" else ""
        handed = array.copy()
        given.append((word + names[entry.index], handed, array))
        return handed

    trial.backward(keep=keep)
    trial.backward(keep=keep, prepared=True)
    names, found, before = zip(*given, strict=True)
    return expect_same(names, found, before, "after backward")


@check("B310", WIDE, LARGE)
def deterministic(trial: Trial) -> Evidence:
    """Check that gradients are the same prepared, on a new operator, and after a run on other values."""
    if not any(trial.differentiable()):
        return None
    exact = not trial.subject.contract.nondeterministic
    operator = trial.new_operator()
    trial.forward(operator=operator)
    first = trial.backward(operator=operator)
    if not trial.prop.is_stateful:
        _expect_no_memory(trial, first, exact)
    others = [_other(array) for array in trial.inputs]
    result = trial.forward(others, operator=operator)
    trial.backward(inputs=others, outputs=result.outputs, operator=operator)
    trial.forward(operator=operator)
    found = trial.backward(operator=operator, prepared=True)
    return expect_same(_names(trial), found, first, "when run again, by backward_templates", is_exact=exact)


def _expect_no_memory(trial: Trial, first: Sequence[Any], exact: bool) -> None:
    """Raise Violation if gradients depend on anything of an earlier forward pass but its outputs."""
    used = trial.new_operator()
    trial.forward([_other(array) for array in trial.inputs], operator=used)
    runs_on = {
        "after forward has run on other values": used,
        "on an operator that ran nothing before": trial.new_operator(),
    }
    for when, operator in runs_on.items():
        try:
            found = trial.backward(operator=operator)
        except OperatorRaised as error:
            raise Violation(f"{when}, {error}") from error
        expect_same(_names(trial), found, first, when, is_exact=exact)


def _names(trial: Trial) -> list[str]:
    return [f"gradient of {name}" for name in trial.arguments]


def _other(array: Array) -> Array:
    """Same values in reverse order, so that they stay in their domain."""
    return array[(slice(None, None, -1),) * array.ndim].copy()


def _heads(trial: Trial, salt: int) -> list[Any]:
    return [
        None if head is None else trial.lattice(head.shape, head.dtype, salt + place)
        for place, head in enumerate(trial.out_grads)
    ]


def _mixed(one: Sequence[Any], other: Sequence[Any]) -> list[Any]:
    with np.errstate(all="ignore"):
        return [None if a is None else 2 * a - 0.5 * b for a, b in zip(one, other, strict=True)]


def _times(arrays: Sequence[Any], factor: float) -> list[Any]:
    with np.errstate(all="ignore"):
        return [None if a is None else (a * factor).astype(a.dtype) for a in arrays]


def _expect_finite_close(
    trial: Trial,
    found: Sequence[Any],
    expected: Any,
    when: str,
    bounds: tuple[float, float],
    scale: float,
    fix: str,
) -> None:
    """Raise Violation unless gradients are close wherever the expected ones are finite."""
    finite = [
        None if a is None else np.where(np.isfinite(b), a, b) for a, b in zip(found, expected, strict=True)
    ]
    expect_close_in_terms(trial, gradients, _names(trial), finite, expected, when, bounds, scale, fix=fix)


def _nonzero(gradients: Sequence[Any]) -> int:
    return sum(int(np.count_nonzero(array)) for array in gradients if array is not None)
