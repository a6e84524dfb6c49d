"""Declarations by which an author takes something out of what the checks prove.

A green report says that what was looked at is right. What an author exempted, tried at fewer values than
the operator accepts, or described by its own code was not looked at: reports list it, and `--strict` wants
of each exemption a reason that says something, and of no parameter that it is narrowed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import CodeType, FunctionType
from typing import Any, Final

from operad.operator import OperatorProperty, Param
from operad_check.cases.kinds import DESIGNED
from operad_check.reporting.outcome import Coverage, Outcome, Status, Unproved
from operad_check.trials.subject import Subject

_LEAST_WORDS: Final = 4
"""Words of a reason; one that has fewer says nothing that another could judge."""
_SHARE: Final = 0.5
"""Part of the goals of a kind, without those that the operator refuses, that should have cases."""
_EXEMPTIONS: Final[Mapping[str, str]] = {
    "ignores_head_gradient": "that gradients follow the head gradient",
    "no_numeric_gradient": "that gradients are the derivatives of the outputs",
    "assumes_shapes": "that inference gives no shape where others would do",
    "undefined": "that finite arguments give numbers",
    "ties": "that gradients of equal elements are the derivative when they move together",
    "nan_policy": "that a NaN in an input shows in the outputs",
    "nondeterministic": "that two runs give the same bits",
    "completed_by_programs": "anything that takes a case: values, gradients, memory",
}
_KINDS: Final = tuple(kind.name for kind in DESIGNED)


def unproved(
    subject: Subject,
    params: Iterable[Mapping[str, Any]] = (),
    coverage: Iterable[Coverage] = (),
    has_wide_reference: bool | None = None,
    left_out: Mapping[str, Sequence[str]] | None = None,
) -> list[Unproved]:
    """Everything that a report on an operator does not prove.

    Args:
        params: Parameters of the cases that were made, for exemptions that depend on them.
        coverage: The case plan, and how many cases were made.
        has_wide_reference: Whether the reference gives more digits than float64 has; None: open.
        left_out: By kind of cases, arguments that have elements in none of them.
    """
    return [
        *_exemptions(subject, params),
        *_narrowed(subject),
        *_types(subject),
        *_own_references(subject),
        *_digits(has_wide_reference),
        *_missing(subject, params, coverage, left_out or {}),
    ]


def without_evidence(subject: Subject, outcomes: Sequence[Outcome]) -> list[Unproved]:
    """Checks of a function of another library whose cases said nothing."""
    lacking = [
        each for each in outcomes if each.status is Status.INAPPLICABLE and each.examples and each.evidence
    ]
    return [
        Unproved("no evidence", each.check_id, each.reason, "", is_accepted=False)
        for each in lacking
        if subject.writer is not None
    ]


def says_something(reason: str) -> bool:
    """Return whether a reason has words enough for another person to judge it."""
    return len(reason.split()) >= _LEAST_WORDS


def _exemptions(subject: Subject, params: Iterable[Mapping[str, Any]]) -> Iterator[Unproved]:
    contract = subject.contract
    for name, what in _EXEMPTIONS.items():
        reason = getattr(contract, name)
        if callable(reason):
            reason = _first_reason(subject, reason, params)
        if reason:
            yield Unproved("exemption", name, what, reason, says_something(reason))
    for dtype, tolerance in contract.tolerances.items():
        what = f"{dtype} closer than {tolerance.relative:g} relative and {tolerance.absolute:g} absolute"
        yield Unproved(
            "exemption", f"tolerances[{dtype!r}]", what, tolerance.reason, says_something(tolerance.reason)
        )
    for id, reason in contract.expected_failures.items():
        what = f"{id}, which fails"
        yield Unproved("exemption", f"expected_failures[{id!r}]", what, reason, says_something(reason))


def _first_reason(subject: Subject, reason: Callable[[Any], str], params: Iterable[Mapping[str, Any]]) -> str:
    """The first reason that a function of the property gives; "" if it gives none for these parameters."""
    for each in params:
        try:
            found = reason(subject.cls(**each))
        except Exception:  # noqa: BLE001  # the author's code; the check that needs it says what it raised
            continue
        if found and isinstance(found, str):
            return found
    return ""


def _narrowed(subject: Subject) -> Iterator[Unproved]:
    if reason := subject.contract.narrowed.get("reference", ""):
        what = "the values where the reference does not say them"
        yield Unproved("narrowing", "reference", what, reason, says_something(reason))
    for name, values in subject.contract.params.items():
        param = subject.cls.params.get(name)
        tried_together = [each[name] for each in subject.contract.param_sets if name in each]
        if param is not None and (lacking := _lacking(param, [*values, *tried_together])):
            tried = ", ".join(dict.fromkeys(map(repr, values)))
            reason = subject.contract.narrowed.get(name, param.ignored or "")
            what = f"{lacking}; tried: {tried}"
            yield Unproved("narrowing", name, what, reason, says_something(reason))


def _lacking(param: Param, values: list[Any]) -> str:
    """Values that the declaration of a parameter allows and that are not tried; "" if they are."""
    if param.choices is not None or param.type is bool:
        choices = (False, True) if param.choices is None else param.choices
        return ", ".join(repr(choice) for choice in choices if choice not in values)
    ends = [param.bounds[end] for end in ("ge", "le") if end in param.bounds]
    if param.type is int and len(ends) == 2 and (far := [end for end in ends if end not in values]):
        return "the bound " + " and ".join(repr(int(end)) for end in far)
    if param.type is str or len({repr(value) for value in values}) > 1:
        return ""
    return "any other value"


def _types(subject: Subject) -> Iterator[Unproved]:
    """Element types that are refused, of operators that take no floating ones."""
    accepts = getattr(subject.cls, "accepts", None)
    if isinstance(accepts, str) and accepts not in ("any", "number", "floating"):
        what = f"anything of element types that are not {accepts}, which the operator refuses"
        yield Unproved("types", "accepts", what, "", is_accepted=True)
    if subject.contract.dtypes:
        what = f"anything of element types other than {', '.join(subject.contract.dtypes)}"
        yield Unproved("types", "dtypes", what, "", is_accepted=True)


def _own_references(subject: Subject) -> Iterator[Unproved]:
    for name in ("reference", "loss"):
        function = getattr(subject.contract, name)
        if function is not None and _computation(subject) & _codes(function):
            what = f"the values: its {name} runs the operator's own code"
            yield Unproved("own reference", name, what, "", is_accepted=False)


def _digits(has_wide_reference: bool | None) -> Iterator[Unproved]:
    if has_wide_reference is False:
        what = "the last digits of float64, and places where a rounding of arguments is much enlarged"
        yield Unproved("digits", "reference", what, "the reference computes in float64", is_accepted=True)


def _computation(subject: Subject) -> set[CodeType]:
    """Code of the functions that compute the operator's outputs."""
    cls: Any = subject.cls
    declared = getattr(cls, "_forward_function", None)
    functions = [declared and declared.function, vars(cls).get("forward")]
    functions += [getattr(kernel.factory, "_function", None) for kernel in cls.kernels]
    return {found.__code__ for each in functions if (found := _plain(each)) is not None}


def _codes(function: Any) -> set[CodeType]:
    """Code of a function and of those of its own module that it names."""
    left, found = [_plain(function)], set[CodeType]()
    while left:
        one = left.pop()
        if one is None or one.__code__ in found:
            continue
        found.add(one.__code__)
        named = [one.__globals__.get(name) for name in one.__code__.co_names]
        left += [other for each in named if (other := _plain(each)) and other.__module__ == one.__module__]
    return found


def _has_arrays(prop: OperatorProperty) -> bool:
    return bool(prop.list_arguments() or prop.list_auxiliary_states())


def _plain(function: Any) -> FunctionType | None:
    function = function.func if isinstance(function, partial) else function
    function = function.__func__ if isinstance(function, staticmethod) else function
    found = inspect.unwrap(function) if callable(function) else None
    return found if isinstance(found, FunctionType) else None


def _missing(
    subject: Subject,
    params: Iterable[Mapping[str, Any]],
    coverage: Iterable[Coverage],
    left_out: Mapping[str, Sequence[str]],
) -> Iterator[Unproved]:
    """Kinds of cases of which there are none, or too few; an operator without arrays has none to take."""
    if not any(_has_arrays(subject.cls(**each)) for each in params):
        return
    goals: dict[str, list[Coverage]] = {}
    for goal in coverage:
        goals.setdefault(goal.kind, []).append(goal)
    for kind in [kind for kind in _KINDS if kind in goals]:
        reason = subject.contract.narrowed.get(kind, "")
        for name, what, is_allowed in _missing_of(kind, goals[kind], left_out.get(kind, ())):
            yield Unproved(name, kind, what, reason, is_allowed or says_something(reason))


def _missing_of(
    kind: str, goals: Sequence[Coverage], left_out: Sequence[str]
) -> Iterator[tuple[str, str, bool]]:
    """Gaps in a kind of cases, each with its name and whether it may be: the checks limit long axes."""
    refused = [goal for goal in goals if goal.lack == "refused"]
    too_large = [goal for goal in goals if goal.lack == "too large"]
    made = sum(goal.cases > 0 for goal in goals)
    is_allowed = kind != "extreme" and made >= _SHARE * (made + len(too_large))
    if not made and refused and not too_large:
        words = f"the operator refuses all {len(refused)} of the plan ({refused[-1].words})"
        yield "refused", f"anything of {kind} cases: {words}", False
    elif too_large:
        words = f"{len(too_large)} of {len(goals)} of the plan, {too_large[0].goal!r} first"
        yield "untried", f"{kind} cases of larger arrays than the checks make: {words}", is_allowed
    if left_out:
        yield "untried", f"{kind} cases in which {', '.join(left_out)} has elements: there are none", False
