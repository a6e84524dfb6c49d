"""Values to try for an operator's parameters, derived from their declarations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, Final

from hypothesis import strategies as st

from operad.operator import Param
from operad_check.trials.subject import Subject

_FLOATS: Final = (0.5, 1.0, 2.0, 0.25, 0.0, -0.5, -1.0)
_INTEGERS: Final = (0, 1, 2, -1, -2, 3)
_FAR: Final[Mapping[Any, Sequence[float]]] = {float: (3.0, 17.0, 1000.0, -0.0005), int: (5, 17, 70)}
_OTHER_TYPES: Final = ("float16", "int32")
"""Element types to try as a parameter, beside the usual ones: one that is narrow, one of integers."""

_MOST: Final = 4096
"""Upper bound up to which an integer is tried at it: it may be a number of arrays, or a length."""


@st.composite
def parameters(draw: st.DrawFn, subject: Subject, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Those parameters that are not left at their defaults.

    All tuples of one draw have one length: kernel, stride and pad of a convolution go together.

    Args:
        given: All that are given, instead.
    """
    declared = subject.cls.params
    if not declared or given is not None:
        return dict(given or {})
    tuples = [param for param in declared.values() if param.type in ("shape", "indices", "floats")]
    length = draw(st.sampled_from((2, 1, 3))) if tuples else 0
    chosen, sets = {}, subject.contract.param_sets
    together = draw(st.sampled_from(({}, *sets))) if sets else {}
    for name, param in declared.items():
        values = (together[name],) if name in together else candidates(subject, param, length)
        value = draw(st.sampled_from(values)) if len(values) > 1 else values[0]
        if param.is_required or value != param.default:
            chosen[name] = value
    return chosen


def joint_values(subject: Subject) -> list[dict[str, Any]]:
    """The sets of values that go together, each with what else has to be given."""
    return [{**required_params(subject), **values} for values in subject.contract.param_sets]


def required_params(subject: Subject) -> dict[str, Any]:
    """The simplest value of each parameter that has no default."""
    declared = subject.cls.params
    return {name: candidates(subject, one, 2)[0] for name, one in declared.items() if one.is_required}


def candidates(subject: Subject, param: Param, length: int) -> Sequence[Any]:
    """Values for `param`, the simplest first: its default where it has one."""
    given = subject.contract.params.get(param.name)
    if given is not None:
        return list(given)
    if param.choices is not None:
        return _with_default(param, list(param.choices))
    values: list[Any] = _scalars(param)
    if param.type in ("shape", "indices", "floats"):
        values = [(value,) * length for value in values[:2]] + _mixed(values, length)
    return _with_default(param, values)


def planned_values(subject: Subject, param: Param, length: int) -> Sequence[Any]:
    """Candidates, and values far from the default: a computation that is right near 1 may fail at 1,000."""
    values = list(candidates(subject, param, length))
    if param.name in subject.contract.params or param.choices is not None:
        return values
    if param.type == "dtype":
        return [*values, *(name for name in _OTHER_TYPES if name not in values)]
    far = [value for value in _FAR.get(param.type, ()) if _allowed(value, param.bounds)]
    far += _at_upper_bound(param)
    return list({(type(value), value): value for value in [*values, *far]}.values())


def _at_upper_bound(param: Param) -> list[int]:
    """The largest integer that is allowed, where there is one."""
    high = param.bounds.get("le", param.bounds.get("lt", float("inf")) - 1)
    is_there = param.type is int and isfinite(high) and high <= _MOST
    return [int(high)] if is_there and _allowed(int(high), param.bounds) else []


def are_usual(params: Mapping[str, Any]) -> bool:
    """Return whether no parameter has one of the values that are far from its default."""
    return not any(type(value) in _FAR and value in _FAR[type(value)] for value in params.values())


def _scalars(param: Param) -> list[Any]:
    """Values of one element within the bounds."""
    if param.type is bool:
        return [False, True]
    if param.type == "dtype":
        return ["float32", "float64"]
    if param.type is str:
        return [""]
    if param.type in ("floats", float):
        return _within(param, _FLOATS, 0.25)
    # a shape with no bound of its own holds sizes
    floor = 0 if param.type == "shape" and not param.bounds else None
    return [value for value in _within(param, _INTEGERS, 1) if floor is None or value >= floor]


def _within(param: Param, usual: Sequence[float], step: float) -> list[Any]:
    """The `usual` values that the bounds allow, and values beside each bound."""
    bounds = param.bounds
    low = bounds.get("ge", bounds.get("gt", float("-inf")))
    high = bounds.get("le", bounds.get("lt", float("inf")))
    beside: list[float] = []
    if isfinite(low) and isfinite(high) and step < 1:
        step = min(step, (high - low) / 4)
    if isfinite(low):
        beside += [low + step, low + 2 * step, *([low] if "ge" in bounds else [])]
    if isfinite(high):
        beside += [high - step, *([high] if "le" in bounds else [])]
    integral = step == 1
    found = [int(v) if integral else float(v) for v in [*beside, *usual] if _allowed(v, bounds)]
    if integral and isfinite(low):
        found = [value for value in found if value <= low + 4]
    return list(dict.fromkeys(found)) or [low]


def _allowed(value: float, bounds: Mapping[str, float]) -> bool:
    return (
        value >= bounds.get("ge", float("-inf"))
        and value > bounds.get("gt", float("-inf"))
        and value <= bounds.get("le", float("inf"))
        and value < bounds.get("lt", float("inf"))
    )


def _mixed(values: Sequence[Any], length: int) -> list[Any]:
    """Tuples whose elements differ."""
    if length < 2 or len(values) < 2:
        return []
    return [tuple(values[(i + shift) % len(values)] for i in range(length)) for shift in range(2)]


def _with_default(param: Param, values: list[Any]) -> list[Any]:
    if param.is_required:
        return values
    return [param.default, *[value for value in values if value != param.default]]
