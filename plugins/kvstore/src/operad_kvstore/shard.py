"""A shard: stored values and their updates, on a server or in a worker's replica."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, final

import numpy as np

from operad import NDArray, nd
from operad_kvstore.errors import RoundMismatchError, UpdateFailedError
from operad_kvstore.keys import Key
from operad_kvstore.packets import Array, as_ndarray
from operad_kvstore.placement import Extent
from operad_kvstore.states import cut_state
from operad_kvstore.updates import Update, Updates


@final
class Shard:
    """Values by key, or parts of them. Calls take and give plain arrays, and are done when they return."""

    def __init__(self) -> None:
        self._values: dict[Key, NDArray] = {}
        self._extents: dict[Key, Extent] = {}
        self._updates = Updates()
        self._failed: dict[Key, tuple[str, Exception | None]] = {}

    def put(self, values: Mapping[Key, Array], extents: Mapping[Key, Extent] | None = None) -> None:
        """Store copies of values, also under keys that have one.

        Args:
            values: By key.
            extents: Which elements they are; else they are whole.
        """
        for key, value in values.items():
            self._values[key] = nd.array(value, dtype=value.dtype)
            self._extents[key] = extents[key] if extents is not None else Extent.of_all(value.shape)

    def drop(self, keys: Iterable[Key]) -> None:
        """Forget keys, if they are here."""
        for key in keys:
            self._values.pop(key, None)
            self._extents.pop(key, None)

    def described(self) -> dict[Key, tuple[Extent, str]]:
        """Extents of keys' arrays here, and their types."""
        return {key: (extent, self._values[key].dtype.name) for key, extent in self._extents.items()}

    def check(self, rank: int, expected: Mapping[Key, tuple[Extent, str]]) -> None:
        """Compare the shapes and types that a worker has of its keys with those that rank 0 has stored.

        Args:
            rank: Of the worker.
            expected: Which elements of a key's array are here, and their type.
        Raises:
            RoundMismatchError: They differ.
        """
        for key, (extent, dtype) in expected.items():
            if key not in self._values:
                raise RoundMismatchError(f"init: rank {rank} has key {key!r}, rank 0 has not", [0, rank])
            stored, its_dtype = self._extents[key], self._values[key].dtype.name
            if (stored.shape, its_dtype) != (extent.shape, dtype):
                raise RoundMismatchError(
                    f"init: key {key!r} is {stored.shape} of {its_dtype} in rank 0, "
                    f"and {extent.shape} of {dtype} in rank {rank}",
                    [0, rank],
                )
            if stored != extent:
                raise RoundMismatchError(
                    f"init: ranks 0 and {rank} spread key {key!r} over the servers in different ways; "
                    "all workers set the same optimizer or updater",
                    [0, rank],
                )

    def get(self, keys: Iterable[Key]) -> dict[Key, NDArray]:
        """Values, as they are stored."""
        return {key: self._values[key] for key in keys}

    def views(self, keys: Iterable[Key]) -> dict[Key, Array]:
        """The memory of values; a later call may change it."""
        return {key: np.from_dlpack(self._values[key]) for key in keys}

    def apply(self, key: Key, total: Array) -> None:
        """Let the updater move a value along a sum; without an updater the value becomes the sum.

        Args:
            key: It has a value.
            total: What was pushed, summed; any shape of as many elements, of the value's type. The shard has
                it from now on.
        Raises:
            Exception: What the updater raises.
        """
        stored = self._values[key]
        gradient = as_ndarray(total.reshape(stored.shape))
        if not self._updates.is_set:
            self._values[key] = gradient
            return
        self._updates.run(key, gradient, stored, is_private=True)
        stored.wait_to_read()

    def move(self, key: Key, total: Array) -> None:
        """`apply`, whose error `check_moved` raises until a later one succeeds."""
        self._failed.pop(key, None)
        try:
            self.apply(key, total)
        except Exception as error:  # noqa: BLE001 - raised where a worker waits for the round
            self._failed[key] = f"{type(error).__name__}: {error}", error

    def check_moved(self, keys: Iterable[Key]) -> None:
        """Pass if the last `move` of each key succeeded.

        Raises:
            UpdateFailedError: It did not.
        """
        for key in keys:
            if key in self._failed:
                text, error = self._failed[key]
                raise UpdateFailedError(f"the updater failed on key {key!r}: {text}") from error

    @property
    def has_updater(self) -> bool:
        """True if pushed values are not just assigned."""
        return self._updates.is_set

    @property
    def num_bytes(self) -> int:
        """Bytes of all values."""
        return sum(value.size * value.dtype.itemsize for value in self._values.values())

    def set_optimizer(self, optimizer: Any) -> None:
        """See `Updates.set_optimizer`."""
        self._updates.set_optimizer(optimizer)

    def set_updater(self, updater: Update | None) -> None:
        """See `Updates.set_function`."""
        self._updates.set_function(updater)

    def state(self) -> dict[str, Any]:
        """State of the shard, for `restore`."""
        failed = {key: text for key, (text, _) in self._failed.items()}
        kept = {"values": self.views(self._values), "extents": self._extents, "failed": failed}
        return {**kept, "updates": self._updates.state()}

    def restore(self, state: Mapping[str, Any], code: Any = None) -> None:
        """Take over what `state` gave; see `Updates.restore`."""
        self.put(state["values"], {key: Extent(*one) for key, one in state["extents"].items()})
        self._failed = {key: (text, None) for key, text in state["failed"].items()}
        self._updates.restore(state["updates"], code)

    def states(self, dump_optimizer: bool) -> bytes:
        """See `Updates.states`."""
        return self._updates.states(dump_optimizer)

    def load_states(self, states: bytes) -> None:
        """Set states as `Updates.set_states` does, and keep the part of the elements that are here."""
        self._updates.set_states(states)
        self._updates.map_states(
            lambda key, state: cut_state(state, self._extents[key]), self._extents.keys()
        )
