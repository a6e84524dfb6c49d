"""Making a store of a given type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast

import operad
from operad.errors import ArgumentError
from operad_kvstore.base import KVStoreBase

_GROUP: Final = "operad.kvstores"


def create(name: str = "local", engine: str | None = None) -> Any:
    """A store of the type `name`, in any case.

    Args:
        name: `local` sums in the host's memory, `device` where a key was first stored; other packages add
            types by entry points in the group `operad.kvstores`. Such an entry point names a class, or a
            function, that is called with the type.
        engine: For a distributed type, what carries values: `ray` or `mpi`; see `create_distributed`.

    Raises:
        ArgumentError: `name` is no string, or `engine` is given for a type that has none.
        OperatorNotFoundError: There is no such type; the message lists those there are.

    Example:
        >>> import operad as od
        >>> store = od.kvstore.create("local")
        >>> store.init("w", od.nd.array([1, 2]))
        >>> store.push("w", [od.nd.array([3, 4]), od.nd.array([5, 6])])
        >>> weight = od.nd.zeros(2)
        >>> store.pull("w", out=weight)
        >>> weight.asnumpy()
        array([ 8., 10.], dtype=float32)
    """
    given: object = name
    if not isinstance(given, str):
        raise ArgumentError(f"create: the type of the store is {given!r}, expected a string such as 'local'")
    kind = given.lower()
    registered = KVStoreBase.kv_registry.get(kind)
    if registered is not None:
        return registered()
    made_by = cast("Callable[..., Any]", operad.registry.entry(_GROUP, kind))
    if engine is None:
        return made_by(kind)
    if not kind.startswith("dist"):
        raise ArgumentError(f"create: a store of type {kind!r} has no engine; got engine={engine!r}")
    return made_by(kind, engine=engine)
