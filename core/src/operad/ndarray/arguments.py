"""Sorting the arguments of a call into tensors and parameters, for arrays and for symbols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from operad.errors import ArgumentError, UnsupportedError, suggestion
from operad.ndarray.signature import array_names
from operad.op import OperatorProperty


def split_arguments(
    op: type[OperatorProperty], args: Sequence[Any], named: dict[str, Any], tensor: type, tensor_name: str
) -> tuple[list[Any], dict[str, Any], dict[str, Any]]:
    """Sort a call's arguments into tensors by position, tensors by name, and parameters.

    Args:
        op: The operator called.
        args: Positional arguments: tensors (or one list of them), then parameters.
        named: Arguments by name.
        tensor: The class of tensor arguments: that of `NDArray` here, `Symbol` in `operad.sym`.
        tensor_name: What errors call it.
    Raises:
        ArgumentError: An argument is named twice, or neither tensor nor parameter.
    """
    named = dict(named)
    if args and isinstance(args[0], (list, tuple)) and args[0] and isinstance(args[0][0], tensor):
        args = [*args[0], *args[1:]]
    if op.optional_inputs is not None:
        args, named = _without_absent(op.optional_inputs, args, named, tensor)
    tensors = [arg for arg in args if isinstance(arg, tensor)]
    has_plain_array = bool(args) and isinstance(args[0], (np.ndarray, list)) and array_names(op) != ()
    if any(not isinstance(arg, tensor) for arg in args[: len(tensors) or has_plain_array]):
        position = next(i for i, arg in enumerate(args) if not isinstance(arg, tensor))
        raise ArgumentError(
            f"{op.name}: argument {position} is {type(args[position]).__name__}, expected {tensor_name}; "
            f"{_advice(op, args[position]) or 'tensor arguments come before parameters'}"
        )
    params = {key: value for key, value in named.items() if not isinstance(value, tensor)}
    params.update(_positional_params(op, args[len(tensors) :], params))
    by_name = {key: value for key, value in named.items() if isinstance(value, tensor)}
    if op.key_var_num_args is not None:
        params.setdefault(op.key_var_num_args, len(tensors) + len(by_name))
    return tensors, by_name, params


def _without_absent(
    inputs: Sequence[str], args: Sequence[Any], named: dict[str, Any], tensor: type
) -> tuple[Sequence[Any], dict[str, Any]]:
    """The arguments without None in the place, or under the name, of a tensor that may be absent."""
    named = {key: value for key, value in named.items() if value is not None or key not in inputs}
    count = 0
    while count < min(len(args), len(inputs)) and (args[count] is None or isinstance(args[count], tensor)):
        count += 1
    if all(arg is not None for arg in args[:count]):  # not `None in`, which would compare arrays
        return args, named
    given = {name: arg for name, arg in zip(inputs, args[:count], strict=False) if arg is not None}
    twice = given.keys() & named.keys()
    if twice:
        raise ArgumentError(f"argument {min(twice)!r} is given by position and by name")
    return args[count:], {**named, **given}


def _positional_params(
    op: type[OperatorProperty], values: Sequence[Any], named: dict[str, Any]
) -> dict[str, Any]:
    names = list(op.params)
    if len(values) > len(names):
        value = values[len(names)]
        raise ArgumentError(
            f"{op.name}: {value!r} is neither a tensor nor one of its {len(names)} parameters "
            f"({', '.join(names) or 'none'}); {_advice(op, value) or 'make tensors of values with nd.array'}"
        )
    given = dict(zip(names, values, strict=False))
    twice = given.keys() & named.keys()
    if twice:
        raise ArgumentError(f"{op.name}: parameter {min(twice)!r} is given by position and by name")
    return given


def _advice(op: type[OperatorProperty], value: Any) -> str:
    """Next step for a value that is a tensor elsewhere; "" for any other value."""
    if isinstance(value, (np.ndarray, list)):
        return "make an NDArray of it with nd.array; operators' own functions call NumPy on plain arrays"
    if hasattr(value, "list_arguments"):
        return f"od.nd computes on arrays, symbols are composed by od.sym.{op.name}"
    if hasattr(value, "asnumpy"):
        return f"od.sym composes symbols, arrays are computed on by od.nd.{op.name}"
    return ""


def by_name(what: str, names: Sequence[str], args: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """Values that a call gives for `names`, by position or by name.

    Args:
        what: What errors say was called.
    Raises:
        ArgumentError: There are too many, or one is unknown or given twice.
    """
    if len(args) > len(names):
        raise ArgumentError(
            f"{what}: got {len(args)} arguments, expected at most {len(names)}: {', '.join(names) or 'none'}"
        )
    given = dict(zip(names, args, strict=False))
    for key in named:
        if key not in names:
            raise ArgumentError(f"{what}: unknown argument {key!r}; {suggestion(key, names, 'expected')}")
        if key in given:
            raise ArgumentError(f"{what}: argument {key!r} is given by position and by name")
    return {**given, **named}


def ordered(prop: OperatorProperty, tensors: list[Any], named: dict[str, Any]) -> list[Any]:
    """All tensors in the order of a call.

    Raises:
        ArgumentError: One is unknown, given twice or missing.
    """
    if not named:
        return tensors
    names = prop.list_inputs()
    given = by_name(prop.name, names, tensors, named)
    missing = [key for key in names if key not in given]
    if missing:
        raise ArgumentError(f"{prop.name}: argument {missing[0]!r} is missing; it takes {', '.join(names)}")
    return [given[key] for key in names]


def check_dense(call: str, stype: str | None) -> None:
    """Raise UnsupportedError for a storage type that no array has; None leaves it to us."""
    if stype not in (None, "default"):
        raise UnsupportedError(
            f"{call}: stype is {stype!r}, and arrays are dense; give 'default' or leave it out"
        )
