"""Group M: one array in the place of several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Any, Final

import numpy as np

from operad.operator import BackwardEntry
from operad_check.cases.kinds import LARGE, ORDINARY
from operad_check.comparison.closeness import ROUNDINGS, coarsest, magnitude, tolerance
from operad_check.comparison.terms import expect_close_in_terms, gradients, results
from operad_check.running.register import Evidence, check
from operad_check.trials.trial import Array, Trial
from operad_sdk.domains import Real

_MOST: Final = 12
"""Pairs of arguments that are tried in one case."""


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
    for i, j in _pairs(len(trial.inputs)):
        if trial.in_shapes[i] != trial.in_shapes[j] or trial.in_types[i] != trial.in_types[j]:
            continue
        if any(not _is_free(contract.domain(trial.arguments[k])) for k in (i, j)):
            continue
        apart = [array.copy() for array in trial.inputs]
        apart[j] = apart[i].copy()
        shared = [array.copy() for array in apart]
        shared[j] = shared[i]
        when = f"where {trial.arguments[i]} and {trial.arguments[j]} are one array"
        one, result = trial.forward(shared), trial.forward(apart)
        expected = [*result.outputs, *result.aux]
        names = [*trial.outputs, *trial.states]
        given = [*one.outputs, *one.aux]
        moved = trial.with_inputs(apart)
        compared += expect_close_in_terms(moved, results, names, given, expected, when, bounds, scale)
        if any(trial.differentiable()):
            pair = (BackwardEntry("in_data", i), BackwardEntry("in_data", j))
            compared += _backward(trial, apart, pair, when, bounds)
    compared += _heads_as_arguments(trial, bounds)
    for i, name in enumerate(trial.arguments):
        if trial.inputs[i].size < 2 or not _is_free(contract.domain(name)):
            continue
        for words, view in _repeated(trial.inputs[i]):
            repeated, full = [[array.copy() for array in trial.inputs] for _ in range(2)]
            repeated[i], full[i] = view, np.ascontiguousarray(view)
            when = f"where {name} is {words} repeated by strides of 0"
            found, expected = trial.forward(repeated).outputs, trial.forward(full).outputs
            moved = trial.with_inputs(full)
            compared += expect_close_in_terms(
                moved, _outputs, trial.outputs, found, expected, when, bounds, scale
            )
    return compared or None


def _outputs(trial: Trial) -> list[Any]:
    return trial.result.outputs


def _pairs(count: int) -> list[tuple[int, int]]:
    """Pairs of arguments; of many, some of the first and the last two."""
    pairs = list(combinations(range(count), 2))
    return pairs if len(pairs) <= _MOST else [*pairs[: _MOST - 1], pairs[-1]]


def _heads_as_arguments(trial: Trial, bounds: tuple[float, float]) -> int:
    """Compare gradients where one array is a head gradient and an argument."""
    compared = 0
    for k, i in product(range(trial.visible), range(len(trial.inputs))):
        head, array = trial.out_grads[k], trial.inputs[i]
        if not any(trial.differentiable()) or (head.shape, head.dtype) != (array.shape, array.dtype):
            continue
        when = f"where the head gradient of {trial.outputs[k]} and {trial.arguments[i]} are one array"
        pair = (BackwardEntry("in_data", i), BackwardEntry("out_grad", k))
        compared += _backward(trial, [each.copy() for each in trial.inputs], pair, when, bounds)
    return compared


def _backward(
    trial: Trial,
    inputs: Sequence[Array],
    pair: tuple[BackwardEntry, BackwardEntry],
    when: str,
    bounds: tuple[float, float],
) -> int:
    """Compare gradients where both entries of a pair are one array, with those where they are two alike."""
    heads = list(trial.out_grads)
    if pair[1].kind == "out_grad":
        heads[pair[1].index] = inputs[pair[0].index]
    result = trial.forward([array.copy() for array in inputs])
    given: dict[str, Any] = {
        "out_grads": heads, "inputs": inputs, "outputs": result.outputs, "aux": result.aux,
    }  # fmt: skip
    expected = trial.backward(**{**given, "aux": [array.copy() for array in result.aux]})
    one = inputs[pair[0].index].copy()
    found = trial.backward(**given, keep=lambda entry, array: one if entry in pair else array.copy())
    names = [f"gradient of {name}" for name in trial.arguments]
    scale = magnitude(inputs, expected)
    moved = trial.with_inputs(inputs)
    return expect_close_in_terms(moved, gradients, names, found, expected, when, bounds, scale)


def _repeated(array: Array) -> Iterator[tuple[str, Array]]:
    """Arrays that broadcasting makes: the first element repeated everywhere, or along all axes but one."""
    yield "one element", np.broadcast_to(array[(slice(0, 1),) * array.ndim], array.shape)
    if array.ndim > 1:
        yield "one row", np.broadcast_to(array[:1], array.shape)
        yield "one column", np.broadcast_to(array[..., :1], array.shape)


def _is_free(domain: Any) -> bool:
    return domain is None or isinstance(domain, Real)
