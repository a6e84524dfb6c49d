"""Group D: sums of long axes, which keep the digits that short ones have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import Any, Final

import numpy as np

from operad.operator import as_cost, is_known
from operad_check.cases.kinds import ORDINARY
from operad_check.cases.retype import is_random, retyped
from operad_check.comparison.rounding import WIDE_TYPE, Values, expect_near
from operad_check.register import Evidence, check
from operad_check.running.shrink_arrays import is_accepted
from operad_check.trials.case import Case
from operad_check.trials.trial import Trial
from operad_check.trials.violation import OperatorRaised

_LENGTH: Final = 5_000
_MOST: Final = 1 << 16
"""Elements of an array, and of what is declared that a call costs a hundredth."""
_UNEVEN: Final = 1.1
"""Factor that numbers get which a few digits hold, as their sums need no rounding."""
_SINGLE: Final = np.dtype(np.float32)


@check("D610", ORDINARY)
def long_axes(trial: Trial) -> Evidence:
    """Results of a long axis of equal elements have as many digits as those of a short one.

    Added one by one, numbers of single precision lose a digit for each tenfold length: a mean of a million
    is 1 % off.

    Broken by:
        for row in data: total += row
    Within:
        spec = "data:(N + 2, D) -> output:(D)"
        accepts = "floating"
        def forward(data):
            total = np.zeros(data.shape[1], data.dtype)
            HERE
            return total
    Fix:
        Add with operad_sdk.blocked_sum; NumPy's own sum is exact enough along the last axis alone.
    How:
        Compare both passes in float32, plain and compiled, with float64, where an axis is 5,000 times its
        first element.

        Every length of a case becomes long in turn, and no tolerance depends on it. Operators that declare
        products of matrices in their cost, which BLAS adds up, are left out.
    """
    if is_random(trial) or (made := retyped(trial, _SINGLE)) is None:
        return None
    compared = 0
    for long in _lengthened(made):
        if (wide := retyped(long, WIDE_TYPE)) is None:
            continue
        wide = _with_even_heads(wide, long)
        if not long.is_runnable or not wide.is_runnable:
            continue
        for operator in long.paths.values():
            is_plain = operator is long.operator  # which has run
            outputs = long.result.outputs if is_plain else long.forward(operator=operator).outputs
            compared += _compared(long.outputs, outputs, wide, lambda trial: trial.result.outputs)
            if any(long.differentiable()):
                found = long.gradients if is_plain else long.backward(operator=operator, outputs=outputs)
                compared += _compared(long.gradient_names, found, wide, _gradients)
    return compared or None


def _compared(names: Sequence[str], found: Sequence[Any], wide: Trial, values: Values) -> int:
    """Compare what did not leave the range of the type on the way."""
    with np.errstate(over="ignore"):
        kept = [
            np.where(np.isfinite(one), one, want).astype(_SINGLE)
            if one is not None and one.dtype == _SINGLE
            else one
            for one, want in zip(found, values(wide), strict=True)
        ]
    return expect_near(names, kept, wide, values, _SINGLE, are_gradients=values is _gradients)


def _gradients(trial: Trial) -> list[Any]:
    return trial.gradients


def _lengthened(trial: Trial) -> Iterator[Trial]:
    """The trial with one length after another made long, where the operator takes it."""
    for length in sorted({size for shape in trial.in_shapes for size in shape if size > 1}):
        shapes = [[_LENGTH if size == length else size for size in shape] for shape in trial.in_shapes]
        if max(map(prod, shapes)) > _MOST:
            continue
        case = _long(trial, length)
        if is_accepted(trial.subject, case):
            try:
                long = Trial(trial.subject, case)
                cost = as_cost(long.prop.cost(long.in_shapes, long.out_shapes))
            except OperatorRaised:
                continue
            sizes = [prod(shape) for shape in long.out_shapes if is_known(shape)]
            is_small = max(sizes, default=0) <= _MOST and cost.operations <= 100 * _MOST
            if is_small and not cost.product_flops:
                yield _with_even_heads(long, long)


def _long(trial: Trial, length: int) -> Case:
    contract = trial.subject.contract

    def longer(name: str, array: Any) -> Any:
        found = array * array.dtype.type(_UNEVEN) if _is_free(name, array) else array
        for axis, size in enumerate(array.shape):
            if size == length:
                found = np.repeat(found.take([0], axis), _LENGTH, axis)
        return found

    def _is_free(name: str, array: Any) -> bool:
        return bool(array.dtype.kind == "f" and contract.domain(name) is None)

    inputs = {name: longer(name, array) for name, array in trial.case.inputs.items()}
    aux = {name: longer(name, array) for name, array in trial.case.aux.items()}
    return replace(trial.case, inputs=inputs, aux=aux, out_grads=())


def _with_even_heads(trial: Trial, source: Trial) -> Trial:
    """The trial whose head gradients are one number, which the output types of `source` hold."""
    outputs = zip(trial.out_shapes, source.out_types, trial.out_types, strict=True)
    heads = [np.full(shape, _UNEVEN).astype(held).astype(dtype) for shape, held, dtype in outputs]
    return Trial(trial.subject, replace(trial.case, out_grads=tuple(heads[: trial.visible])))
