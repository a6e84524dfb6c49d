"""Group F: relations between results, declared or given by the form of the operator."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np

from operad_check.cases.kinds import LARGE, ORDINARY
from operad_check.cases.retype import is_random
from operad_check.comparison.closeness import expect_close, rounding
from operad_check.running.shrink_arrays import is_accepted
from operad_check.running.variation import GRADIENTS, OUTPUTS, Comparison, Runs, Variant, variation
from operad_check.trials.case import Case
from operad_check.trials.trial import Array, Trial
from operad_check.trials.violation import Violation

_FACTOR: Final = 2.0
_FEWEST: Final = 2
"""Items that can be parted."""
_IN_HALVES: Final = "as a batch, and in two halves otherwise"
_SHIFT: Final = 0.5
"""Powers of two, so that they cost no digit."""


def _closely(run: Comparison) -> int:
    """Compare shapes, and values within a tolerance of their magnitude."""
    for name, one, other in zip(*run.arrays[:3], strict=True):
        if one is not None and one.shape != other.shape:
            raise Violation(f"{name} has shape {one.shape}, and {other.shape} {run.when}")
    return expect_close(*run.arrays, *rounding(run.trial, run.expected))


@variation("F221", ORDINARY, LARGE, values=OUTPUTS, compare=_closely)
def relations(trial: Trial) -> Runs:
    """Declared relations hold: of a batch and its items, of permuted elements, of scaled and shifted data.

    Relations that hold for all values find mistakes where there is no reference.

    Broken by:
        Contract(relations=("items",))    # and data is normalised over the batch
    Within:
        spec = "data:(N + 1, D + 1) -> output:(N + 1, D + 1)"
        accepts = "floating"
        def forward(data): return data - data.mean(0)
        contract = HERE
    Fix:
        Correct the computation, or remove the relation from Contract(relations=...).
    How:
        Check each declared relation, and that declared items are computed alone.
    """
    names, own = list(trial.subject.contract.relations), _items_of(trial)
    if not (names or own) or is_random(trial):
        return None
    found: dict[str, int] = {}
    for name in names:
        variant = RELATIONS[name](trial)
        found[name] = 0 if variant is None else (yield variant)
    if own:
        found["items of " + ", ".join(own)] = yield from _apart(trial, own)
    return found


def _items_of(trial: Trial) -> list[str]:
    """Arguments that are declared to hold items, of those there are."""
    return [name for name in getattr(trial.subject.cls, "items", ()) if name in trial.arguments]


def _apart(trial: Trial, names: list[str]) -> Generator[Variant, int, int]:
    """A batch, which gives what its halves give; other gradients are the sums of theirs."""
    count = len(trial.case.inputs[names[0]])
    if count < _FEWEST or not trial.is_runnable:
        return 0
    parts = []
    for some in (slice(0, count // 2), slice(count // 2, count)):
        inputs = {name: array[some] if name in names else array for name, array in trial.case.inputs.items()}
        heads = tuple([head[some] for head in trial.out_grads[: trial.visible]])
        parts.append(Trial(trial.subject, replace(trial.case, inputs=inputs, out_grads=heads)))
    outputs = zip(*[part.result.outputs for part in parts], strict=True)
    compared = yield Variant(_IN_HALVES, lambda: trial.result, expected=list(map(np.concatenate, outputs)))
    if any(trial.differentiable()):
        gradients = zip(trial.arguments, *[part.backward() for part in parts], strict=True)
        expected = [
            None if one is None else np.concatenate([one, other]) if name in names else one + other
            for name, one, other in gradients
        ]
        compared += yield Variant(_IN_HALVES, trial.backward, GRADIENTS, expected)
    return compared


def _elements(trial: Trial) -> Variant:
    """Permuted elements, which give permuted results; all arguments have one shape."""
    order = np.random.default_rng(trial.case.seed).permutation(trial.inputs[0].size)

    def permuted(array: Array) -> Array:
        return array.reshape(-1)[order].reshape(array.shape)

    run = partial(trial.forward, list(map(permuted, trial.inputs)))
    return Variant("for permuted elements", run, expected=list(map(permuted, trial.result.outputs)))


def _items(trial: Trial) -> Variant | None:
    """A batch, which gives what its items give one by one."""
    length = trial.in_shapes[0][0] if trial.in_shapes and trial.in_shapes[0] else 0
    items = []
    for place in range(length):
        inputs = {name: _item(array, length, place) for name, array in trial.case.inputs.items()}
        case = Case(params=trial.case.params, inputs=inputs, aux=trial.case.aux, is_train=trial.case.is_train)
        if not is_accepted(trial.subject, case):
            return None
        items.append(Trial(trial.subject, case).result.outputs)
    joined = [np.concatenate(arrays) for arrays in zip(*items, strict=True)]
    when = "as a batch, and item by item otherwise"
    return Variant(when, lambda: trial.result, expected=joined) if items else None


def _item(array: Array, length: int, place: int) -> Array:
    return array[place : place + 1] if array.ndim and array.shape[0] == length else array


def _scaling(trial: Trial) -> Variant | None:
    """`f(c x) = c f(x)` for the first argument."""
    return _moved(trial, lambda x: x * x.dtype.type(_FACTOR), "twice as large", is_scaled=True)


def _shifting(trial: Trial) -> Variant | None:
    """`f(x + c) = f(x)` for the first argument."""
    return _moved(trial, lambda x: x + x.dtype.type(_SHIFT), f"shifted by {_SHIFT}")


def _moved(
    trial: Trial, move: Callable[[Array], Array], words: str, is_scaled: bool = False
) -> Variant | None:
    if not trial.inputs or trial.in_types[0].kind != "f":
        return None
    run = partial(trial.forward, [move(trial.inputs[0]), *(array.copy() for array in trial.inputs[1:])])
    expected = [move(array) if is_scaled else array for array in trial.result.outputs]
    return Variant(f"where {trial.arguments[0]} is {words}", run, expected=expected)


RELATIONS: Final[dict[str, Callable[[Trial], Variant | None]]] = {
    "elements": _elements,
    "items": _items,
    "scaling": _scaling,
    "shifting": _shifting,
}
"""By the name that a contract gives."""
