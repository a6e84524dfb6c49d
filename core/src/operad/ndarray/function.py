"""Operators as functions of arrays: what stands behind `od.nd.tanh`.

Tensor arguments come first, by position or by name; parameters follow in declared order, or by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from operad import registry
from operad.errors import ArgumentError
from operad.imperative import Array, Invoker, invoker
from operad.operator import OperatorProperty

_functions: Final[dict[tuple[str, type[Array]], Callable[..., Any]]] = {}


def operator_function(name: str, cls: type[Array]) -> Callable[..., Any]:
    """The imperative function of the operator called `name`, over arrays of the class `cls`.

    Raises:
        OperatorNotFoundError: No installed plugin provides it.
    """
    op = registry.get(name)
    found = _functions.get((name, cls))
    if found is None or found.operator is not op:  # type: ignore[attr-defined]  # set below
        found = _functions[name, cls] = _make_function(name, op, cls)
    return found


def _make_function(name: str, op: type[OperatorProperty], cls: type[Array]) -> Callable[..., Any]:
    plain: Invoker | None = None
    if not any(declared.is_required for declared in op.params.values()) and op.key_var_num_args is None:
        plain = invoker(op, {})

    def function(*args: Any, out: Any = None, ctx: Any = None, name: str | None = None, **params: Any) -> Any:
        if plain is not None and not params:
            for arg in args:
                if not isinstance(arg, cls):
                    break
            else:
                return plain(args, out, ctx, cls)
        tensors, by_name, given = split_arguments(op, args, params, cls, "NDArray")
        return invoker(op, given)(_ordered(op, tensors, by_name, given), out, ctx, cls)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = op.__doc__
    function.operator = op  # type: ignore[attr-defined]  # functions take any attribute
    return function


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
    if args and isinstance(args[0], (list, tuple)) and args[0] and isinstance(args[0][0], tensor):
        args = [*args[0], *args[1:]]
    if op.optional_inputs is not None:
        args, named = _without_absent(op.optional_inputs, args, named, tensor)
    tensors = [arg for arg in args if isinstance(arg, tensor)]
    if any(not isinstance(arg, tensor) for arg in args[: len(tensors)]):
        position = next(i for i, arg in enumerate(args) if not isinstance(arg, tensor))
        raise ArgumentError(
            f"{op.name}: argument {position} is {type(args[position]).__name__}, expected {tensor_name}; "
            "tensor arguments come before parameters"
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
        raise ArgumentError(
            f"{op.name}: {values[len(names)]!r} is neither a tensor nor one of its {len(names)} parameters "
            f"({', '.join(names) or 'none'}); make tensors of values with nd.array"
        )
    given = dict(zip(names, values, strict=False))
    twice = given.keys() & named.keys()
    if twice:
        raise ArgumentError(f"{op.name}: parameter {min(twice)!r} is given by position and by name")
    return given


def _ordered(
    op: type[OperatorProperty], tensors: list[Any], by_name: dict[str, Any], params: dict[str, Any]
) -> list[Any]:
    if not by_name:
        return tensors
    prop = invoker(op, params).prop
    names = prop.list_inputs()
    slots: dict[str, Any] = dict(zip(names, tensors, strict=False))
    for key, value in by_name.items():
        if key not in names:
            raise ArgumentError(f"{op.name}: unknown tensor argument {key!r}; expected {', '.join(names)}")
        if key in slots:
            raise ArgumentError(f"{op.name}: argument {key!r} is given twice")
        slots[key] = value
    missing = [key for key in names if key not in slots]
    if missing:
        raise ArgumentError(f"{op.name}: argument {missing[0]!r} is missing; it takes {', '.join(names)}")
    return [slots[key] for key in names]
