"""The same checks for a plain pair of functions, registered nowhere.

    report = check_function(np.tanh, lambda output_grad, output: output_grad * (1 - output**2))

A forward function and its gradient become an operator for the time of the check, by the rules by which
`@operator` makes one: names say what is read and what is computed. So whoever writes a custom gradient for
another library can have it checked.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from operad_check.plan.profile import Profile
from operad_check.reporting.outcome import OperatorReport
from operad_check.running.register import all_checks
from operad_check.running.runner import Progress, check_operator
from operad_sdk import operator
from operad_sdk.contract import Contract
from operad_sdk.declare.names import WORDS
from operad_sdk.shapes import parse

_OF_A_PACKAGE: Final = ("S101", "S107", "S108")
"""Checks of what an installed operator has, and a function need not: an entry point, an example."""


def check_function(
    forward: Callable[..., Any],
    gradient: Callable[..., Any] | Sequence[Callable[..., Any]] | None = None,
    *,
    spec: str = "",
    contract: Contract | None = None,
    checks: Sequence[str] | None = None,
    profile: str | Profile | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> OperatorReport:
    """Check a function and its gradient as `check_operator` checks an operator.

    Args:
        forward: Takes arrays, then parameters; returns its result, or fills one that it names.
        gradient: Takes what it reads by name: `output_grad`, arguments, outputs, parameters. It returns one
            gradient per argument, or is called for the one it computes, as `data_grad`. Several: a sequence.
            None: there is no gradient.
        spec: The shape line; left out: all arrays have one shape, and there is one `output`.
        contract: What no program can find out, such as a reference.
        checks: Ids to run; None: all that are not about an installed package.
        profile: As for `check_operator`, as is `progress`.
        options: As for `@operator`: `accepts`, `compute_dtype`, `inplace` and so on.

    Example:
        >>> from operad_check import check_function
        >>> def square_grad(output_grad, x):
        ...     return 3 * output_grad * x
        >>> check_function(lambda x: x * x, square_grad, checks=["B301"]).red_ids
        ['B301']
    """
    name = getattr(forward, "__name__", "function").strip("<>")
    line = spec or f"{', '.join(f'{each}:(...)' for each in _arrays(forward))} -> output:(...)"
    options.setdefault("accepts", "floating")
    made = operator(name, line, contract=contract or Contract(), **options)(forward)
    arguments = [item.name for item in parse(line).inputs]
    for function in [gradient] if callable(gradient) else list(gradient or ()):
        own = getattr(function, "__name__", "")
        is_named = own.endswith("_grad") and own.removesuffix("_grad") not in arguments
        made.gradient(*arguments if is_named else ())(function)
    chosen = [id for id in all_checks() if id not in _OF_A_PACKAGE] if checks is None else checks
    return check_operator(made, checks=chosen, profile=profile, progress=progress)


def _arrays(forward: Callable[..., Any]) -> list[str]:
    """Names of the function's arguments without a default, which are arrays; a ufunc's are numbered."""
    if isinstance(forward, np.ufunc):
        return ["x"] if forward.nin == 1 else [f"x{i}" for i in range(forward.nin)]
    parameters = inspect.signature(forward).parameters.values()
    reserved = {*WORDS, "output"}
    return [each.name for each in parameters if each.default is each.empty and each.name not in reserved]
