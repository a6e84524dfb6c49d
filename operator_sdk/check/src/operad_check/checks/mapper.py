"""Group A: the mappers that an operator uses, found during a run, and the operator's scalar forms."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final

import numpy as np

from operad.operator import OpReq, ScalarForm
from operad_check.cases.kinds import EXTREME, ORDINARY
from operad_check.cases.retype import retyped
from operad_check.checks.memory import array_of
from operad_check.comparison.closeness import at, first_place
from operad_check.register import Evidence, check
from operad_check.trials.branches import Branches, enter
from operad_check.trials.mapper_calls import (
    Array,
    MapperCall,
    recorded_calls,
    rounding_limit,
    rounding_limits,
)
from operad_check.trials.trial import Trial
from operad_check.trials.violation import Violation
from operad_sdk.mapper import Mapper, slope_of
from operad_sdk.vector import reason_against

_TYPES: Final = (np.dtype(np.float32), np.dtype(np.float64))
_OF_FORMS: Final = (np.dtype(np.float16), *_TYPES)
_OFF_LATTICE: Final = 0.7390851332151607
"""Factor that gives every number all its digits."""
_NEARBY: Final = 2.0**-20
_LARGEST: Final = 64
"""Elements of an array that a mapper is evaluated on, one by one."""


@check("A701", ORDINARY)
def back_ends(trial: Trial) -> Evidence:
    """All back ends of a mapper agree within a few units in the last place.

    A mapper runs as Python, NumPy, compiled code and on GPUs, and nobody chooses which.

    Broken by:
        SLOPE = 0.1
        @mapper
        def leaky(x): return x if x > 0 else SLOPE * x
        SLOPE = 0.2    # too late
    Within:
        HERE
        Example = from_mapper(leaky, name="checked_example")
    Fix:
        Pass what varies as an argument; constants are fixed when the mapper is made.
    How:
        Compare Python, NumPy and vector code, where there is any, on the operator's arrays and on others.
    """
    calls = _calls(trial)
    if not calls:
        return None
    compared = 0
    for call in calls:
        for dtype in _TYPES:
            for factor in (1.0, _OFF_LATTICE):
                args = [_as(arg, dtype, factor) for arg in call.args]
                compared += _expect_agreement(call.mapper, args, dtype)
    return compared


def _calls(trial: Trial) -> list[MapperCall]:
    """First call of each mapper in both passes."""
    with recorded_calls() as calls:
        trial.forward()
        trial.any_gradients(outputs=trial.result.outputs)
    first = {id(call.mapper): call for call in reversed(calls) if isinstance(call.result, np.ndarray)}
    return list(first.values())


def _as(arg: Any, dtype: np.dtype[Any], factor: float) -> Any:
    return (arg * factor).astype(dtype).ravel()[:_LARGEST] if isinstance(arg, np.ndarray) else arg


def _expect_agreement(mapper: Mapper, args: Sequence[Any], dtype: np.dtype[Any]) -> int:
    expected = mapper.backend("python").map(*args)
    limit = rounding_limit(mapper.form, _typed(args, dtype), dtype)
    for name in ("numpy", "vector") if reason_against() is None else ("numpy",):
        found = mapper.backend(name).map(*args)
        place = _first_beyond(found, expected, limit)
        if place is not None:
            shown = ", ".join(repr(_element(arg, place)) for arg in args)
            raise Violation(
                f"mapper {mapper.__name__}({shown}) is {found[place].item()!r} by {name}, and "
                f"{expected[place].item()!r} by Python, in {dtype}"
            )
    return int(expected.size)


def _typed(args: Sequence[Any], dtype: np.dtype[Any]) -> list[Any]:
    """Numbers as a back end sees them."""
    return [arg if isinstance(arg, np.ndarray) else float(dtype.type(arg)) for arg in args]


def _element(arg: Any, place: tuple[int, ...]) -> Any:
    return arg[place].item() if isinstance(arg, np.ndarray) else arg


def _first_beyond(found: Array, expected: Array, limit: Array) -> tuple[int, ...] | None:
    with np.errstate(all="ignore"):
        distance = np.abs(found.astype(np.float64) - expected.astype(np.float64))
        same = (found == expected) | (np.isnan(found) & np.isnan(expected))
        beyond = ~same & ~(distance <= limit) & ~np.isinf(limit)
    return first_place(beyond)


@check("A702", ORDINARY, EXTREME, pooled=True)
def every_branch(trials: Sequence[Trial]) -> Evidence:
    """The examples enter every branch of a mapper.

    A branch that no example enters is untested, and one that none can enter is a mistake.

    Broken by:
        if x > limit and x < -limit:    # never
            return 0.0
    Not run:
        A branch of a mapper.
    Fix:
        Correct the condition, or declare values that reach it: Contract(inputs=..., params=...).
    How:
        Check that each condition in mappers is true in some example and false in some.
    """
    found: dict[int, tuple[Mapper, Branches | None]] = {}
    for trial in trials:
        if not trial.is_runnable:
            continue
        for call in _calls(trial):
            if id(call.mapper) not in found:
                found[id(call.mapper)] = call.mapper, _branches_of(call.mapper)
            branches = found[id(call.mapper)][1]
            if branches is not None and branches.missing():
                enter(branches, call.args, np.dtype(np.float64))
    known = [(mapper, branches) for mapper, branches in found.values() if branches is not None]
    for mapper, branches in known:
        for text, value in branches.missing():
            message = f"mapper {mapper.__name__}: in {len(trials)} examples, {text}, is never {value}"
            raise Violation(message, cases=[trial.case for trial in trials if trial.is_runnable][-1:])
    return sum(branches.count for _, branches in known) or None


def _branches_of(mapper: Mapper) -> Branches | None:
    """Branches of a mapper; None if the mapper has no source, as an automatic slope."""
    try:
        return Branches(mapper)
    except OSError:
        return None


@check("A703", ORDINARY)
def slopes(trial: Trial) -> Evidence:
    """A written slope is the mapper's own, but for kinks.

    Whoever differentiates by hand errs; whoever changes the function forgets the slope.

    Broken by:
        from_mapper(softplus, slope=softplus_slope)    # that of another sharpness
    Not run:
        Two mappers of another module.
    Fix:
        Correct the slope, or leave it out: slope="auto".
    How:
        Check that the gradient of an operator whose value is a mapper's is the mapper's slope.

        One that is declared to be another function's, as a straight-through gradient is, is not compared.
    """
    is_other = trial.subject.contract.why_no_numeric_gradient(trial.prop)
    if is_other or not any(trial.prop.differentiable_inputs()):
        return None
    wide = retyped(trial, np.dtype(np.float64))
    if wide is None or not all(array.dtype == np.float64 for array in wide.inputs):
        return None
    call, inputs = _only_call(wide)
    if call is None:
        return None
    gradients = wide.backward([np.ones_like(wide.result.outputs[0])])
    compared = 0
    for place, gradient in enumerate(gradients):
        positions = [i for i, arg in enumerate(call.args) if arg is inputs[place]]
        if gradient is None or len(positions) != 1:
            continue
        compared += _expect_slope(trial, call, positions[0], gradient, trial.arguments[place])
    return compared


def _only_call(trial: Trial) -> tuple[MapperCall | None, list[Array]]:
    """The only mapper call, if its result is the only output; and the inputs that it was given."""
    inputs = [array.copy() for array in trial.inputs]
    with recorded_calls() as calls:
        result = trial.forward(inputs)
    is_output = (
        len(calls) == len(result.outputs) == 1
        and isinstance(calls[0].result, np.ndarray)
        and all(array.shape == calls[0].result.shape for array in inputs)
        and np.array_equal(calls[0].result, result.outputs[0], equal_nan=True)
    )
    return (calls[0] if is_output else None), inputs


def _expect_slope(trial: Trial, call: MapperCall, position: int, gradient: Array, name: str) -> int:
    """Compare gradients with the slope at points where the slope does not jump; return their number."""
    slope = slope_of(call.mapper, position).backend("numpy")
    expected = slope.map(*call.args)
    nearby = []
    for sign in (-1, 1):
        args = [arg + sign * _NEARBY if i == position else arg for i, arg in enumerate(call.args)]
        nearby.append(slope.map(*args))
    with np.errstate(all="ignore"):
        # a formula such as sign(x) * sqrt(x * x) has no slope of its own where the function has one
        is_smooth = np.ptp([*nearby, expected], axis=0) <= 1e-3 * (1 + np.abs(expected))
        is_smooth &= np.isfinite(call.result)
    limit = 64 * rounding_limit(slope.form, call.args, np.dtype(np.float64)) + 1e-12
    place = _first_beyond(gradient, expected, np.where(is_smooth, limit, np.inf))
    if place is not None:
        point = ", ".join(repr(_element(arg, place)) for arg in call.args)
        raise Violation(
            f"{at(f'gradient of {name}', place)} is {gradient[place].item()!r}, and the slope of mapper "
            f"{call.mapper.__name__} at ({point}) is {expected[place].item()!r}"
        )
    return int(is_smooth.sum())


@check("A704", ORDINARY)
def scalar_forms(trial: Trial) -> Evidence:
    """The scalar form of each part gives what the operator gives, values and gradients.

    Plans compute the form in place of the kernels; a network must not change when it is fused.

    Broken by:
        @from_mapper_operator.kernel("cpu", priority=1)
        def fast(data): ...    # approximates
    Not run:
        A mapper of another module.
    Fix:
        Change the function with the kernel, or keep the kernel out of where they differ with when=.
    How:
        Compare the scalar form of each part that has one with the results of the operator.
    """
    compared = [
        _expect_as_form(trial, part, form)
        for part in trial.prop.list_parts()
        if not isinstance(form := trial.prop.scalar_form(part, trial.in_shapes, trial.in_types), str)
    ]
    return sum(compared) if compared else None


def _expect_as_form(trial: Trial, part: str, form: ScalarForm) -> int:
    found, arrays = (_forward if part == "forward" else _gradient)(trial, part)
    given = dict(zip(form.inputs, arrays, strict=True)) | found
    space = form.space({name: array.shape for name, array in given.items()})
    # One that a function reshapes, such as a label, has its elements in other axes.
    arrays = [
        array.reshape(space) if step.axes is None and array.size == prod(space) else array
        for array, step in zip(arrays, form.instructions, strict=False)
    ]
    results = form.evaluate(arrays, space)
    floats = [array.dtype for array in arrays if array.dtype.kind == "f"]
    limits = rounding_limits(form, arrays, space, min(floats, key=_OF_FORMS.index, default=_OF_FORMS[-1]))
    compared = 0
    for result, value, limit in zip(form.results, results, limits, strict=True):
        own = found.get(result.name)
        if own is None:  # a mode in which it is not written
            continue
        if value.shape != own.shape or value.dtype != own.dtype:
            raise Violation(
                f"{result.name} is {own.dtype}{own.shape}, and {value.dtype}{value.shape} by the scalar form "
                f"of {part}"
            )
        place = _first_beyond(own, value, limit)
        if place is not None:
            raise Violation(
                f"{at(result.name, place)} is {own[place].item()!r}, and {value[place].item()!r} by the "
                f"scalar form of {part}"
            )
        compared += own.size
    return compared


def _forward(trial: Trial, part: str) -> tuple[dict[str, Array], list[Array]]:
    """Arrays that the forward pass gives, by name, and arrays that it reads."""
    written = zip(trial.outputs, trial.written(trial.result.outputs), strict=True)
    found = {name: array for name, array in written if array is not None}
    return found | dict(zip(trial.states, trial.result.aux, strict=True)), [*trial.inputs, *trial.aux]


def _gradient(trial: Trial, part: str) -> tuple[dict[str, Array], list[Array]]:
    """Gradient by name, and arrays that backward reads for it."""
    wanted = [f"{name}_grad" == part for name in trial.arguments]
    arrays = [array_of(trial, entry) for entry in trial.prop.backward_dependency(wanted)]
    requests = [OpReq.WRITE if flag else OpReq.NULL for flag in wanted]
    return {part: trial.backward(req=requests)[wanted.index(True)]}, arrays
