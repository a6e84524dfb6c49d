"""Check that every name in a declaration has one meaning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from operad_sdk.declare.function import Bound, Declared
from operad_sdk.declare.names import RESERVED, Names, Tensors
from operad_sdk.errors import DeclarationError
from operad_sdk.shapes import Spec, parse


def names_without_signature(cls: Any, function: Any) -> tuple[str, ...]:
    """The names that a callable without a signature takes: a ufunc its arrays, the scalar, the output."""
    if not isinstance(function, np.ufunc):
        names: tuple[str, ...] = getattr(function, "names", ())
        return names
    spec = parse(cls.spec)
    taken = [item.name for item in spec.arguments] + [name for name in cls.params if name == "scalar"]
    return (*taken, *(item.name for item in spec.outputs))


def check_names(cls: Any, spec: Spec) -> None:
    """Refuse names with two meanings, and names in functions that exist for no parameters.

    Raises:
        DeclarationError: With the name.
    """
    tensors = [item.name for item in spec.inputs]
    # MXNet's files say `ctx` for operators without arguments; calls say it to the front end, not to them.
    params = [name for name, own in cls.params.items() if name != "ctx" or not own.ignored]
    for name in (*tensors, *(item.name for item in spec.outputs), *params):
        if name in RESERVED:
            raise DeclarationError(f"operator {cls.name!r}: {name!r} is a word of its own; use another name")
    for name in cls.params:
        if name in tensors or any(name == f"{tensor}_grad" for tensor in tensors):
            raise DeclarationError(
                f"operator {cls.name!r}: {name!r} is a parameter, and a tensor or its gradient too; "
                "use another name"
            )
    for name in cls.accepts if isinstance(cls.accepts, Mapping) else ():
        if name not in tensors and name.rstrip("0123456789") not in tensors:
            raise DeclarationError(
                f"operator {cls.name!r}: accepts names {name!r}, expected one of {', '.join(tensors)}"
            )
    for declared in (cls._forward_function, *cls._gradient_functions.values()):
        if declared is not None:
            check_function(cls, declared, spec)


def check_function(cls: Any, declared: Declared, spec: Spec) -> None:
    """Refuse a function that names something the operator lacks for all parameters.

    Raises:
        DeclarationError: With a suggestion.
    """
    arguments, states, outputs = (
        tuple(dict.fromkeys(item.name for item in items))
        for items in (spec.arguments, spec.auxiliary, spec.outputs)
    )
    visible = len({item.name for item in spec.outputs if not item.is_hidden})
    params = tuple(cls.params)
    names = Names(Tensors(arguments, states, outputs, visible, {}, arguments, states, outputs, params))
    is_counted = any(item.repeat for item in spec.items)  # then the names of numbered ones are known later
    if declared is cls._forward_function:
        forward = declared._replace(inplace=()) if is_counted else declared
        Bound(forward, names.forward, names.forward_targets, computes_all=True)
    elif not is_counted:
        Bound(declared, names.backward, names.backward_targets, computes_all=False)
