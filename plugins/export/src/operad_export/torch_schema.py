"""Schemas of PyTorch for operators: which arguments a function has, of which types, with which defaults.

Tensors come first, in the order of a call. Parameters follow by name alone, with PyTorch's types, and behind
them `is_train`, and `seed` of operators that draw random numbers.

Source: the function schema of PyTorch, aten/src/ATen/native/README.md.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from operad.errors import UnsupportedError
from operad.operator import Param
from operad_export.signature import OperatorSignature

TYPES: Final = {
    int: "int", float: "float", bool: "bool", str: "str", "dtype": "str", "shape": "int[]",
    "floats": "float[]", "indices": "int?[]",
}  # fmt: skip
"""PyTorch's type of a parameter, by ours."""

OWN: Final = ("is_train", "seed")
"""Arguments that every function may have besides its operator's."""


def schema(signature: OperatorSignature, *, mutates: bool, returns: str) -> str:
    """Arguments and results of a function, as text: `(Tensor data, *, int nsize) -> Tensor`.

    Args:
        signature: The operator's.
        mutates: Whether states are changed in place.
        returns: What it gives.
    Raises:
        UnsupportedError: A tensor or parameter has a name that every function uses.
    """
    names = [tensor.name for tensor in signature.tensors or ()]
    taken = sorted({*names, *signature.params} & set(OWN))
    if taken or len({*names, *signature.params}) < len(names) + len(signature.params):
        raise UnsupportedError(
            f"{signature.op.name}: {taken[0] if taken else 'a name'!r} would be two arguments; "
            "rename the parameter"
        )
    parts = [
        *_tensors(signature, mutates),
        "*",
        *[_parameter(name, param) for name, param in signature.params.items()],
    ]
    parts.append("bool is_train=False")
    if signature.draws:
        parts.append("int? seed=None")
    return f"({', '.join(parts)}) -> {returns}"


def visible_returns(signature: OperatorSignature) -> str:
    """Result type of what callers see: one tensor, a tuple, or a list where their number varies."""
    count = signature.num_visible
    if count is None:
        return "Tensor[]"
    return "Tensor" if count == 1 else f"({', '.join(['Tensor'] * count)})"


def _tensors(signature: OperatorSignature, mutates: bool) -> Sequence[str]:
    def changed(number: int) -> str:
        return f"({chr(ord('a') + number % 26) * (1 + number // 26)}!)" if mutates else ""

    if signature.tensors is None:
        return ["Tensor[] data", *([f"Tensor{changed(0)}[] states"] if signature.has_states else [])]
    found = []
    last_required = max((i for i, t in enumerate(signature.tensors) if not t.is_optional), default=-1)
    for number, tensor in enumerate(signature.tensors):
        mark = changed(number) if tensor.is_state else ""
        may_be_left_out = number > last_required
        kind = f"Tensor{mark}{'?' if tensor.is_optional else ''}"
        found.append(f"{kind} {tensor.name}{'=None' if may_be_left_out else ''}")
    return found


def _parameter(name: str, param: Param) -> str:
    kind = TYPES[param.type] + ("?" if param.optional else "")
    if param.type == "indices" and not param.is_required:
        return f"{kind.rstrip('?')}? {name}=None"  # no default can be written for a list with None in it
    return f"{kind} {name}" + ("" if param.is_required else f"={_literal(param.default)}")


def _literal(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, tuple):
        return f"[{', '.join(map(_literal, value))}]"
    return repr(value)
