"""Parameters that an exported function is made with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from operad.errors import ParamError
from operad.operator import REQUIRED, Param
from operad_export.signature import OperatorSignature


def parsed(signature: OperatorSignature, params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that are given, validated; those that every call must give may be missing.

    Raises:
        ParamError: One is unknown or does not fit, or they do not go together.
    """
    op = signature.op
    if any(name not in op.params for name in params):
        op.params.parse(op.name, params)  # which says what is wrong
    try:
        found = {name: op.params[name].parse(v) for name, v in params.items() if name in signature.params}
    except ParamError as error:
        raise ParamError(f"{op.name}: {error}") from error.__cause__
    is_complete = all(name in found or not param.is_required for name, param in signature.params.items())
    # Without any, a function is for calls that give them.
    if found and is_complete and signature.tensors is not None:
        signature.operator(values(signature, found), len(signature.tensors))
    return found


def values(signature: OperatorSignature, given: Mapping[str, Any]) -> tuple[Any, ...]:
    """Values of all parameters, in order; defaults where none is given, and lists as tuples."""
    return tuple([_value(param, given.get(name, REQUIRED)) for name, param in signature.params.items()])


def _value(param: Param, given: Any) -> Any:
    if given is REQUIRED or (given is None and not param.optional):
        return param.default
    return tuple(given) if isinstance(given, list) else given
