"""Bounds how many tensors the parameters of an operator can ask for.

`Concat(num_args=10**9)` would have a thousand million arguments, and their names alone fill the
memory of a machine. Such a number comes from a slip, or from another person's file, so it is
refused while the operator is made, before anything is made of it.

Which parameters count tensors is found out, not declared, so that operators of every plugin are
covered: a parameter counts tensors if there are more of them at 2 than at 1. Only large values are
looked at, so that ordinary operators pay one comparison for each parameter that holds integers.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from operad.errors import ParamError
from operad.interrupts import raise_of_handler

if TYPE_CHECKING:
    from operad.op.property import OperatorProperty

MOST_TENSORS: Final = 65_536
"""Number of arguments, outputs or auxiliary states that one operator may have."""
_INPUTS: Final = ("list_arguments", "list_auxiliary_states")


def check_counts(
    prop: OperatorProperty, most: int = MOST_TENSORS, lists: Sequence[str] = (*_INPUTS, "list_outputs")
) -> None:
    """Refuse parameters that ask for more than `most` arguments, outputs or states.

    Raises:
        ParamError: There is such a parameter; the message names it.
    """
    large = [name for name in type(prop).params.integers if _largest(getattr(prop, name)) > most]
    for name in large:
        if _is_count(prop, name, large, lists):
            raise ParamError(
                f"{prop.name}: parameter {name!r} is {getattr(prop, name)!r} and counts tensors, "
                f"expected at most {most}"
            )


def check_argument_counts(prop: OperatorProperty, most: int) -> None:
    """The same of arguments and states alone."""
    check_counts(prop, most, _INPUTS)


def _largest(value: Any) -> int:
    items = value if isinstance(value, tuple) else (value,)
    return max((int(item) for item in items if item is not None), default=0)


def _is_count(prop: OperatorProperty, name: str, large: Sequence[str], lists: Sequence[str]) -> bool:
    try:
        return _count(prop, large, name, lists) != _count(prop, large, "", lists)
    except Exception as error:  # noqa: BLE001 - small values may not go with the other parameters
        raise_of_handler(error)
        return False


def _count(prop: OperatorProperty, large: Sequence[str], counted: str, lists: Sequence[str]) -> int:
    """Number of tensors with large parameters at the least positive value, `counted` one more."""
    # invariant: no tensors are listed while any parameter is large, since that one may be a count, too
    trial = copy.copy(prop)  # a copy for each count, because it may cache what it works out
    for name in large:
        bounds, value = type(prop).params[name].bounds, getattr(prop, name)
        small = int(max(1, bounds.get("ge", 1), bounds.get("gt", 0) + 1)) + (name == counted)
        setattr(trial, name, (small,) * len(value) if isinstance(value, tuple) else small)
    return sum(len(getattr(trial, each)()) for each in lists)
