"""Group F: results of a forward pass, and arrays that the pass must not change."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from operad.operator import is_known
from operad_check.cases.kinds import BULK, EDGES, EXTREME, LARGE, ORDINARY, PARTS
from operad_check.comparison.closeness import at, first_place
from operad_check.register import Evidence, check
from operad_check.running.variation import INPUTS, RESULTS, Runs, Variant, variation
from operad_check.trials.returned import expect_fitting
from operad_check.trials.trial import POISON, Trial, poisoned
from operad_check.trials.violation import Violation

_LONG: Final = 200
"""Elements from which on a result may be remembered by its shape, which small arrays do not show."""


@check("F201", ORDINARY, LARGE, BULK, EXTREME, PARTS, reports_raising=True)
def runs(trial: Trial) -> Evidence:
    """Forward runs on all shapes and types that inference accepts.

    Inference is the promise on which graphs are bound; one that then raises fails in a run, far from the
    cause.

    Broken by:
        spec = "lhs:(N), rhs:(M) -> output:(N)"    # and forward computes lhs + rhs
    Within:
        spec = ""
        HERE
        def forward(lhs, rhs): return lhs + rhs
    Fix:
        Make the shapes that do not work an error of inference, or make forward work on them.
    How:
        Run forward in both modes.
    """
    for is_train in (True, False):
        trial.forward(is_train=is_train)
    return 2


@check("F202", ORDINARY)
def described(trial: Trial) -> Evidence:
    """The result has the inferred shape and type, and from complete arguments nothing is left open.

    Arrays are allocated as inferred. A smaller result is silently repeated to fill them.

    Broken by:
        @unary("total")    # data:(...) -> output:(...)
        def total(data): return data.sum(0, keepdims=True)
    Within:
        HERE
        Example = total
    Fix:
        Let shape and type inference say what the function returns.
    How:
        Check that inference leaves nothing open, and that returned arrays fit the inferred shapes.
    """
    for name, shape, dtype in zip(trial.outputs, trial.out_shapes, trial.out_types, strict=True):
        if not is_known(shape) or dtype is None:
            raise Violation(
                f"with every argument known, {name} is inferred as {shape} of {dtype}, expected a full answer"
            )
        if not all(type(size) is int for size in shape):
            raise Violation(f"{name} is inferred as {shape}, expected a tuple of int")
    expect_fitting(trial, lambda operator: trial.forward(operator=operator), trial.outputs)
    return len(trial.outputs)


@variation("F207", ORDINARY, LARGE, values=INPUTS)
def inputs_unmodified(trial: Trial) -> Runs:
    """Forward leaves its inputs as they are.

    Inputs are other operators' outputs and the user's own arrays.

    Broken by:
        def forward(data):
            data -= data.max()
            return np.exp(data)
    Within:
        spec = "data:(N + 1, D + 1) -> output:(N + 1, D + 1)"
        accepts = "floating"
        HERE
    Fix:
        Compute into the output or a new array; sharing memory is declared with inplace=.
    How:
        Check that forward leaves its inputs as they are.
    """
    if trial.inputs:
        yield Variant("after forward", trial.forward)
    return None


@check("F208", ORDINARY, LARGE)
def written(trial: Trial) -> Evidence:
    """Every element of every output is written.

    Memory of outputs is recycled: what is not written holds values of another array.

    Broken by:
        def forward(data, output):
            output[1:] = data[:-1]    # and output[0]?
    Within:
        spec = "data:(N + 1) -> output:(N + 1)"
        HERE
    Fix:
        Write the rest as well, zeros if nothing else is meant.
    How:
        Check that no element of an output keeps either of two poisons.
    """
    first = trial.result.outputs
    second = trial.forward(outputs=[other_poison(array) for array in first]).outputs
    expect_written(trial.outputs, trial.written(first), second)
    return int(sum(array.size for array in first))


def expect_written(names: Sequence[str], first: Sequence[Any], second: Sequence[Any]) -> None:
    """Raise Violation if an element holds poison in `first`, and the other poison in `second`."""
    for name, one, two in zip(names, first, second, strict=True):
        if one is None:
            continue
        kept = (np.isnan(one) if one.dtype.kind == "f" else one == poisoned((), one.dtype)) & (
            two == other_poison(two)
        )
        if (place := first_place(kept)) is not None:
            raise Violation(f"{at(name, place)} is not written: it holds what was there before")


def other_poison(like: Any) -> Any:
    """An array like another, with other contents than the `poisoned` one."""
    return np.full_like(like, {"f": -POISON + 0.25, "b": False}.get(like.dtype.kind, 77))


@variation("F209", ORDINARY, LARGE, values=RESULTS)
def deterministic(trial: Trial) -> Runs:
    """The same inputs give the same outputs, bit for bit, whatever ran before.

    Without it no result can be reproduced, and no failure found again. Operators are shared between
    nodes, so one that remembers a call changes another's result.

    Broken by:
        def forward(data): return data + np.random.normal(size=data.shape)
    Within:
        spec = "data:(*S) -> output:(*S)"
        accepts = "floating"
        HERE
    Fix:
        Keep no state in self; draw random numbers from op_ctx.requested, with ResourceRequest.RANDOM.
    How:
        Check that a second run gives the same, on an operator that has run and on a new one; of long
        arrays also after a run on others of the same shapes.
    """
    yield Variant("when run again", trial.forward)
    other = trial.new_operator()
    yield Variant("on an operator that ran nothing before", partial(trial.forward, operator=other))
    if any(array.size >= _LONG for array in trial.inputs):
        rng = np.random.default_rng([trial.case.seed, 1])
        others = trial.with_inputs([rng.permutation(a.ravel()).reshape(a.shape) for a in trial.inputs])
        if others.is_runnable:  # else these values go together in their order
            again = partial(trial.forward, others.inputs, operator=other)
            yield Variant("after a run on other values of these shapes", again, trial=others)
    return None


@check("F210", EDGES, reports_raising=True)
def edges(trial: Trial) -> Evidence:
    """Axes of length 0 and 1, and no axes at all, work, or are refused by inference.

    Empty batches occur at the end of an epoch, scalars in losses.

    Broken by:
        def forward(data): return data / data[0]    # there may be no data[0]
    Within:
        spec = "data:(N, D) -> output:(N, D)"
        accepts = "floating"
        HERE
    Fix:
        Let the computation cover the empty case, or make it a ShapeError.
    How:
        Run both passes on arrays with axes of length 0 or 1, or no axes; check that outputs are written.
    """
    result = trial.forward()
    clean = all(np.isfinite(array).all() for array in trial.inputs if array.dtype.kind == "f")
    for name, array in zip(trial.outputs, trial.written(result.outputs), strict=True):
        if array is None:
            continue
        untouched = array.size and clean and array.dtype.kind == "f" and np.isnan(array).all()
        again = trial.forward(outputs=[other_poison(a) for a in result.outputs]).outputs if untouched else []
        if untouched and (again[trial.outputs.index(name)] == other_poison(array)).all():
            raise Violation(f"{name}, of shape {array.shape}, is not written")
    trial.any_gradients()
    return 1
