"""Group M: one array in the place of several."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import combinations, product
from typing import Any, Final

import numpy as np

from operad.operator import BackwardEntry
from operad_check.cases.kinds import LARGE, ORDINARY
from operad_check.comparison.closeness import ROUNDINGS, coarsest, magnitude, tolerance
from operad_check.comparison.terms import expect_close_in_terms
from operad_check.running.variation import GRADIENTS, OUTPUTS, RESULTS, Comparison, Runs, Variant, variation
from operad_check.trials.trial import Array, Trial
from operad_sdk.domains import Real

_MOST: Final = 12
"""Pairs of arguments, and of head gradients and arguments, that are tried in one case."""


def _within_rounding_of_equals(run: Comparison) -> int:
    """Compare up to another order of sums of equal terms."""
    trial = run.trial
    # n equal terms round one way, by up to n / 2 roundings of their sum, and other strides may add them up in
    # another order; 64 roundings are allowed anyhow
    longest = max((size for shape in trial.in_shapes for size in shape), default=1)
    terms = max(1.0, longest / ROUNDINGS)
    relative, absolute = tolerance(trial.subject.contract, coarsest(trial))
    bounds = (relative * terms, absolute * terms)
    scale = magnitude(trial.inputs, run.expected if run.values is GRADIENTS else ())
    return expect_close_in_terms(trial, run.values.plain, *run.arrays, bounds, scale, **run.violation)


@variation("M409", ORDINARY, LARGE, values=RESULTS, compare=_within_rounding_of_equals)
def the_same_array_twice(trial: Trial) -> Runs:
    """One array may be several arguments, or one element repeated by strides of 0.

    `op(x, x)` is an ordinary call, and a broadcast array has one element for all.

    Broken by:
        def forward(lhs, rhs):
            lhs -= lhs.mean()    # and rhs, if it is the same array
            return lhs * rhs
    Within:
        spec = "lhs:(*S), rhs:(*S) -> output:(*S)"
        accepts = "floating"
        HERE
    Fix:
        Change nothing that is read, and take strides as they are.
    How:
        Check results where one array is two arguments, and where its elements repeat by strides of 0.
    """
    trial.expect_repeatable()
    free = [_is_free(trial.subject.contract.domain(name)) for name in trial.arguments]
    kinds = list(zip(trial.in_shapes, trial.in_types, strict=True))
    usable = [i for i, is_free in enumerate(free) if is_free]
    for i, j in _few([(i, j) for i, j in combinations(usable, 2) if kinds[i] == kinds[j]]):
        yield from _one_as_two_arguments(trial, i, j)
    yield from _heads_as_arguments(trial)
    for i, name in enumerate(trial.arguments):
        for words, view in _repeated(trial.inputs[i]) if free[i] and trial.inputs[i].size > 1 else ():
            full, repeated = list(trial.inputs), [array.copy() for array in trial.inputs]
            full[i], repeated[i] = np.ascontiguousarray(view), view
            moved = trial.with_inputs(full)
            when = f"where {name} is {words} repeated by strides of 0"
            yield Variant(when, partial(moved.forward, repeated), OUTPUTS, trial=moved)
    return None


def _one_as_two_arguments(trial: Trial, i: int, j: int) -> Runs:
    inputs = [trial.inputs[i if k == j else k].copy() for k in range(len(trial.inputs))]
    moved = trial.with_inputs(inputs)
    shared = [array.copy() for array in inputs]
    shared[j] = shared[i]
    when = f"where {trial.arguments[i]} and {trial.arguments[j]} are one array"
    yield Variant(when, partial(moved.forward, shared), trial=moved)
    if any(trial.differentiable()):
        yield _backward(moved, i, BackwardEntry("in_data", j), when)
    return None


def _few(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The pairs; of many, some from the first to the last: lists of a hundred arrays have thousands."""
    return [pairs[at] for at in sorted({*np.linspace(0, len(pairs) - 1, _MOST, dtype=int)})] if pairs else []


def _heads_as_arguments(trial: Trial) -> Runs:
    """Gradients where one array is a head gradient and an argument."""
    if not any(trial.differentiable()):
        return None
    heads = trial.out_grads[: trial.visible]
    for k, i in _few(
        [
            (k, i)
            for (k, head), (i, array) in product(enumerate(heads), enumerate(trial.inputs))
            if (head.shape, head.dtype) == (array.shape, array.dtype)
        ]
    ):
        heads = trial.out_grads[: trial.visible]
        heads[k] = trial.inputs[i]
        moved = Trial(trial.subject, replace(trial.case, out_grads=tuple(heads)))
        when = f"where the head gradient of {trial.outputs[k]} and {trial.arguments[i]} are one array"
        yield _backward(moved, i, BackwardEntry("out_grad", k), when)
    return None


def _backward(trial: Trial, i: int, entry: BackwardEntry, when: str) -> Variant:
    """A backward pass for which an argument and another entry, of the same values, are one array."""
    pair, one = (BackwardEntry("in_data", i), entry), trial.inputs[i].copy()
    run = partial(trial.backward, keep=lambda entry, array: one if entry in pair else array.copy())
    return Variant(when, run, GRADIENTS, trial=trial)


def _repeated(array: Array) -> Iterator[tuple[str, Array]]:
    """Arrays that broadcasting makes: the first element repeated everywhere, or along all axes but one."""
    yield "one element", np.broadcast_to(array[(slice(0, 1),) * array.ndim], array.shape)
    if array.ndim > 1:
        yield "one row", np.broadcast_to(array[:1], array.shape)
        yield "one column", np.broadcast_to(array[..., :1], array.shape)


def _is_free(domain: Any) -> bool:
    return domain is None or isinstance(domain, Real)
