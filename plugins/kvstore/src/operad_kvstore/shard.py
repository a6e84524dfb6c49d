"""A shard: stored values with what changes them, as a server or a worker's replica has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, final

from operad import NDArray, nd
from operad_kvstore.keys import Key
from operad_kvstore.packets import Array, as_ndarray
from operad_kvstore.updates import Update, Updates


@final
class Shard:
    """Values by key. Every call takes and gives plain arrays, and is done when it returns.

    It can be pickled if its updater can be.
    """

    def __init__(self) -> None:
        self._values: dict[Key, NDArray] = {}
        self._updates = Updates()

    def put(self, values: Mapping[Key, Array]) -> None:
        """Store copies of values, also under keys that have one."""
        for key, value in values.items():
            self._values[key] = nd.array(value, dtype=value.dtype)

    def get(self, keys: Iterable[Key]) -> dict[Key, Array]:
        """Copies of values."""
        return {key: self._values[key].asnumpy() for key in keys}

    def __contains__(self, key: object) -> bool:
        """Whether a key has a value."""
        return key in self._values

    def num_elements(self, key: Key) -> int:
        """The size of a value."""
        return self._values[key].size

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

    @property
    def has_updater(self) -> bool:
        """Whether something else than assignment happens to what is pushed."""
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

    def states(self, dump_optimizer: bool) -> bytes:
        """See `Updates.states`."""
        return self._updates.states(dump_optimizer)

    def load_states(self, states: bytes) -> None:
        """See `Updates.set_states`; keeps what belongs to this shard's keys."""
        self._updates.set_states(states, self._values.keys())
