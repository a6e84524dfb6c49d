"""A case cast to another element type, one with perturbed values, and one with longer axes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import starmap
from typing import Any

import numpy as np

from operad.dtypes import DType
from operad.operator import Shape
from operad.resource import ResourceRequest
from operad_check.cases.strategies import STATE, completed_types, domain_of
from operad_check.trials.trial import Array, Trial, raising
from operad_check.trials.violation import Declaration, OperatorRaised
from operad_sdk.contract import Contract
from operad_sdk.declare.shaped import ShapedProperty
from operad_sdk.domains import Domain, Real

_FLOATING = ("float16", "float32", "float64")
_WHOLE = ("int8", "uint8", "int32", "int64", "bool")
_DRAWS = (ResourceRequest.RANDOM, ResourceRequest.PARALLEL_RANDOM)


def retyped(trial: Trial, dtype: DType, *, is_mixed: bool = False) -> Trial | None:
    """The trial with arguments of `dtype`, where the operator leaves the choice.

    Beside floating types, and where `is_mixed` beside any, an argument that refuses `dtype` keeps its own.
    None where it does not take that type, or where the values do not survive the change: a number
    between 0 and 1 has no whole one in its place.
    """
    own = dict.fromkeys(trial.in_types)
    kept = list(own) if is_mixed else [each for each in own if each.kind != "f"] if dtype.kind == "f" else ()
    types = completed_types(trial.subject, trial.prop, dtype, kept)
    if types is None:
        return None
    contract = trial.subject.contract
    arguments = zip(trial.arguments, trial.inputs, types[0], strict=True)
    inputs = _all_cast((name, array, to, domain_of(contract, name)) for name, array, to in arguments)
    states = zip(trial.states, trial.aux, types[1], strict=True)
    aux = _all_cast((name, array, to, contract.domain(name) or STATE) for name, array, to in states)
    if inputs is None or aux is None:
        return None
    return Trial(trial.subject, replace(trial.case, inputs=inputs, aux=aux, out_grads=()))


def floating_alone(trial: Trial) -> Declaration | None:
    """`accepts="floating"`, where an operator says nothing of types and computes with floating ones alone."""
    cls, subject = type(trial.prop), trial.subject
    is_silent = getattr(cls, "accepts", None) == "any" and cls.infer_type is ShapedProperty.infer_type
    if not is_silent or subject.contract.dtypes or subject.writer is not None:
        return None
    own, others = ([retyped(trial, np.dtype(name)) for name in names] for names in (_FLOATING, _WHOLE))
    if not any(others) or any(each is not None and each.is_runnable for each in others):
        return None
    is_right = any(own) and all(each is None or each.is_runnable for each in own)
    return Declaration("accepts", '"floating"') if is_right else None


def _all_cast(arrays: Iterable[tuple[str, Array, DType, Domain]]) -> dict[str, Array] | None:
    found = {}
    for name, array, dtype, domain in arrays:
        made = _cast(array, dtype, domain)
        if made is None:
            return None
        found[name] = made
    return found


def _cast(array: Array, dtype: DType, domain: Domain) -> Array | None:
    rounded = np.rint(array) if dtype.kind in "iub" and array.dtype.kind == "f" else array
    if dtype.kind == "u":
        rounded = np.abs(rounded)
    with np.errstate(all="ignore"):
        made: Array = rounded.astype(dtype)
    if np.array_equal(made, array) or all(domain.accepts(float(value)) for value in made.flat):
        return made
    return None


def is_random(trial: Trial) -> bool:
    """Return whether the operator requests random numbers."""
    with raising("forward_resource"):
        needs = trial.prop.forward_resource(trial.in_shapes)
    with raising("backward_resource"):
        needs = [*needs, *trial.prop.backward_resource(trial.in_shapes)]
    return any(request in _DRAWS for request in needs)


def perturbed(trial: Trial, distance: float, *, relative: bool = False, salt: int = 0) -> Trial:
    """The trial with every element of its real arguments perturbed by about `distance`, up or down.

    A relative perturbation stands for rounding, and so moves auxiliary states and head gradients as well.

    Args:
        distance: Between half of it and all of it; an element that would leave its domain, and one
            of a type that is not floating, stays. Below 0: each element the other way.
        relative: Whether it is a part of the element itself.
        salt: Which of many such perturbations.
    """
    rng = np.random.default_rng([trial.case.seed, salt])
    contract = trial.subject.contract
    inputs: Mapping[str, Any] = {
        name: _perturbed(rng, array, distance, relative, _bounds(contract, name, relative))
        for name, array in zip(trial.arguments, trial.inputs, strict=True)
    }
    if not relative:
        return Trial(trial.subject, replace(trial.case, inputs=inputs, out_grads=()))
    aux = {
        name: _perturbed(rng, array, distance, relative, contract.domain(name))
        for name, array in zip(trial.states, trial.aux, strict=True)
    }
    heads = trial.out_grads[: trial.visible]
    out_grads = tuple(_perturbed(rng, head, distance, relative, None) for head in heads)
    return Trial(trial.subject, replace(trial.case, inputs=inputs, aux=aux, out_grads=out_grads))


def _bounds(contract: Contract, name: str, relative: bool) -> Domain | None:
    """Domain in which a perturbed argument stays; None if rounding may take the argument anywhere."""
    return contract.domain(name) if relative else domain_of(contract, name)


def _perturbed(
    rng: np.random.Generator, array: Array, distance: float, relative: bool, domain: Domain | None
) -> Array:
    if array.dtype.kind != "f":
        return array
    steps = rng.choice([-1.0, 1.0], array.shape) * rng.uniform(0.5, 1.0, array.shape) * distance
    steps = array * steps if relative else steps
    along = steps if domain is None else domain.along(steps)
    if along is None:
        return array
    found = np.asarray(array + along, array.dtype)
    if not isinstance(domain, Real):  # others do not judge elements one by one
        return found
    allowed = np.array([domain.accepts(float(value)) for value in found.flat], bool).reshape(array.shape)
    return np.where(allowed, found, array).astype(array.dtype)


def lengthened(trial: Trial, longest: int) -> Trial | None:
    """The trial with each number twice along short axes, and four numbers on axes of one or two.

    (x - mean) / deviation is 0 for one number, and -1 and 1 for any two, and its gradient is 0: whatever is
    perturbed, the terms of which they are made cancel, and what rounding costs there does not show. Of three
    numbers, two alike, the gradient of the third does not move: what these two do to it cancels. Copies
    have terms of the same size, and once they are perturbed each by itself these do not cancel.

    Args:
        longest: Length of an axis that counts as short.

    Returns:
        None where the operator refuses the trial.
    """
    inputs, aux = (
        {
            name: _repeated(array, _longer(array.shape, longest))
            for name, array in zip(names, arrays, strict=True)
        }
        for names, arrays in ((trial.arguments, trial.inputs), (trial.states, trial.aux))
    )
    case = replace(trial.case, inputs=inputs, aux=aux, out_grads=())
    try:
        shapes = Trial(trial.subject, case).out_shapes
    except OperatorRaised:
        return None
    if not all(_follows(*pair, longest) for pair in zip(trial.out_shapes, shapes, strict=True)):
        return None
    heads = zip(trial.out_grads[: trial.visible], shapes, strict=False)
    made = Trial(trial.subject, replace(case, out_grads=tuple(starmap(_repeated, heads))))
    return made if made.is_runnable else None


def _follows(before: Shape, after: Shape, longest: int) -> bool:
    """Return whether each axis of a result is longer as one of an argument is, or of a fixed length."""
    if len(before) != len(after):
        return False
    return all(n in pair for n, *pair in zip(after, before, _longer(before, longest), strict=True))


def _longer(shape: Shape, longest: int) -> Shape:
    return tuple(n * (4 // n if n in (1, 2) else 2 if n <= longest else 1) for n in shape)


def _repeated(array: Array, shape: Shape) -> Array:
    for axis, length in enumerate(shape):
        array = np.repeat(array, length // max(1, array.shape[axis]), axis)
    return array


def first_copies(array: Array, shape: Shape) -> Array:
    """Elements of an array of the lengthened trial at the places of one of `shape` of the trial itself."""
    steps = (n // max(1, own) for n, own in zip(array.shape, shape, strict=True))
    return array[tuple(slice(None, None, step or 1) for step in steps)]
