"""Hypothesis strategies for cases.

What can shrink in a telling way is drawn one by one: parameters, sizes, mode. Values are drawn
through one seed, because a report's values are made simple afterwards, element by element.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from hypothesis import assume
from hypothesis import strategies as st

from operad.dtypes import DType
from operad.errors import OperadError
from operad.operator import OperatorProperty, PartialShape, Shape, is_known
from operad_check.cases.attempts import Attempts
from operad_check.cases.goal import Goal
from operad_check.cases.kinds import CaseKind
from operad_check.cases.params import parameters, required_params
from operad_check.cases.shapes import argument_shapes, fitting_shapes, most_elements
from operad_check.cases.values import Values
from operad_check.trials.case import Case
from operad_check.trials.cause import is_own
from operad_check.trials.subject import Subject
from operad_check.trials.trial import Trial
from operad_check.trials.violation import OperatorRaised
from operad_sdk.contract import Contract
from operad_sdk.domains import Domain, Index, Integers, PositiveDefinite, Real
from operad_sdk.errors import DeclarationError, SpecError

Array = npt.NDArray[Any]

DATA: Domain = Real()
"""Domain of an argument without a declared one."""
STATE: Domain = Real(0.375, 2.125)
"""An auxiliary state where nothing is declared; it may be a variance."""
_UNUSUAL: Final = ("uint8", "int8", "float16", "int16", "uint16", "uint32", "uint64")
"""Types of cases where the operator takes none of the usual ones."""
BESIDE: Final = tuple(map(np.dtype, ("float32", "int32", "bool")))
"""Types of arguments that refuse the one that a case is about."""


@st.composite
def cases(draw: st.DrawFn, subject: Subject, goal: Goal, attempts: Attempts | None = None) -> Case:
    """Cases that serve a goal and that the operator's inference accepts.

    Args:
        attempts: Told why cases are passed over.
    """
    tried = attempts or Attempts()
    kind = replace(goal.kind, sizes=goal.sizes or goal.kind.sizes, ranks=goal.ranks or goal.kind.ranks)
    params = draw(parameters(subject, goal.params))
    prop = made(subject, params, tried)
    assume(prop is not None)
    assert prop is not None
    usable = _usable_types(subject, prop, goal.dtypes or kind.dtypes, tried)
    if not usable and not goal.dtypes and "float32" in kind.dtypes:
        usable = _usable_types(subject, prop, _UNUSUAL, tried)
    assume(usable)
    try:
        shapes = argument_shapes(draw, subject, prop, kind, goal.size, tried)
    except OperadError as error:  # these sizes and parameters do not go together
        tried.refused(error)
        shapes = None
    assume(shapes is not None)
    assert shapes is not None
    most = goal.each_at_most or most_elements(prop, kind)
    counts = [prod(shape) for shape in shapes]
    assume(tried.within((max(counts, default=0) if goal.each_at_most else sum(counts)) <= most))
    given = goal.size
    assume(given is None or tried.reaches(any(given.is_reached(n) for shape in shapes for n in shape)))
    outputs: Sequence[Any] = prop.infer_shape(list(shapes))[1]  # one that stays open is F202's to report
    assume(tried.within(all(not is_known(shape) or prod(shape) <= 2 * most for shape in outputs)))
    types = draw(st.sampled_from(usable if goal.wanted else usable[:2]))
    assume(goal.wanted is None or goal.wanted(prop, shapes, types[0]))
    is_train = draw(st.sampled_from((True, False)))
    seed = draw(st.integers(0, 2**16))
    case = case_of(subject, prop, params, shapes, types, is_train, seed, goal.values)
    assume(not (goal.dtypes or subject.writer) or _is_computed(subject, case, tried))
    return case


def is_takeable(subject: Subject, kind: CaseKind) -> bool:
    """Return whether cases of a kind follow from a declaration alone, so that some should be found.

    What an author's own inference accepts, or a function of shapes, has to be found by trying.
    """
    params, tried = required_params(subject), Attempts()
    prop = made(subject, params, tried)
    usable = _usable_types(subject, prop, kind.dtypes, tried) if prop is not None else []
    if prop is None or not usable:
        return False
    fitting = fitting_shapes(subject, prop)
    made_of = (case_of(subject, prop, params, shapes, usable[0], True, 0) for shapes in fitting)
    return any(_is_computed(subject, case, tried) for case in made_of)


def _usable_types(
    subject: Subject, prop: OperatorProperty, names: Sequence[str], attempts: Attempts
) -> list[tuple[list[DType], list[DType]]]:
    offered = (completed_types(subject, prop, np.dtype(name), BESIDE, attempts) for name in names)
    return [types for types in offered if types is not None]


def _is_computed(subject: Subject, case: Case, attempts: Attempts) -> bool:
    """Return whether the operator can be made for the element types of the case.

    A parameter that a type cannot hold, such as a scalar of 300 for int8, is refused in words. A function of
    another library may refuse anything.
    """
    try:
        trial = Trial(subject, case)
        trial.new_operator()
        if subject.writer is not None:
            trial.forward()
    except OperatorRaised as error:
        attempts.refused(error)
        return not (error.is_refusal if subject.writer else isinstance(error.error, OperadError))
    return True


def case_of(
    subject: Subject,
    prop: OperatorProperty,
    params: Mapping[str, Any],
    shapes: Sequence[Shape],
    types: tuple[Sequence[DType], Sequence[DType]],
    is_train: bool,
    seed: int,
    values: Values = Values.LATTICE,
) -> Case:
    """The case of these choices, with elements that `seed` determines.

    Args:
        types: Element types of the arguments and of the auxiliary states.
        values: What the elements are like.
    """
    rng = np.random.default_rng(seed)
    names = prop.list_arguments()
    by_name = dict(zip(names, shapes, strict=True))
    contract = subject.contract

    def drawn(name: str, default: Domain | None, shape: Any, dtype: DType) -> Array:
        domain = contract.domain(name) or default
        if values is Values.LATTICE or not (domain is None or isinstance(domain, Real)):
            lattice = on_lattice(rng, domain or DATA, shape, dtype, prop, by_name)
            if isinstance(domain, Integers | Index):
                return values.few_of(rng, lattice)
            if isinstance(domain, PositiveDefinite) and values is Values.CONSTANT:  # equal eigenvalues
                return np.broadcast_to(np.eye(shape[-1]), shape).astype(dtype)
            return _of_both_signs(lattice) if domain is None else lattice
        if domain is None:
            return values.draw(rng, shape, dtype).astype(dtype)
        found = values.draw_between(rng, shape, domain).astype(dtype)
        inside = (found > domain.above) & (found < domain.below) & ~(domain.nonzero & (found == 0))
        return np.where(inside, found, on_lattice(rng, domain, shape, dtype, prop, by_name))

    inputs = {
        name: drawn(name, None, shape, dtype)
        for name, shape, dtype in zip(names, shapes, types[0], strict=True)
    }
    aux_shapes: Sequence[PartialShape] = prop.infer_shape(list(shapes))[2]
    aux = {
        name: drawn(name, STATE, _chosen(rng, shape), dtype)
        for name, shape, dtype in zip(prop.list_auxiliary_states(), aux_shapes, types[1], strict=True)
    }
    return Case(params=params, inputs=inputs, aux=aux, is_train=is_train, seed=seed)


def _of_both_signs(array: Array) -> Array:
    """The array, of several numbers, with another sign of one of them where all have the same."""
    if array.dtype.kind in "if" and array.size > 1 and ((array >= 0).all() or (array <= 0).all()):
        array.flat[np.argmax(abs(array))] *= -1
    return array


def _chosen(rng: np.random.Generator, shape: PartialShape) -> Shape:
    """Shape of a state, with lengths drawn where inference leaves them open."""
    if shape is None:
        shape = (None,) * int(rng.integers(1, 4))
    return tuple(int(rng.integers(0, 5)) if length is None else length for length in shape)


def domain_of(contract: Contract, name: str) -> Domain:
    """The domain of an argument."""
    return contract.domain(name) or DATA


def made(
    subject: Subject, params: Mapping[str, Any], attempts: Attempts | None = None
) -> OperatorProperty | None:
    """The property; None if the operator refuses these parameters, which `attempts` is told.

    Raises:
        OperatorRaised: The constructor raises something else than OperadError, or the declaration is wrong.
    """
    try:
        prop: OperatorProperty = subject.cls(**params)
        prop.list_arguments()
    except (DeclarationError, SpecError) as error:  # a mistake of the declaration refuses nothing
        raise OperatorRaised("the declaration", error) from error
    except OperadError as error:
        (attempts or Attempts()).refused(error)
        return None
    except Exception as error:
        raise OperatorRaised("the constructor", error) from error
    return prop


def completed_types(
    subject: Subject,
    prop: OperatorProperty,
    base: DType,
    beside: Sequence[DType] = (),
    attempts: Attempts | None = None,
) -> tuple[list[DType], list[DType]] | None:
    """Types of arguments and auxiliary states, `base` where the operator leaves a choice.

    None where the operator does not take `base`, or where the choice is none: a type that is not
    `base` throughout is of one kind only.

    Args:
        beside: Types for an argument that refuses `base`, tried in this order: booleans beside
            numbers, numbers beside places.
        attempts: Told how the operator refuses the type.
    """
    tried = attempts or Attempts()
    if subject.contract.dtypes and base.name not in subject.contract.dtypes:
        tried.refusal = f"Contract(dtypes=...) is without {base}"
        return None
    count = len(prop.list_arguments())
    for start in ([None] * count, [base] * count):  # what raises for a part may accept the whole
        try:
            return _completed(prop, start, base)
        except Exception as error:  # noqa: BLE001 - whatever refuses this type; D601 looks at how
            tried.refused(error)
    try:
        found = _completed(prop, [None] * count, base, beside) if beside else None
    except Exception:  # noqa: BLE001 - likewise
        return None
    return found if found is not None and base in found[0] else None


def _completed(
    prop: OperatorProperty, known: Any, base: DType, beside: Sequence[DType] = ()
) -> tuple[list[DType], list[DType]] | None:
    aux: Any
    while True:
        known, _, aux = prop.infer_type(known)
        # compared by identity: NumPy says that float64 == None
        unknown = [place for place, dtype in enumerate(known) if dtype is None]
        if not unknown:
            break
        known = list(known)
        known[unknown[0]] = _first_taken(prop, known, unknown[0], (base, *beside))
    # a type of an output that stays open is F202's to report; of a state it is the caller's choice
    return known, [base if dtype is None else dtype for dtype in aux]


def _first_taken(prop: OperatorProperty, known: list[Any], place: int, offered: Sequence[DType]) -> DType:
    """First of the offered types that inference accepts for an argument, beside the known types."""
    for dtype in offered[:-1]:
        try:
            prop.infer_type([dtype if i == place else other for i, other in enumerate(known)])
        except Exception:  # noqa: BLE001 - likewise
            continue
        return dtype
    return offered[-1]


def on_lattice(
    rng: np.random.Generator, domain: Domain, shape: Shape, dtype: DType, prop: OperatorProperty, shapes: Any
) -> Array:
    """Elements of a domain, on a coarse lattice where it is of real numbers."""
    if dtype.kind == "b" and domain is DATA:
        return np.asarray(rng.random(shape) < 0.5)  # nearly every point of the lattice is true
    try:
        values = domain.draw(rng, shape, prop, shapes)
        if dtype.kind in "iu":
            values = np.abs(np.rint(values)) if dtype.kind == "u" else np.rint(values)
        return np.asarray(values).astype(dtype).reshape(shape)
    except Exception as error:
        if isinstance(error, OperadError) or is_own(error, outside=1):
            raise
        raise OperatorRaised("the declared domain", error) from error
