"""Parameters of an operator that are declared by the signature of its function."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable
from typing import Any, Final, Literal, Union, get_args, get_origin

from operad.operator import REQUIRED, Param, param
from operad_sdk.errors import DeclarationError

_EMPTY: Final = inspect.Parameter.empty
_TUPLE_TYPES: Final[dict[Any, Literal["shape", "floats"]]] = {int: "shape", float: "floats"}


def params_of(function: Callable[..., Any], what: str, names: Iterable[str]) -> dict[str, Param]:
    """The operator parameters that the parameters `names` of `function` declare.

    A declaration is a default made by `param(...)`, or an annotation with an optional plain default:
    `axis: int = -1`, `mode: Literal["clip", "wrap"] = "clip"`, `shape: tuple[int, ...]`.

    Raises:
        DeclarationError: A parameter has no type, or one that no operator parameter can have.
    """
    declared = {}
    parameters = inspect.signature(function).parameters
    hints: dict[str, Any] | None = None
    for name in names:
        default = parameters[name].default
        if isinstance(default, Param):
            declared[name] = default
            continue
        if hints is None:
            hints = _evaluated_hints(function, what)
        declared[name] = _param_from(hints[name], default, f"{what}: parameter {name!r}")
    return declared


def _evaluated_hints(function: Callable[..., Any], what: str) -> dict[str, Any]:
    try:
        parameters = inspect.signature(function, eval_str=True).parameters
    except NameError as error:
        raise DeclarationError(f"{what}: an annotation cannot be evaluated: {error}") from error
    return {name: parameter.annotation for name, parameter in parameters.items()}


def _param_from(hint: Any, default: Any, what: str) -> Param:
    if hint is _EMPTY and default is not _EMPTY and default is not None:
        hint = type(default)
    if get_origin(hint) in (Union, types.UnionType):
        options = [option for option in get_args(hint) if option is not type(None)]
        hint = options[0] if len(options) == 1 and default is None else hint
    fallback = REQUIRED if default is _EMPTY else default
    if get_origin(hint) is Literal:
        choices = get_args(hint)
        made: Param = param(type(choices[0]), fallback, choices=choices)
    elif get_origin(hint) is tuple and get_args(hint)[1:] == (...,) and get_args(hint)[0] in _TUPLE_TYPES:
        made = param(_TUPLE_TYPES[get_args(hint)[0]], fallback)
    elif hint in (int, float, bool, str):
        made = param(hint, fallback)
    else:
        found = "no annotation" if hint is _EMPTY else f"the annotation {hint!r}"
        raise DeclarationError(
            f"{what} has {found}; expected int, float, bool, str, tuple[int, ...], a Literal, "
            "or a default made by param(...)"
        )
    return made
