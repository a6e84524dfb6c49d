"""What a function generated for an operator shows: its signature, and a table of its parameters."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from operad.operator import OperatorProperty


def array_names(op: type[OperatorProperty]) -> tuple[str, ...] | None:
    """Names of the arrays that a call may give by position; None where their number varies."""
    if op.key_var_num_args is not None:
        return None
    if op.optional_inputs is not None:
        return op.optional_inputs
    # Which arrays there are does not depend on parameters here, so the defaults will do.
    prop = object.__new__(op)
    for name, declared in op.params.items():
        setattr(prop, name, None if declared.is_required else declared.default)
    try:
        return tuple(prop.list_inputs())
    except Exception:  # noqa: BLE001 - a plugin's code may count on a parameter that only a call gives
        return None


def signature(
    op: type[OperatorProperty], arrays: Sequence[str] | None, params: Sequence[str], common: Sequence[str]
) -> inspect.Signature:
    """Arrays, then parameters, then what every function takes."""
    kind = inspect.Parameter
    by_name = [kind(name, kind.KEYWORD_ONLY, default=None) for name in common]
    params = [name for name in params if name != op.key_var_num_args]
    words = [
        (name, kind.empty if op.params[name].is_required else op.params[name].default) for name in params
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
