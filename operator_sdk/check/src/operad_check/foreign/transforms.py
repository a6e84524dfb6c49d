"""Checks of functions of a library with transformations, for adapters to offer.

Each compares what the library gives in two ways. Where one of them refuses the function, nothing is said.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from operad_check.cases.kinds import LARGE, ORDINARY, WIDE
from operad_check.cases.retype import perturbed, retyped
from operad_check.comparison.closeness import at, first_place, magnitude, rounding
from operad_check.comparison.point import random_direction, real_arguments
from operad_check.comparison.rounding import hidden_movements, jumps_within, weight
from operad_check.comparison.terms import expect_close_in_terms, results
from operad_check.foreign.backend import Array, Backend, Function, TransformingBackend, quiet
from operad_check.foreign.function import ForeignFunction
from operad_check.register import Evidence, library_check
from operad_check.trials.cause import is_own
from operad_check.trials.reference import listed
from operad_check.trials.trial import Trial
from operad_check.trials.violation import OperatorRaised, Violation, shown_by

_COMPILED: Final = 2
"""Shapes for which a function is compiled: compiling takes long."""
_ITEMS: Final = 3
"""Items of a batch."""
_ROUNDINGS: Final = 16
"""Roundings of a narrow type by which results may be off, of the largest one."""


def function_in(trial: Trial) -> ForeignFunction:
    """The function of a trial."""
    prop: Any = trial.prop
    found: ForeignFunction = prop.function
    return found


def outputs_of(trial: Trial, found: Any) -> list[Array]:
    """The results of a call as NumPy's arrays, those of the line alone."""
    backend = function_in(trial).backend
    return [backend.numpy(one) for one in listed(found)[: len(trial.outputs)]]


def arrays_of(trial: Trial) -> list[Any]:
    """The arguments as the library's arrays, copied."""
    backend = function_in(trial).backend
    return [backend.array(array.copy()) for array in trial.inputs]


def replaced(arrays: Sequence[Any], places: Sequence[int], values: Sequence[Any]) -> list[Any]:
    """The arrays, with others at some places."""
    whole = list(arrays)
    for place, value in zip(places, values, strict=True):
        whole[place] = value
    return whole


def run_otherwise(trial: Trial, call: Callable[[], Any], when: str, *, may_refuse: bool = True) -> Any:
    """Run another way to call the function; return None where the library refuses it.

    Raises:
        Violation: The library raises for a fault of its own, or anything, unless it may refuse.
    """
    backend = function_in(trial).backend
    try:
        with quiet():
            return call()
    except Exception as error:
        if is_own(error):
            raise
        if may_refuse and backend.is_refusal(error):
            return None
        raise Violation(f"{when}, it raises {type(error).__name__}: {str(error).strip():.300}") from error


def expect_same_results(trial: Trial, found: Any, when: str) -> int:
    """Compare results of another way to call the function with the call's own."""
    given, expected = outputs_of(trial, found), trial.result.outputs
    _expect_described(trial.outputs, given, expected, when)
    return expect_close_in_terms(trial, results, trial.outputs, given, expected, when, *rounding(trial))


def expect_same_gradients(trial: Trial, function: Function, when: str) -> int:
    """Compare gradients of a function that stands for the trial's with the trial's own."""
    backend = function_in(trial).backend
    if not any(trial.differentiable()) or not trial.is_runnable:
        return 0
    heads = [None if head is None else backend.array(head) for head in trial.out_grads]
    pulled = partial(_pulled, trial, function, arrays_of(trial), heads)
    given = run_otherwise(trial, pulled, when, may_refuse=False)
    expected = trial.backward()
    pairs = zip(given, expected, strict=True)
    found = [np.zeros_like(want) if one is None and want is not None else one for one, want in pairs]
    names = trial.gradient_names
    _expect_described(names, found, expected, when)
    bounds = rounding(trial, expected, trial.out_grads)
    return expect_close_in_terms(trial, Trial.backward, names, found, expected, when, *bounds)


def _pulled(trial: Trial, function: Function, arrays: Sequence[Any], heads: Sequence[Any]) -> list[Any]:
    """Gradients by argument; None where none flows, or the library says that it is zero."""
    backend = function_in(trial).backend
    wanted = [i for i, flows in enumerate(trial.differentiable()) if flows]
    found = backend.vjp(function, arrays, wanted)[1](heads)
    values = [None if gradient is None else backend.numpy(gradient) for gradient in found]
    return replaced([None] * len(trial.arguments), wanted, values)


def _expect_described(names: Sequence[str], found: Sequence[Any], expected: Sequence[Any], when: str) -> None:
    for name, one, other in zip(names, found, expected, strict=True):
        if one is not None and (one.shape, one.dtype) != (other.shape, other.dtype):
            raise Violation(f"{name} is {one.dtype}{one.shape} {when}, expected {other.dtype}{other.shape}")


def _transforming(trial: Trial) -> TransformingBackend:
    backend = function_in(trial).backend
    assert isinstance(backend, TransformingBackend), "only its adapters offer these checks"
    return backend


@library_check("L901", ORDINARY, pooled=True)
def compiled(trials: Sequence[Trial]) -> Evidence:
    """A compiled function gives the results of the function itself.

    A compiler replaces a function by others that are to be the same: decompositions, fused loops, fake
    kernels that infer shapes. A model that is compiled must not become another model.

    Broken by:
        @register_fake("mine::scale")
        def _(x): return x.new_empty(x.shape[0])    # and it gives x.shape
    Fix:
        Correct the decomposition or the fake kernel of the operator named.
    How:
        Compare the compiled function and its gradients with the function, for a few shapes.
    """
    chosen = {
        tuple(trial.in_shapes): trial
        for trial in sorted(trials, key=lambda trial: trial.case.size)
        if all(array.size > 1 for array in trial.inputs) and trial.is_runnable
    }
    return sum(map(_expect_compiled, list(chosen.values())[-_COMPILED:])) or None


def _expect_compiled(trial: Trial) -> int:
    when = "when it is compiled"
    function = _transforming(trial).compiled(function_in(trial).call)
    with shown_by(trial.case):
        found = run_otherwise(trial, lambda: function(*arrays_of(trial)), when, may_refuse=False)
        return expect_same_results(trial, found, when) + expect_same_gradients(trial, function, when)


@library_check("L902", WIDE)
def transposed(trial: Trial) -> Evidence:
    """Forward-mode and reverse-mode derivatives agree.

    Both are one matrix: the products u (J v) and (u J) v are the same number. Forward derivatives are
    written by hand beside the gradient, and tested less.

    Broken by:
        @staticmethod
        def jvp(ctx, dx): return dx * ctx.y    # and backward returns g * (1 - y * y)
    Fix:
        Compare both rules with the derivative; B301 says whether the backward one is right.
    How:
        Compare a head gradient times the forward derivative with the gradient times a direction.
    """
    function, backend = function_in(trial), _transforming(trial)
    if not any(trial.differentiable()) or not trial.is_runnable:
        return None
    moved = [i for i in real_arguments(trial) if trial.differentiable()[i] and trial.inputs[i].size]
    if not moved:
        return None
    tangents = {i: random_direction(trial, i, 7) for i in moved}
    given = [backend.array(tangents.get(i, np.zeros_like(array))) for i, array in enumerate(trial.inputs)]
    found = run_otherwise(
        trial, lambda: backend.jvp(function.call, arrays_of(trial), given), "differentiated forward"
    )
    if found is None:
        return None
    forward = outputs_of(trial, found[1])
    heads = trial.out_grads[: trial.visible]
    ahead = [(h * d) for h, d in zip(heads, forward, strict=True) if h is not None and d.dtype.kind == "f"]
    back = [gradient * tangents[i] for i, gradient in enumerate(trial.backward()) if i in moved]
    one, other = (float(sum(part.sum() for part in parts)) for parts in (ahead, back))
    terms = sum(float(np.abs(part).sum()) for part in [*ahead, *back])
    if not np.isfinite(terms):
        return None
    if abs(one - other) > 1e-9 * max(terms, 1e-3):
        names = " and ".join(trial.arguments[i] for i in moved)
        raise Violation(
            f"along a direction of {names} the derivative is {one!r} forward, and {other!r} by the gradient"
        )
    return 1


@library_check("L903", ORDINARY)
def mapped(trial: Trial) -> Evidence:
    """A function mapped over a batch gives the results of the single items.

    A rule for batches moves the axis of the batch out of the way, and other axes with it.

    Broken by:
        def vmap(info, in_dims, x): return softmax(x, 1), 0    # 1 is another axis with a batch
    Fix:
        Shift the axes that the rule names by that of the batch.
    How:
        Compare the function over a batch with the function of each item.
    """
    function, backend = function_in(trial), _transforming(trial)
    rng = np.random.default_rng([trial.case.seed, 8])
    orders = [rng.permutation(array.size) for array in trial.inputs]
    items = [trial]
    for step in range(1, _ITEMS):
        moved = [
            array.reshape(-1)[np.roll(order, step)].reshape(array.shape) if _may_move(trial, i) else array
            for i, (array, order) in enumerate(zip(trial.inputs, orders, strict=True))
        ]
        items.append(trial.with_inputs(moved))
    try:
        expected = [np.stack(found) for found in zip(*[item.result.outputs for item in items], strict=True)]
    except OperatorRaised:
        return None
    batch = [backend.array(np.stack(arrays)) for arrays in zip(*[item.inputs for item in items], strict=True)]
    found = run_otherwise(trial, lambda: backend.mapped(function.call)(*batch), "mapped over a batch")
    if found is None:
        return None
    given = outputs_of(trial, found)
    when = "mapped over a batch"
    _expect_described(trial.outputs, given, expected, when)
    compared = 0
    for number, item in enumerate(items):
        one, expected = [array[number] for array in given], item.result.outputs
        compared += expect_close_in_terms(item, results, trial.outputs, one, expected, when, *rounding(item))
    return compared or None


def _may_move(trial: Trial, i: int) -> bool:
    """Return whether the elements of an argument may change places: nothing is declared of it."""
    return trial.subject.contract.domain(trial.arguments[i]) is None


def _in_narrow_types(trial: Trial, names: Sequence[str], *, are_gradients: bool) -> Evidence:
    function = function_in(trial)
    compared = None
    for dtype, precision in function.backend.narrow_types.items():
        single = retyped(trial, np.dtype(np.float32))
        if single is None or not any(array.dtype == np.float32 for array in single.inputs):
            continue
        rounded = [
            function.backend.numpy(function.backend.array(array, dtype))
            if array.dtype == np.float32
            else array
            for array in single.inputs
        ]
        wide = retyped(single.with_inputs(rounded), np.dtype(np.float64))
        if wide is None or not wide.is_runnable:
            continue
        found = run_otherwise(
            trial,
            lambda: _narrow(single.with_inputs(rounded), function.backend, dtype, are_gradients),  # noqa: B023 - called at once
            f"in {dtype}",
        )
        if found is None:
            continue
        compared = compared or 0
        values = partial(_wide_values, are_gradients=are_gradients)
        exact = values(wide)
        nearby = [values(perturbed(wide, precision, relative=True, salt=salt)) for salt in range(4)]
        for k, (name, one, other) in enumerate(zip(names, found, exact, strict=True)):
            if one is None or other is None or other.dtype != np.float64:
                continue
            spread = max(float(np.nanmax(np.abs(each[k] - other), initial=0.0)) for each in nearby)
            terms = magnitude([other], wide.out_grads if are_gradients else ())
            limit = _ROUNDINGS * (spread + precision * terms)
            if _far(one, other, limit).any():
                hidden = hidden_movements(wide, values, exact, [values], precision)[k]
                limit += _ROUNDINGS * float(np.max(hidden, initial=0.0))
            allowed = np.full(other.shape, limit)
            if _far(one, other, allowed).any():  # rounding on the way may reach the other side of a kink
                judged = [allowed if j == k else None for j in range(len(exact))]
                allowed += jumps_within(wide, exact, [values], precision, judged)[k]
            place = first_place(_far(one, other, allowed) & np.isfinite(allowed))
            if place is not None:
                raise Violation(
                    f"{at(name, place)} is {float(one[place])!r} in {dtype}, and "
                    f"{float(other[place])!r} in float64, allowed {allowed[place]:.3g}",
                    verdict=weight(abs(float(one[place] - other[place])), float(allowed[place])),
                )
            compared += other.size
    return compared


def _narrow(trial: Trial, backend: Backend, dtype: str, are_gradients: bool) -> list[Any]:
    call = function_in(trial).call
    arrays = [backend.array(array, dtype if array.dtype == np.float32 else "") for array in trial.inputs]
    if not are_gradients:
        return outputs_of(trial, backend.call(call, arrays))
    heads = [
        backend.array(h, dtype if h.dtype == np.float32 else "") for h in trial.out_grads[: trial.visible]
    ]
    return _pulled(trial, call, arrays, heads)


def _wide_values(trial: Trial, are_gradients: bool) -> list[Any]:
    return trial.backward() if are_gradients else list(trial.result.outputs)


def _far(one: Array, other: Array, limit: float | Array) -> Array:
    with np.errstate(all="ignore"):
        found: Array = ~(np.abs(one.astype(np.float64) - other) <= limit) & np.isfinite(other)
    return found


@library_check("L908", ORDINARY, LARGE)
def narrow_results(trial: Trial) -> Evidence:
    """Results in the library's own narrow types are those of float64, within a tolerance.

    NumPy has no bfloat16, so tests against it never see one. Sums in eight bits stop growing at 256.

    Broken by:
        total = x.sum(dtype=torch.bfloat16)
    Fix:
        Compute in float32, and round the result.
    How:
        Compare results in types that NumPy lacks with those in float64.
    """
    return _in_narrow_types(trial, trial.outputs, are_gradients=False)


@library_check("L909", ORDINARY, LARGE)
def narrow_gradients(trial: Trial) -> Evidence:
    """Gradients in the library's own narrow types are those of float64, within a tolerance.

    Training in bfloat16 takes its steps from these gradients; a sum of them that stops growing, or terms
    that cancel in eight bits, stop it too.

    Broken by:
        return grad * (y.bfloat16() - y * y)
    Fix:
        Compute the gradient in float32, and round it once at the end.
    How:
        Compare gradients in types that NumPy lacks with those in float64.
    """
    if not any(trial.prop.differentiable_inputs()):
        return None
    names = trial.gradient_names
    return _in_narrow_types(trial, names, are_gradients=True)


TRANSFORMATIONS: Final = (compiled, transposed, mapped, narrow_results, narrow_gradients)
"""All of these checks, for libraries that transform functions."""
