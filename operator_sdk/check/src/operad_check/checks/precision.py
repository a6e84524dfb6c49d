"""Group D: digits kept and lost."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from operad.operator import FORWARD, Kernel, KernelCall, Operator, choose_among
from operad_check.cases.kinds import BULK, EXTREME, LARGE, ORDINARY, SPECIAL
from operad_check.cases.retype import is_random, perturbed, retyped
from operad_check.checks.inplace import expect_in_place
from operad_check.comparison.closeness import ROUNDINGS, at, coarsest, magnitude
from operad_check.comparison.point import real_arguments
from operad_check.comparison.rounding import (
    MOVEMENTS,
    SPREADS,
    WIDE_TYPE,
    Values,
    cost_of_heads,
    expect_near,
    first_beyond,
    largest,
    overflows,
    without_overflow,
)
from operad_check.register import Evidence, check
from operad_check.trials.kernel_arrays import (
    WholeOperator,
    asks,
    expect_filled,
    expect_untouched,
    whole_choice,
)
from operad_check.trials.kernels import call_of, usable
from operad_check.trials.trial import Trial, raising
from operad_check.trials.violation import OperatorRaised, Violation

_COARSE: Final = (np.dtype(np.float16), np.dtype(np.float32))
_SLIGHTLY: Final = 2.0**-36
"""A movement that float64 sees and float32 does not, of numbers up to `_USUAL`."""
_MORE: Final = 2.0**24
"""Factor from that movement to one that float32 sees."""
_LESS: Final = 2.0**-8
"""Part of the smaller movement at which a result moves by its noise alone."""
_USUAL: Final = 8
"""Magnitude from which on numbers are moved by more: what a sum with one of 512 rounds hides 2^-36."""
_STRAIGHT: Final = 16
"""Part of a movement by which half of it may be off where a result is smooth."""
_CLEARLY: Final = 16
"""Roundings by which a result should move, to be looked at."""


@check("D602", ORDINARY, LARGE, BULK, EXTREME)
def outputs_in_coarse_types(trial: Trial) -> Evidence:
    """Outputs in each floating type are those of float64, within a tolerance.

    Half and single precision lose digits; more than a few times what the inputs' own rounding costs is a
    mistake of the computation.

    Broken by:
        variance = (data**2).mean() - data.mean()**2
    Within:
        spec = "data:(N + 2) -> output:(1)"
        accepts = "floating"
        def forward(data):
            HERE
            return np.full(1, variance, data.dtype)
    Fix:
        Rearrange the computation, compute half precision in single (compute_dtype="float32"), or
        declare Contract(tolerances=...).
    How:
        Compare outputs in float16 and float32 with those in float64.
    """
    return _in_coarse_types(trial, trial.outputs, _outputs)


@check("D603", ORDINARY, LARGE, BULK, EXTREME)
def gradients_in_coarse_types(trial: Trial) -> Evidence:
    """Gradients in each floating type are those of float64, within a tolerance.

    A gradient that loses digits trains, only to a worse place. More than a few times what the arguments'
    own rounding costs is a mistake of the computation. An error of up to sixteen roundings may reach the
    other side of a kink on the way (relu of a normalized row); the slope there is right as well.

    Broken by:
        @sigmoid.gradient
        def _(output_grad, y): return output_grad * (y.astype('float16') - y * y)
    Not run:
        A sigmoid of another module.
    Fix:
        Compute the gradient from what keeps its digits, as from the input where the output saturates;
        compute half precision in single (compute_dtype="float32"), or declare Contract(tolerances=...).
    How:
        Compare gradients in float16 and float32 with those in float64.
    """
    if not trial.prop.has_gradient or not any(trial.prop.differentiable_inputs()):
        return None
    return _in_coarse_types(trial, trial.gradient_names, _gradients)


def _outputs(trial: Trial) -> Sequence[Any]:
    return trial.result.outputs


def _gradients(trial: Trial) -> Sequence[Any]:
    return trial.gradients


def _gradients_of_rounded(dtype: Any) -> list[Values]:
    """Functions that give gradients from rounded outputs, as a coarse type hands them to backward.

    The second function rounds each output the other way than the first.
    """

    def rounded(trial: Trial, way: float) -> Sequence[Any]:
        rng = np.random.default_rng(trial.case.seed)
        outputs = [
            array * (1 + way * rng.choice([-1.0, 1.0], array.shape) * float(np.finfo(dtype).eps))
            if array.dtype == WIDE_TYPE
            else array
            for array in trial.result.outputs
        ]
        return trial.backward(outputs=outputs)

    return [partial(rounded, way=way) for way in (1.0, -1.0)]


def _in_coarse_types(trial: Trial, names: Sequence[str], values: Values) -> Evidence:
    if not trial.arguments or is_random(trial) or retyped(trial, WIDE_TYPE) is None:
        return None
    compared = None
    own = coarsest(trial)
    if own.kind != "f":
        return None
    for dtype in [own] if own in _COARSE else _COARSE:
        made = retyped(trial, dtype)
        wide = None if made is None else retyped(made, WIDE_TYPE)  # whose values are rounded already
        if made is None or wide is None or (values is _outputs and not _share_types(made, wide, dtype)):
            continue
        compared = compared or 0
        if made.is_runnable and wide.is_runnable:  # else D601 reports it
            are_gradients = values is _gradients
            if are_gradients and overflows(wide.result.outputs, dtype):
                continue  # an output that leaves the range takes along the gradient that is made from it
            found = without_overflow(made, values, values(made), values(wide))
            nearby = _gradients_of_rounded(dtype) if are_gradients else [values]
            compared += expect_near(
                names, found, wide, values, dtype, nearby=nearby, are_gradients=are_gradients
            )
    return compared


def _share_types(made: Trial, wide: Trial, dtype: Any) -> bool:
    """Return whether some output has the type of the arguments."""
    return (dtype, WIDE_TYPE) in zip(made.out_types, wide.out_types, strict=True)


@check("D604", ORDINARY)
def float64_throughout(trial: Trial) -> Evidence:
    """Float64 is computed in float64.

    Numbers that pass through float32 on the way keep seven digits of sixteen; numeric gradients of
    networks that use the operator fail for no visible reason.

    Broken by:
        def forward(data): return np.exp(data.astype("float32"))
    Within:
        spec = "data:(*S) -> output:(*S)"
        accepts = "floating"
        HERE
    Fix:
        Compute in the type of the arrays: data.dtype, not a fixed one.
    How:
        Check that results show a movement of the inputs that float32 cannot represent.
    """
    if is_random(trial) or trial.is_shaped_by_values:
        return None
    wide = retyped(_without_zeros(trial), WIDE_TYPE)
    if wide is None:
        return None
    types = [*wide.in_types, *wide.out_types, *(state.dtype for state in wide.aux)]
    if any(dtype.kind == "f" and dtype != WIDE_TYPE for dtype in types):
        return None  # single precision by declaration
    if not wide.is_runnable:
        return 0
    slightly = _SLIGHTLY * max(1.0, magnitude(wide.inputs) / _USUAL)
    visibly = slightly * _MORE
    steps = [perturbed(wide, distance) for distance in (slightly, visibly, visibly / 2)]
    # where a domain is declared it may be the domain that is flat
    compared, only_steps = 0, not any(map(trial.subject.contract.domain, trial.arguments))
    names = [*trial.outputs, *trial.gradient_names]
    found = [_everything(each) for each in (wide, *steps)]
    # what is left where terms cancel has no more digits than they
    terms = magnitude(wide.inputs, wide.aux, wide.out_grads, *found)
    rounding = ROUNDINGS * float(np.finfo(WIDE_TYPE).eps) * max(1.0, terms)
    for number, (name, here, there, beyond, halfway) in enumerate(zip(names, *found, strict=True)):
        if here is None or here.dtype != WIDE_TYPE:
            continue
        with np.errstate(all="ignore"):
            move, half = beyond - here, halfway - here
            expected = (4 * half - move) / _MORE
            is_step = np.abs(move - 2 * half) > np.abs(move) / 2
            is_straight = np.abs(move - 2 * half) <= np.abs(move) / _STRAIGHT
            smooth = is_straight & (np.abs(expected) > _CLEARLY * rounding)
            astray = np.abs(there - here - expected) - np.abs(expected) / 2 - rounding
        only_steps &= not (move != 0).any() or bool(is_step[move != 0].all())
        compared += int(smooth.sum())
        if _are_most(astray > 0, smooth) and _are_most(
            astray > SPREADS * _noise(wide, number, here, slightly * _LESS), smooth
        ):
            raise Violation(
                f"{name} does not follow where the arguments change by {slightly:.2g}, though it follows "
                "larger changes: something of it passes through a type of fewer digits than float64"
            )
    # what has no gradient, or one by declaration, need not follow anything; nor steps
    may_be_flat = (
        trial.subject.contract.why_no_numeric_gradient(trial.prop)
        or not any(trial.prop.differentiable_inputs())
        or not real_arguments(wide)
        or only_steps
    )
    return compared or (None if may_be_flat else 0)


def _are_most(flags: Any, among: Any) -> bool:
    return bool(2 * (flags & among).sum() > among.sum())


def _noise(trial: Trial, number: int, here: Any, distance: float) -> Any:
    """The largest movement of a result by some that are too small to show.

    An ill-conditioned result has noise of many digits; one in a narrow type does not move at all.
    """
    close = [_everything(perturbed(trial, distance, salt=salt))[number] for salt in range(MOVEMENTS)]
    return np.max([np.abs(each - here) for each in close], axis=0)


def _without_zeros(trial: Trial) -> Trial:
    """The trial, moved off its zeros: a perturbation of 0 itself may be smaller than any digit."""
    return perturbed(trial, 0.0625, salt=1) if any((array == 0).any() for array in trial.inputs) else trial


def _everything(trial: Trial) -> list[Any]:
    return [*trial.result.outputs, *trial.any_gradients()]


@check("D606", ORDINARY, LARGE, SPECIAL, EXTREME)
def kernels_agree(trial: Trial) -> Evidence:
    """All kernels that apply give the same, within a tolerance.

    Which kernel runs depends on shapes, types and what is installed; what an operator means does not.

    Broken by:
        @smooth.kernel("cpu", priority=1)
        def fast(data): return data / 2    # forgets sigma
    Within:
        @operator("checked_example")
        class Example(OperatorProperty):
            spec = "data:(*S) -> output:(*S)"
            sigma = param(float, 2.0, ge=1, doc="Width.")
            def forward(data, sigma): return data / sigma
        smooth = Example
        HERE
    Fix:
        Correct the kernel that differs, or narrow its when= condition.
    How:
        Compare every kernel that applies with the operator's first, at ordinary, long and extreme values.
    """
    call = call_of(trial)
    with raising("a kernel's condition"):
        tried = usable(call)
    if len(tried) < 2 or is_random(trial):
        return None
    whole = [kernel for kernel in tried if kernel.computes(trial.prop, FORWARD)]
    own = next(one for one in type(trial.prop).kernels if any(one is kernel for kernel in whole))
    try:
        computed = _made(trial, call, own, own)
        if own is not whole[0]:
            trial.forward(operator=computed)
    except OperatorRaised:
        if own is whole[0]:
            raise
        return None  # what is never chosen here need not run; the one that is has other checks
    compared = {}
    for other in tried:
        if other is not own:
            made = _made(trial, call, other, own)
            compared[f"kernel {other.name}"] = _expect_agreement(trial, own, computed, other.name, made)
    return compared


def _made(trial: Trial, call: KernelCall, kernel: Kernel, own: Kernel) -> Operator:
    """Operator computed by one kernel, and by the operator's own kernel in parts that the first lacks."""
    if not asks(kernel):
        with raising(f"kernel {kernel.name}"):
            choice = choose_among(call, [kernel, own])
            made = choice.operator()
        if trial.is_runnable:
            expect_in_place(trial, choice)
        return made
    with raising(f"kernel {kernel.name}"):
        choice = whole_choice(call, kernel, own)
        whole = WholeOperator(choice, trial.case.seed)
    expect_filled(trial, choice)
    expect_untouched(trial, whole)
    expect_in_place(trial, choice)
    return whole


def _cost_of_rounding(trial: Trial, values: Values, number: int, here: Any) -> Any:
    """Allowed error of one result where terms cancel: several times what rounding the arguments costs."""
    precision = float(np.finfo(coarsest(trial)).eps) if coarsest(trial).kind == "f" else 0.0
    moved = [
        values(perturbed(trial, precision, relative=True, salt=salt))[number] for salt in range(MOVEMENTS)
    ]
    with np.errstate(all="ignore"):
        apart = np.max([np.abs(each.astype(WIDE_TYPE) - here.astype(WIDE_TYPE)) for each in moved], axis=0)
    return SPREADS * np.where(np.isnan(apart), 0.0, apart)


def _allowed(trial: Trial, dtype: Any, is_gradient: bool, right: Any) -> float:
    """Allowed error of an array, from its largest number."""
    precision, tiny = float(np.finfo(dtype).eps), float(np.finfo(dtype).smallest_normal)
    limit = ROUNDINGS * precision * largest(right) * SPREADS + tiny
    declared = trial.subject.contract.tolerances.get(dtype.name)
    if is_gradient:
        limit += cost_of_heads(trial, precision)
    return max(limit, declared.absolute + declared.relative * largest(right)) if declared else limit


def _in_float64(trial: Trial, own: Kernel) -> list[Any]:
    """Results of the operator's own kernel in float64 for the same numbers; None for all where it cannot."""
    wide = retyped(trial, WIDE_TYPE)
    try:
        if wide is None or not any(own is kernel for kernel in usable(call_of(wide))):
            return [None] * (len(trial.outputs) + len(trial.arguments))
        operator = _made(wide, call_of(wide), own, own)
        handed = [np.asarray(*pair) for pair in zip(trial.result.outputs, wide.out_types, strict=True)]
        heads = [one if one is None else one.astype(WIDE_TYPE) for one in trial.out_grads]
        gradients = wide.any_gradients(operator=operator, out_grads=heads, outputs=handed)
        return [*wide.forward(operator=operator).outputs, *gradients]
    except OperatorRaised:
        return [None] * (len(trial.outputs) + len(trial.arguments))


def _expect_agreement(trial: Trial, own: Kernel, computed: Operator, other_name: str, other: Operator) -> int:
    names = [*trial.outputs, *trial.gradient_names]

    def values(each: Trial, operator: Operator = computed) -> list[Any]:
        result = each.forward(operator=operator).outputs
        return [*result, *each.any_gradients(operator=operator, outputs=trial.result.outputs)]

    expected, found = values(trial), values(trial, other)
    compared = 0
    for number, (label, one, want) in enumerate(zip(names, found, expected, strict=True)):
        if one is None or want is None:
            continue
        compared += one.size
        dtype = one.dtype if one.dtype.kind == "f" else np.dtype(np.float64)
        allowed = partial(_allowed, trial, dtype, number >= len(trial.outputs))
        wide, wanted = one.astype(WIDE_TYPE), want.astype(WIDE_TYPE)
        limit = np.full(one.shape, allowed(wanted))
        place = first_beyond(wide, wanted, limit, dtype)
        if place is not None:
            limit += _cost_of_rounding(trial, values, number, want)
            place = first_beyond(wide, wanted, limit, dtype)
        if place is not None and dtype in _COARSE and (right := _in_float64(trial, own)[number]) is not None:
            # a kernel may keep what the operator's own loses on the way, as where a square overflows
            is_right = np.isclose(wide, right, rtol=0, atol=allowed(right))
            place = first_beyond(np.where(is_right, wanted, wide), wanted, limit, dtype)
        if place is not None:
            raise Violation(
                f"{at(label, place)} is {one[place].item()!r} by kernel {other_name}, and "
                f"{want[place].item()!r} by {own.name}"
            )
    return compared
