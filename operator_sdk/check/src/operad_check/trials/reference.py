"""Calling the functions that authors declare in contracts."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

import numpy as np

from operad.operator import Shape
from operad_check.trials.cause import authors_line
from operad_check.trials.trial import Trial
from operad_check.trials.violation import Violation


def call_reference(function: Callable[..., Any], trial: Trial, inputs: Sequence[Any] | None = None) -> Any:
    """`function` of the inputs and of those parameters that it names, and `is_train`.

    Raises:
        Violation: It raises.
    """
    values = {name: getattr(trial.prop, name) for name in type(trial.prop).params}
    if hasattr(trial.prop, "function_params"):  # a scalar has the type of the arrays
        values = dict(zip(values, trial.prop.function_params(trial.in_types), strict=True))
    values |= {"is_train": trial.case.is_train, **dict(zip(trial.states, trial.aux, strict=True))}
    wanted = _keywords(function)
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in _signature(function)):
        wanted |= set(trial.states)
    # in declared order, which a function that takes them as `**states` may go by
    keywords = {name: value for name, value in values.items() if name in wanted - set(trial.arguments)}
    arrays = [array.copy() for array in (inputs if inputs is not None else trial.inputs)]
    named = "".join(f", {name}=" for name in sorted(keywords))
    name = "loss" if function is trial.subject.contract.loss else "reference"
    what = f"the declared {name}, called as f({', '.join(trial.arguments)}{named}),"
    fix = (
        "A reference or loss takes all arguments in their order, and those of these that it names, by "
        f"keyword: {', '.join(values)}."
    )
    return _called(what, fix, lambda: function(*arrays, **keywords))


def listed(found: Any) -> list[Any]:
    """The results of a function, which gives one or a tuple of several."""
    return list(found) if isinstance(found, (tuple, list)) else [found]


def numbers_of(name: str, function: Callable[..., Any], *args: Any, shape: Shape | None = None) -> Any:
    """The result of one of the functions of a `Distribution`, as an array of float64.

    Args:
        shape: That the array has; None: any.

    Raises:
        Violation: It raises, or gives something else.
    """
    fix = "Distribution's functions get the property first; see `operad explain F218`."
    found = _called(f"the declared {name}", fix, lambda: function(*args))
    try:
        array = np.asarray(found, np.float64)
    except (TypeError, ValueError):
        array = None
    if array is None or (shape is not None and array.shape != shape):
        expected = "numbers" if shape is None else f"numbers of shape {shape}" if shape else "a number"
        raise Violation(f"the declared {name} gives {found!r}, expected {expected}", fix)
    return array


_FIX_INSIDE: Final = (
    "Correct the function at the line named; or, if the operator takes no such arguments, make it refuse "
    "them, or declare which it takes in Contract(params=..., shapes=..., inputs=...)."
)


def _called(what: str, fix: str, function: Callable[[], Any]) -> Any:
    try:
        with np.errstate(all="ignore"):
            return function()
    except (Exception, SystemExit) as error:
        line = authors_line(error)
        place = f" ({line})" if line else ""
        fix = _FIX_INSIDE if line else fix  # it was called as it is to be
        raise Violation(f"{what} raised {type(error).__name__}: {error}{place}", fix) from error


@cache
def _keywords(function: Callable[..., Any]) -> frozenset[str]:
    return frozenset(parameter.name for parameter in _signature(function))


def _signature(function: Callable[..., Any]) -> Sequence[inspect.Parameter]:
    try:
        return tuple(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # a ufunc, which takes none
        return ()
