"""Descriptions of operators in `mx.operator`."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import NamedTuple, final

from operad import nd


@final
class OperatorArguments(NamedTuple):
    """The arguments of an operator: arrays, then parameters, with their types in words."""

    narg: int
    names: list[str]
    types: list[str]


def get_all_registered_operators() -> list[str]:
    """The names of all operators that are installed, aliases included; imports none."""
    return sorted({point.name for point in entry_points(group="operad.operators")})


def get_operator_arguments(op_name: str) -> OperatorArguments:
    """The arguments of an operator.

    Raises:
        OperatorNotFoundError: No installed plugin provides it.
    """
    import inspect  # noqa: PLC0415 - 10 ms

    function = getattr(nd, op_name)
    params = function.operator.params
    names, types = [], []
    for name, found in inspect.signature(function).parameters.items():
        if name in params:
            declared = params[name]
            default = "required" if declared.is_required else f"optional, default={declared.default!r}"
            types.append(f"{declared.expects()}, {default}")
        elif found.kind is not found.KEYWORD_ONLY:
            types.append("NDArray-or-Symbol[]" if found.kind is found.VAR_POSITIONAL else "NDArray-or-Symbol")
        else:
            continue
        names.append(name)
    return OperatorArguments(len(names), names, types)
