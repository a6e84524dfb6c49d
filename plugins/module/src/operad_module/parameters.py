"""Values of parameters: from a caller's mapping, else from an initializer.

Everything is checked before an array is written, so that a refused call changes nothing. Arrays are
filled in the order of their names, which is the order of draws from the random generator.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import operad as od
from operad import NDArray, cpu, nd
from operad.errors import BindError, UnknownParameterError
from operad_module.errors import MissingParameterError

Arrays = Mapping[str, Sequence[NDArray]]


def fill(
    arrays: Arrays,
    given: Mapping[str, NDArray] | None,
    initializer: Any,
    attributes: Mapping[str, Mapping[str, str]],
) -> None:
    """Give arrays their values.

    Args:
        arrays: By name, one per context.
        given: Values by name, which come first; None for none.
        initializer: Called with a description and an array; None leaves the array as it is.
        attributes: Of the symbol's variables.
    """
    for name, targets in sorted(arrays.items()):
        if given is not None and name in given:
            value = given[name]
        elif initializer is not None:
            value = nd.zeros(targets[0].shape, ctx=cpu(), dtype=targets[0].dtype)
            initializer(od.init.InitDesc(name, attributes.get(name)), value)
        else:
            continue
        for target in targets:
            if value is not target:
                value.copyto(target)


def check(kind: str, arrays: Arrays, given: Mapping[str, NDArray] | None, allow_missing: bool) -> None:
    """Raise unless `given` has what `arrays` need; what else it has is for other symbols.

    Raises:
        MissingParameterError: A name is not in it, and `allow_missing` is False.
        BindError: A value has another shape.
    """
    if given is None:
        return
    for name, targets in arrays.items():
        if name in given and tuple(given[name].shape) != targets[0].shape:
            raise BindError(
                f"init_params: {kind} {name!r} is {targets[0].shape}, got a value of {given[name].shape}"
            )
        if name not in given and not allow_missing:
            raise MissingParameterError(
                f"init_params: no value is given for {kind} {name!r}; give one, or pass allow_missing=True"
            )


def check_known(kind: str, known: Collection[str], given: Mapping[str, NDArray]) -> None:
    """Raise UnknownParameterError if a value is given for a name that is not known."""
    for name in given:
        if name not in known:
            raise UnknownParameterError(
                f"set_params: unknown {kind} {name!r}; expected {', '.join(known) or 'none'}, "
                "or pass allow_extra=True"
            )
