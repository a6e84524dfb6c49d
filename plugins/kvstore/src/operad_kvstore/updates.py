"""Changes of stored values by pushed ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, final

import operad
from operad import NDArray
from operad.errors import ArgumentError
from operad.files import read_bytes, write_atomically
from operad_kvstore.keys import Key
from operad_kvstore.states import joined_state

Spread = tuple[tuple[int, ...], Sequence[int]]
Update = Callable[[Key, NDArray, NDArray], None]


@final
class Updates:
    """The function of (key, gradient, weight) that changes a stored weight in place, if one is set.

    It runs in the thread that pushes, so its errors are those of the push.

    Attributes:
        function: The function that is set, if one is.
    """

    def __init__(self) -> None:
        self.function: Update | None = None
        self._of_optimizer: Any = None

    def set_function(self, update: Update | None) -> None:
        """Set the function; with None, pushed values replace the stored ones.

        Raises:
            ArgumentError: It cannot be called.
        """
        if update is not None and not callable(update):
            raise ArgumentError(
                f"set_updater: got {update!r}, expected a function of (key, gradient, weight)"
            )
        self.function, self._of_optimizer = update, None

    def set_optimizer(self, optimizer: Any) -> None:
        """Set the updater of an optimizer.

        Raises:
            ArgumentError: It is none.
        """
        if not hasattr(optimizer, "update_multi_precision"):
            raise ArgumentError(
                f"set_optimizer: got {optimizer!r}, expected an optimizer; make one with optimizer.create"
            )
        self._of_optimizer = operad.optimizer.get_updater(optimizer)
        self.function = self._of_optimizer

    @property
    def is_set(self) -> bool:
        """True if a function is set."""
        return self.function is not None

    def run(self, key: Key, gradient: NDArray, weight: NDArray, *, is_private: bool) -> None:
        """Change a weight.

        Args:
            key: As the user gave it.
            gradient: What was pushed, summed.
            weight: The stored value.
            is_private: Whether nothing else refers to `gradient`. A user's function may write to its
                arguments and keep them, so it gets a copy else; an optimizer does neither.
        """
        assert self.function is not None
        if not is_private and self._of_optimizer is None:
            gradient = gradient.copy()
        self.function(key, gradient, weight)

    def save(self, fname: str | Path, dump_optimizer: bool) -> None:
        """Write the optimizer's states to a file, whole or not at all.

        Raises:
            ArgumentError: There is no optimizer.
        """
        write_atomically(fname, self.states(dump_optimizer))

    def load(self, fname: str | Path) -> None:
        """Take over the states that `save` wrote.

        Raises:
            ArgumentError: There is no optimizer.
            FormatError: The file holds something else.
        """
        self._updater("load_optimizer_states")
        self.set_states(read_bytes(fname, f"optimizer states {str(fname)!r}"))

    def states(self, dump_optimizer: bool) -> bytes:
        """The optimizer's states as bytes, with its settings if `dump_optimizer`.

        Raises:
            ArgumentError: There is no optimizer.
        """
        states: bytes = self._updater("save_optimizer_states").get_states(dump_optimizer)
        return states

    def set_states(self, states: bytes) -> None:
        """Take over the states that `states` gave.

        Raises:
            ArgumentError: There is no optimizer.
            FormatError: They are something else.
        """
        self._updater("load_optimizer_states").set_states(states)

    def map_states(self, function: Callable[[Key, Any], Any], keys: Collection[Key]) -> None:
        """Keep what a function makes of the states of some keys, and no others."""
        updater = self._updater("load_optimizer_states")
        updater.states = {key: function(key, state) for key, state in updater.states.items() if key in keys}

    def join_states(
        self, of_shards: Sequence[bytes], dump_optimizer: bool, spread: Mapping[Key, Spread]
    ) -> bytes:
        """The states that several shards have, as one, which the optimizer has from now on.

        Args:
            of_shards: What `states` of each gave.
            dump_optimizer: As in `states`.
            spread: By key the whole array's shape, and the shards that have it, in the order of its elements.
        """
        updater = self._updater("save_optimizer_states")
        kept: list[dict[Any, Any]] = []
        counts: dict[Any, Any] = {}
        for one in of_shards:
            updater.set_states(one)
            kept.append(updater.states)
            counts |= updater.optimizer._index_update_count
        updater.states = {
            key: joined_state([kept[shard][key] for shard in shards], shape)
            for key, (shape, shards) in spread.items()
            if key in kept[shards[0]]
        }
        updater.optimizer._index_update_count.update(counts)
        updater.optimizer.num_update = max(counts.values(), default=0)
        return self.states(dump_optimizer)

    def state(self) -> dict[str, Any]:
        """State for `restore`: an optimizer and its states; of code only whether there is some."""
        optimizer = None if self._of_optimizer is None else self._of_optimizer.optimizer
        is_declared = optimizer is not None and operad.optimizer.is_declarable(optimizer)
        return {
            "is_set": self.is_set,
            "optimizer": operad.optimizer.declare(optimizer) if is_declared else None,
            "states": None if optimizer is None else self.states(dump_optimizer=True),
        }

    def restore(self, state: Mapping[str, Any], code: Any = None) -> None:
        """Take over what `state` gave.

        Args:
            state: It.
            code: The function, or the optimizer of a program's own.
        """
        if state["states"] is None:
            self.set_function(code if state["is_set"] else None)
            return
        declared = state["optimizer"]
        self.set_optimizer(code if declared is None else operad.optimizer.from_declared(declared))
        self.set_states(state["states"])

    @property
    def is_elementwise(self) -> bool:
        """True if each element moves as if it were alone; False for functions, which do not tell."""
        if self._of_optimizer is None:
            return self.function is None
        return bool(getattr(self._of_optimizer.optimizer, "is_elementwise", False))

    def _updater(self, call: str) -> Any:
        if self._of_optimizer is None:
            raise ArgumentError(f"{call}: the store has no optimizer; call set_optimizer first")
        return self._of_optimizer
