"""Calling the functions that authors declare in contracts."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from operad_sdk.check.trial import Trial


def call_reference(function: Callable[..., Any], trial: Trial, inputs: Sequence[Any] | None = None) -> Any:
    """`function` of the inputs and of those parameters that it names, and `is_train`."""
    values = {name: getattr(trial.prop, name) for name in type(trial.prop).params}
    values |= {"is_train": trial.case.is_train, **dict(zip(trial.states, trial.aux, strict=True))}
    wanted = _keywords(function)
    keywords = {name: values[name] for name in wanted & values.keys() - set(trial.arguments)}
    arrays = [array.copy() for array in (inputs if inputs is not None else trial.inputs)]
    with np.errstate(all="ignore"):
        return function(*arrays, **keywords)


@cache
def _keywords(function: Callable[..., Any]) -> frozenset[str]:
    try:
        return frozenset(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # a ufunc, which takes none
        return frozenset()
