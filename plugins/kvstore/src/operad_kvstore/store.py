"""The stores of one process: `local` and `device`.

Every call checks all of its arguments, then pushes operations and returns; nothing waits for values. Order is
that of the arrays: a push reads the pushed arrays and writes the stored one, a pull reads the stored one and
writes `out`. So calls on a key take effect in the order of the program, and an array may be written again
as soon as it has been pushed.

Source: KVStore, python/mxnet/kvstore/kvstore.py, and KVStoreLocal, src/kvstore/kvstore_local.h. Differs:
unknown types, other shapes and errors of an updater raise; a stored value is never the caller's array.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any, final

import numpy as np

from operad import Context, NDArray, autograd, cpu, nd
from operad.errors import ArgumentError, DTypeError, ParamError
from operad_kvstore.base import KVStoreBase
from operad_kvstore.compression import TwoBit, residuals_of
from operad_kvstore.keys import Key, KeyTable, check_shapes
from operad_kvstore.updates import Update, Updates

Groups = Mapping[Key, list[NDArray]]


class KVStore(KVStoreBase):
    """Arrays by key, in one process.

    Keys are integers or strings, and of one kind per store. A call takes a key, or a list of keys with a
    list of values. `priority` is accepted everywhere: a hint, which stores with a transport use.

    Args:
        name: The type it was created by.
    """

    def __init__(self, name: str) -> None:
        self._type = name
        # What a store keeps of a key is its own matter, as long as that has the value's `shape`.
        self._table: KeyTable[Any] = KeyTable()
        self._updates = Updates()

    @property
    def type(self) -> str:
        """Name that the store was created by."""
        return self._type

    def is_capable(self, capability: str) -> bool:
        """Return whether the store has an optional capability.

        Raises:
            ParamError: `capability` is unknown.
        """
        if capability.lower() != self.OPTIMIZER:
            raise ParamError(f"is_capable: unknown capability {capability!r}; there is {self.OPTIMIZER!r}")
        return True

    def init(self, key: Any, value: Any) -> None:
        """Store copies of values under new keys.

        Args:
            key: A key, or a list of keys.
            value: An array, or a list of as many.
        Raises:
            ArgumentError: A key has a value already.
        """
        self._add("init", key, value)

    def broadcast(self, key: Any, value: Any, out: Any, priority: int = 0) -> None:
        """`init`, then `pull`."""
        _check_priority("broadcast", priority)
        outs = self._table.grouped("broadcast", "out", key, out)
        for name, (array, *_) in self._table.grouped("broadcast", "value", key, value).items():
            check_shapes("broadcast", name, outs[name], array.shape)
        self._add("broadcast", key, value)
        self._copy_out(outs)

    def push(self, key: Any, value: Any, priority: int = 0) -> None:
        """Sum the values of each key; the stored value becomes the sum, or the updater changes it.

        Args:
            key: A key, or a list of keys, in which some may be repeated.
            value: For each key an array, or a list of arrays, perhaps on several devices.
            priority: Larger comes first; a hint.
        Raises:
            ArgumentError: A key was never initialised.
            ShapeError: A value has another shape than the stored one.
            Exception: What the updater raises.
        """
        _check_priority("push", priority)
        self._take_in(self._checked("push", "value", key, value))

    def pull(self, key: Any, out: Any = None, priority: int = 0, ignore_sparse: bool = True) -> None:
        """Copy stored values to arrays, cast to their types.

        Args:
            key: A key, or a list of keys.
            out: For each key an array, or a list of arrays.
            priority: Larger comes first; a hint.
            ignore_sparse: Accepted and without effect: no array is sparse.
        Raises:
            ArgumentError: A key was never initialised.
            ShapeError: An array has another shape than the stored value.
        """
        _check_priority("pull", priority)
        self._copy_out(self._checked("pull", "out", key, out))

    def pushpull(self, key: Any, value: Any, out: Any = None, priority: int = 0) -> None:
        """`push`, then `pull`; without `out` into the values themselves."""
        _check_priority("pushpull", priority)
        values = self._checked("pushpull", "value", key, value)
        outs = values if out is None else self._checked("pushpull", "out", key, out)
        self._exchange(values, outs)

    def row_sparse_pull(self, key: Any, out: Any = None, priority: int = 0, row_ids: Any = None) -> None:
        """Refused: no array is sparse.

        Raises:
            ArgumentError: Always.
        """
        raise ArgumentError(
            "row_sparse_pull: row-sparse arrays are not supported; use pull, which copies all rows"
        )

    def set_updater(self, updater: Update | None) -> None:
        """Let a function of (key, gradient, weight) change the stored weight, in place, at each push.

        It is called in the thread that pushes, and `push` raises what it raises.
        """
        self._updates.set_function(updater)

    _set_updater = set_updater

    _updater = property(lambda self: self._updates.function)  # programs of MXNet look at it

    def set_optimizer(self, optimizer: Any) -> None:
        """Let an optimizer move the stored values along the pushed ones."""
        self._updates.set_optimizer(optimizer)

    def set_gradient_compression(self, compression_params: Mapping[str, Any]) -> None:
        """Compress pushed values.

        Raises:
            ArgumentError: The store has no use for that.
        """
        raise ArgumentError(
            f"set_gradient_compression: a store of type {self.type!r} does not compress; "
            "create('device') makes one that does"
        )

    def save_optimizer_states(self, fname: str | Path, dump_optimizer: bool = False) -> None:
        """Write what the optimizer keeps of the values to a file, with its settings if `dump_optimizer`."""
        self._updates.save(fname, dump_optimizer)

    def load_optimizer_states(self, fname: str | Path) -> None:
        """Take over what `save_optimizer_states` wrote."""
        self._updates.load(fname)

    def barrier(self) -> None:
        """Wait for the other workers, of which there are none."""

    _barrier = barrier

    def num_dead_node(self, node_id: int = 0, timeout: float = 60) -> int:
        """Number of workers that have failed: none, since there is only this process."""
        return 0

    get_num_dead_node = num_dead_node

    def _home(self, value: NDArray) -> Context:
        """Context where the value of a new key is stored."""
        return value.context

    def _sent(self, key: Key, values: Sequence[NDArray]) -> Sequence[NDArray]:
        """Values of a key as they arrive; the values themselves where nothing changes them."""
        return values

    def _add(self, call: str, key: Any, value: Any) -> None:
        new = self._new_values(call, key, value)
        with autograd.pause():
            self._table.add({name: array.copyto(self._home(array)) for name, array in new.items()})

    def _new_values(self, call: str, key: Any, value: Any) -> dict[Key, NDArray]:
        """The value of each key that is not in the store yet."""
        groups = self._table.grouped(call, "value", key, value)
        self._table.check_new(call, list(groups))
        for name, values in groups.items():
            if len(values) > 1:
                raise ArgumentError(f"{call}: key {name!r} has {len(values)} values, expected one")
        return {name: array for name, (array,) in groups.items()}

    def _checked(self, call: str, what: str, key: Any, arrays: Any) -> Groups:
        groups = self._table.grouped(call, what, key, arrays)
        for name, several in groups.items():
            check_shapes(call, name, several, self._table.get(call, name).shape)
        return groups

    def _exchange(self, values: Groups, outs: Groups) -> None:
        self._take_in(values)
        self._copy_out(outs)

    def _take_in(self, groups: Groups) -> None:
        with autograd.pause():
            for name, values in groups.items():
                stored = self._table.get("push", name)
                arriving = self._sent(name, values)
                parts = [
                    value.as_in_context(stored.context).astype(stored.dtype, copy=False) for value in arriving
                ]
                if self._updates.is_set:
                    total = parts[0] if len(parts) == 1 else nd.add_n(*parts)
                    is_private = all(total is not value for value in values)
                    self._updates.run(name, total, stored, is_private=is_private)
                elif len(parts) == 1:
                    parts[0].copyto(stored)
                else:
                    nd.add_n(*parts, out=stored)

    def _copy_out(self, groups: Groups) -> None:
        with autograd.pause():
            for name, outs in groups.items():
                stored = self._table.get("pull", name)
                for out in outs:
                    stored.copyto(out)


@final
class LocalStore(KVStore):
    """Sums in the host's memory."""

    def _home(self, value: NDArray) -> Context:
        return cpu()


@final
class DeviceStore(KVStore):
    """Sums where a key was first stored, and compresses what is pushed if told to."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._codec: TwoBit | None = None
        self._residuals: dict[tuple[Key, int], NDArray] = {}

    def set_gradient_compression(self, compression_params: Mapping[str, Any]) -> None:
        """Compress what is pushed to two bits per element, with error feedback.

        Each of the values that are pushed together has its own residual, by key and by the value's number.

        Args:
            compression_params: `{"type": "2bit", "threshold": 0.5}`.
        Raises:
            ParamError: Another type, or a threshold that is not positive.
        """
        self._codec = TwoBit.from_params(compression_params)
        self._residuals.clear()

    def state_dict(self) -> dict[str, Any]:
        """Residuals of compression for each key and each of its values, for `load_state_dict`."""
        kept = self._residuals.items()
        return {"residuals": [[key, number, array.asnumpy()] for (key, number), array in kept]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Hold back what a store held back when `state_dict` was called; FormatError: see `residuals_of`."""
        kept = residuals_of(state, 3, compresses=self._codec is not None)
        self._residuals = {(key, number): nd.array(values) for key, number, values in kept}

    def _sent(self, key: Key, values: Sequence[NDArray]) -> Sequence[NDArray]:
        if self._codec is None:
            return values
        return [self._codec.quantized(value, self._residual(key, i, value)) for i, value in enumerate(values)]

    def _checked(self, call: str, what: str, key: Any, arrays: Any) -> Groups:
        groups = super()._checked(call, what, key, arrays)
        if self._codec is not None and what == "value":
            for name, values in groups.items():
                for value in values:
                    if value.dtype != np.float32:
                        raise DTypeError(
                            f"{call}: key {name!r} got an array of {value.dtype.name}; "
                            "2-bit compression takes float32 only"
                        )
        return groups

    def _residual(self, key: Key, number: int, value: NDArray) -> NDArray:
        found = self._residuals.get((key, number))
        if found is None:
            found = nd.array(np.zeros(value.shape, np.float32), ctx=value.context)
        if found.context is not value.context:
            found = found.as_in_context(value.context)
        self._residuals[key, number] = found
        return found


def _check_priority(call: str, priority: object) -> None:
    if not isinstance(priority, Real):
        raise ArgumentError(f"{call}: priority is {priority!r}, expected a number")
