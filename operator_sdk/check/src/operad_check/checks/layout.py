"""Group F: strides that are not those of a block of memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from operad_check.cases.kinds import LARGE, ORDINARY, PARTS
from operad_check.comparison.closeness import coarsest, scale_of, tolerance
from operad_check.comparison.terms import expect_close_in_terms, gradients, results
from operad_check.running.register import Evidence, check
from operad_check.trials.trial import Array, Trial
from operad_check.trials.violation import OperatorRaised, Violation

View = Callable[[Array], Array]


@check("F211", ORDINARY, LARGE, PARTS)
def layouts(trial: Trial) -> Evidence:
    """Check that arrays with other strides, read or written by either pass, give the same."""
    trial.expect_repeatable()
    assert trial.result  # what fails on plain arrays is another check's
    bounds = tolerance(trial.subject.contract, coarsest(trial))
    scale = scale_of(trial, trial.inputs)
    compared = 0
    for word, view in (("transposed", _transposed), ("reversed", _reversed), ("strided", _strided)):
        inputs = [view(array) for array in trial.inputs]
        outputs = [view(array) for array in trial.poisoned_outputs()]
        states = [view(array) for array in trial.aux]
        if all(array.flags.c_contiguous for array in [*inputs, *outputs, *states]):
            continue
        when = f"with {word} arrays"
        with _no_refusal(when):
            found = trial.forward(inputs, aux=states)
        names, expected = [*trial.outputs, *trial.states], [*trial.result.outputs, *trial.result.aux]
        given = [*found.outputs, *found.aux]
        compared += expect_close_in_terms(trial, results, names, given, expected, when, bounds, scale)
        written = f"written into {word} arrays"
        with _no_refusal(written):
            trial.forward(outputs=outputs)
        given = [*outputs, *trial.result.aux]
        expect_close_in_terms(trial, results, names, given, expected, written, bounds, scale)
        if trial.is_runnable and any(trial.differentiable()):
            compared += _backward_on(trial, word, view, bounds)
    has_axes = any(array.ndim for array in [*trial.inputs, *trial.result.outputs, *trial.aux])
    return compared if has_axes else None


def _backward_on(trial: Trial, word: str, view: View, bounds: tuple[float, float]) -> int:
    """Compare backward from views, and into views, with backward on plain arrays."""
    expected = trial.backward()
    names = [f"gradient of {name}" for name in trial.arguments]
    scale = scale_of(trial, expected, trial.inputs, trial.out_grads)
    when = f"from {word} arrays"
    with _no_refusal(when):
        found = trial.backward(keep=lambda entry, array: view(array))
    compared = expect_close_in_terms(trial, gradients, names, found, expected, when, bounds, scale)
    poisoned = trial.poisoned_gradients(trial.write_requests())
    into = [None if array is None else view(array) for array in poisoned]
    when = f"written into {word} arrays"
    with _no_refusal(when):
        filled = trial.backward(in_grads=into)
    expect_close_in_terms(trial, gradients, names, filled, expected, when, bounds, scale)
    return compared


@contextmanager
def _no_refusal(when: str) -> Iterator[None]:
    """Turn what a pass raises, which runs on plain arrays, into a finding."""
    try:
        yield
    except OperatorRaised as error:
        if error.is_refusal:
            raise  # the function says so
        raise Violation(f"{when}, {error}") from error


def _transposed(array: Array) -> Array:
    view: Array = np.empty(array.shape[::-1], array.dtype).T
    view[...] = array
    return view


def _reversed(array: Array) -> Array:
    # with the ellipsis, no axes give an array without axes and not a number
    backwards: tuple[Any, ...] = (..., *(slice(None, None, -1),) * array.ndim)
    return np.asarray(array[backwards].copy()[backwards])


def _strided(array: Array) -> Array:
    if not array.ndim:
        return array.copy()
    wide = np.full((*array.shape[:-1], 2 * array.shape[-1] + 1), 7, array.dtype)
    view: Array = wide[..., 1::2]
    view[...] = array
    return view
