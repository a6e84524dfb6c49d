"""Group F: relations between results, declared or given by the form of the operator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np

from operad_check.cases.kinds import LARGE, ORDINARY
from operad_check.cases.retype import is_random
from operad_check.comparison.closeness import coarsest, expect_close, scale_of, tolerance
from operad_check.running.register import Evidence, check
from operad_check.running.shrink_arrays import is_accepted
from operad_check.trials.case import Case
from operad_check.trials.trial import Array, Trial
from operad_check.trials.violation import Violation

_FACTOR: Final = 2.0
_FEWEST: Final = 2
"""Items that can be parted."""
_IN_HALVES: Final = "as a batch, and in two halves otherwise"
_SHIFT: Final = 0.5
"""Powers of two, so that they cost no digit."""


@check("F221", ORDINARY, LARGE)
def relations(trial: Trial) -> Evidence:
    """Check each declared relation, and that declared items are computed alone."""
    names, own = list(trial.subject.contract.relations), _items_of(trial)
    if not (names or own) or is_random(trial):
        return None
    found: dict[str, int] = {name: RELATIONS[name](trial) for name in names}
    if own:
        found["items of " + ", ".join(own)] = _apart(trial, own)
    return found


def _items_of(trial: Trial) -> list[str]:
    """Arguments that are declared to hold items, of those there are."""
    return [name for name in getattr(trial.subject.cls, "items", ()) if name in trial.arguments]


def _apart(trial: Trial, names: list[str]) -> int:
    """Check that a batch gives what its halves give, and that other gradients are the sums of theirs."""
    count = len(trial.case.inputs[names[0]])
    if count < _FEWEST or not trial.is_runnable:
        return 0
    parts = []
    for some in (slice(0, count // 2), slice(count // 2, count)):
        inputs = {name: array[some] if name in names else array for name, array in trial.case.inputs.items()}
        heads = tuple([head[some] for head in trial.out_grads[: trial.visible]])
        parts.append(Trial(trial.subject, replace(trial.case, inputs=inputs, out_grads=heads)))
    outputs = zip(*[part.result.outputs for part in parts], strict=True)
    compared = _expect(trial, trial.result.outputs, list(map(np.concatenate, outputs)), _IN_HALVES)
    if not any(trial.differentiable()):
        return compared
    whole, (one, other) = trial.backward(), [part.backward() for part in parts]
    scale, bounds = scale_of(trial, one, other), tolerance(trial.subject.contract, coarsest(trial))
    for name, found, first, second in zip(trial.arguments, whole, one, other, strict=True):
        if found is not None:
            expected = np.concatenate([first, second]) if name in names else first + second
            compared += expect_close([f"{name}_grad"], [found], [expected], _IN_HALVES, bounds, scale)
    return compared


def _elements(trial: Trial) -> int:
    """Check that permuted elements give permuted results; all arguments have one shape."""
    order = np.random.default_rng(trial.case.seed).permutation(trial.inputs[0].size)

    def permuted(array: Array) -> Array:
        return array.reshape(-1)[order].reshape(array.shape)

    found = trial.forward([permuted(array) for array in trial.inputs]).outputs
    return _expect(trial, found, [permuted(array) for array in trial.result.outputs], "for permuted elements")


def _items(trial: Trial) -> int:
    """Check that a batch gives what its items give one by one."""
    length = trial.in_shapes[0][0] if trial.in_shapes and trial.in_shapes[0] else 0
    items = []
    for place in range(length):
        inputs = {name: _item(array, length, place) for name, array in trial.case.inputs.items()}
        case = Case(params=trial.case.params, inputs=inputs, aux=trial.case.aux, is_train=trial.case.is_train)
        if not is_accepted(trial.subject, case):
            return 0
        items.append(Trial(trial.subject, case).result.outputs)
    if not items:
        return 0
    joined = [np.concatenate(arrays) for arrays in zip(*items, strict=True)]
    return _expect(trial, trial.result.outputs, joined, "as a batch, and item by item otherwise")


def _item(array: Array, length: int, place: int) -> Array:
    return array[place : place + 1] if array.ndim and array.shape[0] == length else array


def _scaling(trial: Trial) -> int:
    """Check `f(c x) = c f(x)` for the first argument."""
    return _moved(
        trial, lambda x: x * x.dtype.type(_FACTOR), lambda y: y * y.dtype.type(_FACTOR), "twice as large"
    )


def _shifting(trial: Trial) -> int:
    """Check `f(x + c) = f(x)` for the first argument."""
    return _moved(trial, lambda x: x + x.dtype.type(_SHIFT), lambda y: y, f"shifted by {_SHIFT}")


def _moved(
    trial: Trial, before: Callable[[Array], Array], after: Callable[[Array], Array], words: str
) -> int:
    if not trial.inputs or trial.in_types[0].kind != "f":
        return 0
    found = trial.forward([before(trial.inputs[0]), *(array.copy() for array in trial.inputs[1:])]).outputs
    expected = [after(array) for array in trial.result.outputs]
    return _expect(trial, found, expected, f"where {trial.arguments[0]} is {words}")


def _expect(trial: Trial, found: Any, expected: Any, when: str) -> int:
    for name, one, other in zip(trial.outputs, found, expected, strict=True):
        if one.shape != other.shape:
            raise Violation(f"{name} has shape {one.shape}, and {other.shape} {when}")
    bounds = tolerance(trial.subject.contract, coarsest(trial))
    return expect_close(trial.outputs, found, expected, when, bounds, scale_of(trial, trial.inputs, expected))


RELATIONS: Final[dict[str, Callable[[Trial], int]]] = {
    "elements": _elements,
    "items": _items,
    "scaling": _scaling,
    "shifting": _shifting,
}
"""By the name that a contract gives."""
