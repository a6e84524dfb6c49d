"""The custom operators of this process, by name."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final, TypeVar

from operad.errors import ArgumentError, OperatorNotFoundError
from operad.operator import OperatorProperty
from operad_custom.user import CustomOpProp

P = TypeVar("P", bound=type[CustomOpProp])

by_name: Final[list[type[OperatorProperty]]] = []
"""Operators that look a registered class up; what they found is kept while their `epoch` is the same."""

_registered: Final[dict[str, type[CustomOpProp]]] = {}
_lock = threading.Lock()


def register(reg_name: str) -> Callable[[P], P]:
    """A decorator that makes a subclass of `CustomOpProp` the operator `nd.Custom(..., op_type=reg_name)`.

    A later registration of the same name takes its place, as in a notebook that runs a cell again.

    Raises:
        ArgumentError: What it decorates is no such class.
    """

    def add(prop: P) -> P:
        given: object = prop
        if not (isinstance(given, type) and issubclass(given, CustomOpProp)):
            raise ArgumentError(f"register({reg_name!r}): got {prop!r}, expected a subclass of CustomOpProp")
        with _lock:
            _registered[reg_name] = prop
            for operator in by_name:
                operator.epoch += 1
        return prop

    return add


def registered(op_type: str) -> type[CustomOpProp]:
    """The class registered as `op_type`.

    Raises:
        OperatorNotFoundError: There is none.
    """
    found = _registered.get(op_type)
    if found is None:
        known = ", ".join(sorted(_registered)) or "none"
        raise OperatorNotFoundError(
            f"Custom: no operator is registered as {op_type!r} in this process ({known} registered); "
            "decorate its CustomOpProp with operator.register, before files that use it are read"
        )
    return found
