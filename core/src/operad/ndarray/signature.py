"""Signature of a function generated for an operator, and a table of its parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from keyword import kwlist
from typing import Any

from operad.interrupts import raise_of_handler
from operad.op import OperatorProperty, Param, check_argument_counts


def array_names(op: type[OperatorProperty]) -> tuple[str, ...] | None:
    """Names of the arrays that a call may give by position; None where their number varies."""
    if op.key_var_num_args is not None:
        return None
    if op.optional_inputs is not None:
        return op.optional_inputs
    prop = object.__new__(op)
    for name, declared in op.params.items():
        setattr(prop, name, None if declared.is_required else declared.default)
    try:
        check_argument_counts(prop, 0)  # else which arrays there are depends on no parameter, so defaults do
        return tuple(prop.list_inputs())
    except Exception as error:  # noqa: BLE001 - a parameter counts them, or code needs one of a call
        raise_of_handler(error)
        return None


def own_params(op: type[OperatorProperty], common: Sequence[str]) -> dict[str, Param]:
    """The parameters that a function can name: Python and every function have another use for some names."""
    return {name: declared for name, declared in op.params.items() if name not in (*common, *kwlist)}


def presented(
    function: Any, name: str, module: str, op: type[OperatorProperty], common: Sequence[str]
) -> Callable[..., Any]:
    """`function` as that of an operator: with its name, signature and documentation.

    Args:
        function: What computes or composes.
        name: What it is called in the module `operad.<module>`.
        module: Where it is found.
        op: The operator.
        common: Names of what every function of the module takes.
    """
    function.__name__ = function.__qualname__ = name
    function.__module__ = f"operad.{module}"
    function.__doc__ = documented(op)
    function.__signature__ = signature(op, common)
    function.operator = op
    return function  # type: ignore[no-any-return]  # it is a function, and has attributes


def signature(op: type[OperatorProperty], common: Sequence[str]) -> inspect.Signature:
    """Arrays, then parameters, then what every function takes."""
    kind, arrays = inspect.Parameter, array_names(op)
    by_name = [kind(name, kind.KEYWORD_ONLY, default=None) for name in common]
    words = [
        (name, kind.empty if declared.is_required else declared.default)
        for name, declared in own_params(op, common).items()
        if name != op.key_var_num_args
    ]
    if arrays is None:
        first = [kind("data", kind.VAR_POSITIONAL)]
        by_name[:0] = [kind(name, kind.KEYWORD_ONLY, default=value) for name, value in words]
        return inspect.Signature([*first, *by_name])
    either = kind.POSITIONAL_OR_KEYWORD
    is_optional = op.optional_inputs is not None
    first = [
        kind(name, either, default=None if is_optional and i else kind.empty) for i, name in enumerate(arrays)
    ]
    # Python lets nothing required follow what is optional, unless it is given by name.
    is_mixed = is_optional or words != sorted(words, key=lambda word: word[1] is not kind.empty)
    how = kind.KEYWORD_ONLY if is_mixed else either
    return inspect.Signature([*first, *[kind(n, how, default=value) for n, value in words], *by_name])


def documented(op: type[OperatorProperty]) -> str:
    """The operator's documentation, with a table of its parameters."""
    text = inspect.cleandoc(op.__doc__ or f"The operator {op.name}.")
    rows = [("Parameter", "Type and range", "Default", "")]
    for name, declared in op.params.items():
        default: Any = "required" if declared.is_required else repr(declared.default)
        rows.append((name, declared.expects(), default, declared.doc))
    if len(rows) == 1:
        return text
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = ["  ".join([*map(str.ljust, row[:3], widths), row[3]]).rstrip() for row in rows]
    return "\n".join([text, "", *lines])
