"""Interface of every store, and the classes that a process registers as stores.

Source: KVStoreBase, python/mxnet/kvstore/base.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Final, TypeVar

from operad.errors import ArgumentError, UnsupportedError

C = TypeVar("C", bound="type[KVStoreBase]")


class KVStoreBase(ABC):
    """Store that sums the arrays of several devices or processes by key.

    A store is at least `broadcast`, `pushpull` and `is_capable`.

    Example:
        >>> import operad as od
        >>> @od.kvstore.KVStoreBase.register
        ... class Keeping(od.kvstore.KVStoreBase):
        ...     def broadcast(self, key, value, out, priority=0):
        ...         value.copyto(out)
        ...     def pushpull(self, key, value, out=None, priority=0):
        ...         value.copyto(out)
        ...     def is_capable(self, capability):
        ...         return False
        >>> od.kvstore.create("keeping").num_workers
        1
    """

    OPTIMIZER: Final = "optimizer"
    """The capability of running an optimizer on the stored values."""

    kv_registry: ClassVar[dict[str, type[KVStoreBase]]] = {}
    """The registered classes by their name in lower case."""

    @staticmethod
    def register(klass: C) -> C:
        """Make a class known to `create` by its name, in any case; for use as a decorator.

        A later registration of the same name takes its place, as in a notebook that runs a cell again.
        A registered class is made without arguments, and comes before installed stores of that name.

        Raises:
            ArgumentError: It is no subclass of `KVStoreBase`.
        """
        given: object = klass
        if not (isinstance(given, type) and issubclass(given, KVStoreBase)):
            raise ArgumentError(f"register: got {klass!r}, expected a subclass of KVStoreBase")
        KVStoreBase.kv_registry[klass.__name__.lower()] = klass
        return klass

    @abstractmethod
    def broadcast(self, key: Any, value: Any, out: Any, priority: int = 0) -> None:
        """Store the value of the first worker under a new key, and copy it to `out`."""

    @abstractmethod
    def pushpull(self, key: Any, value: Any, out: Any = None, priority: int = 0) -> None:
        """Sum `value` over devices and workers, and copy what is stored then to `out`."""

    @abstractmethod
    def is_capable(self, capability: str) -> bool:
        """Return whether the store has an optional capability, such as `OPTIMIZER`."""

    @property
    def type(self) -> str:
        """Name that the store was created by."""
        return type(self).__name__.lower()

    @property
    def rank(self) -> int:
        """The number of this worker."""
        return 0

    @property
    def num_workers(self) -> int:
        """Number of workers."""
        return 1

    def set_optimizer(self, optimizer: Any) -> None:
        """Let the store move its values by an optimizer."""
        raise self._cannot("run an optimizer")

    def save_optimizer_states(self, fname: str, dump_optimizer: bool = False) -> None:
        """Write the states that the store's optimizer keeps of the values to a file."""
        raise self._cannot("save an optimizer's states")

    def load_optimizer_states(self, fname: str) -> None:
        """Take over the states that `save_optimizer_states` wrote."""
        raise self._cannot("load an optimizer's states")

    def _cannot(self, what: str) -> UnsupportedError:
        return UnsupportedError(f"a store of type {self.type!r} cannot {what}")
