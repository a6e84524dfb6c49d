"""Group M: one array in the place of several."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from operad_sdk.check.cases.kinds import LARGE, ORDINARY
from operad_sdk.check.comparison.closeness import ROUNDINGS, coarsest, expect_close, magnitude, tolerance
from operad_sdk.check.running.register import Evidence, check
from operad_sdk.check.trials.trial import Array, Trial
from operad_sdk.domains import Real


@check("M409", ORDINARY, LARGE)
def the_same_array_twice(trial: Trial) -> Evidence:
    """Check results where one array is two arguments, and where its elements repeat by strides of 0."""
    trial.expect_repeatable()
    contract = trial.subject.contract
    # n equal terms round one way, by up to n / 2 roundings of their sum, and other strides may add them up in
    # another order; 64 roundings are allowed anyhow
    relative, absolute = tolerance(contract, coarsest(trial))
    longest = max((size for shape in trial.in_shapes for size in shape), default=1)
    terms = max(1.0, longest / ROUNDINGS)
    bounds = (relative * terms, absolute * terms)
    scale = magnitude(trial.inputs)
    compared = 0
    for i, j in combinations(range(len(trial.inputs)), 2):
        if trial.in_shapes[i] != trial.in_shapes[j] or trial.in_types[i] != trial.in_types[j]:
            continue
        if any(not _is_free(contract.domain(trial.arguments[k])) for k in (i, j)):
            continue
        apart = [array.copy() for array in trial.inputs]
        apart[j] = apart[i].copy()
        shared = [array.copy() for array in apart]
        shared[j] = shared[i]
        when = f"where {trial.arguments[i]} and {trial.arguments[j]} are one array"
        found, expected = trial.forward(shared).outputs, trial.forward(apart).outputs
        compared += expect_close(trial.outputs, found, expected, when, bounds, scale)
    for i, name in enumerate(trial.arguments):
        if trial.inputs[i].size < 2 or not _is_free(contract.domain(name)):
            continue
        for words, view in _repeated(trial.inputs[i]):
            repeated, full = [[array.copy() for array in trial.inputs] for _ in range(2)]
            repeated[i], full[i] = view, np.ascontiguousarray(view)
            when = f"where {name} is {words} repeated by strides of 0"
            found, expected = trial.forward(repeated).outputs, trial.forward(full).outputs
            compared += expect_close(trial.outputs, found, expected, when, bounds, scale)
    return compared or None


def _repeated(array: Array) -> Iterator[tuple[str, Array]]:
    """Arrays that broadcasting makes: the first element repeated everywhere, or along all axes but one."""
    yield "one element", np.broadcast_to(array[(slice(0, 1),) * array.ndim], array.shape)
    if array.ndim > 1:
        yield "one row", np.broadcast_to(array[:1], array.shape)
        yield "one column", np.broadcast_to(array[..., :1], array.shape)


def _is_free(domain: Any) -> bool:
    return domain is None or isinstance(domain, Real)
