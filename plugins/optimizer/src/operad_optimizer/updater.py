"""The states of all weights that an optimizer moves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, final

from operad import Context, NDArray
from operad.imperative import RECORDING, local
from operad_optimizer.base import Index, Optimizer, State, UpdateCall
from operad_optimizer.state import checked_counts, checked_settings, dump_states, load_states
from operad_optimizer.together import Together

_SETTINGS = (bool, int, float, str, type(None))


@final
class Updater:
    """Moves weights by an optimizer and keeps their states; what a KVStore calls.

    Attributes:
        optimizer: Says how a weight moves.
        states: What it keeps of each weight, by index.
        aggregate_updates: Whether weights that are given together are moved in one call, so many at a time as
            the optimizer's `aggregate_num` says.

    Source: Updater, python/mxnet/optimizer/optimizer.py. Differs: states are not pickled.
    """

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = optimizer
        self.states: dict[Index, State] = {}
        self.aggregate_updates = getattr(optimizer, "aggregate_num", 0) > 1
        self._together = Together()
        self._loaded: set[Index] = set()

    def __call__(
        self,
        index: Index | Sequence[Index],
        grad: NDArray | Sequence[NDArray],
        weight: NDArray | Sequence[NDArray],
    ) -> None:
        """Move a weight in place, or several given as lists."""
        several = isinstance(index, (list, tuple))
        indices: Any = index if several else [index]
        grads: Any = grad if several else [grad]
        weights: Any = weight if several else [weight]
        if several and local.state.mode < RECORDING and not any(w.context.is_gpu for w in weights):
            calls = self.calls(indices, weights)
            if calls is not None:
                self._together(weights, grads, calls)
                return
        given = list(zip(indices, grads, weights, strict=True))
        for i, _, w in given:
            self._ready(i, w)
        if several and self._moves_together(indices):
            for group in self._groups(given):
                together, grads, weights = zip(*group, strict=True)
                states = [self.states[i] for i in together]
                self.optimizer.update_multi_precision(together, weights, grads, states)
            return
        for i, g, w in given:
            self.optimizer.update_multi_precision(i, w, g, self.states[i])

    def calls(self, indices: Sequence[Index], weights: Sequence[NDArray]) -> Sequence[UpdateCall] | None:
        """Count an update of each weight, and return the operator's call that makes it.

        None where updates are more than one call each; then nothing is counted. See `operad.TrainingProgram`.
        """
        optimizer = self.optimizer
        is_mixed = optimizer.multi_precision and any(map(optimizer.is_mixed, weights))
        if is_mixed or not optimizer.is_one_call:
            return None
        given = list(zip(range(len(indices)), indices, weights, strict=True))
        counts = optimizer._index_update_count
        # Weights of as many updates have one rate, whichever are counted first.
        are_alike = len({counts.get(index) for index in indices}) == 1
        if are_alike:
            groups: Iterable[Any] = [given]
        else:
            groups = self._groups(given) if self._moves_together(indices) else [[one] for one in given]
        found: list[Any] = [None] * len(given)
        for group in groups:
            optimizer._update_count([index for _, index, _ in group])
            for position, index, weight in group:
                if index not in self.states or self._loaded:
                    self._ready(index, weight)
                found[position] = optimizer.step_call(index, self.states[index])
        return found

    def _ready(self, index: Index, weight: NDArray) -> None:
        """Make a weight's state; one that was loaded goes where the weight is."""
        if index not in self.states:
            self.states[index] = self.optimizer.create_state_multi_precision(index, weight)
        elif index in self._loaded:
            self.states[index] = self.sync_state_context(self.states[index], weight.context)
        self._loaded.discard(index)

    def _moves_together(self, indices: Sequence[Index]) -> bool:
        return self.aggregate_updates and self.optimizer.is_aggregating(indices)

    def _groups(self, given: Sequence[tuple[Any, Any, NDArray]]) -> Iterator[list[tuple[Any, Any, NDArray]]]:
        """Weights, which stand third, of one type and context: so many at a time as the optimizer says."""
        alike: dict[Any, list[tuple[Any, Any, NDArray]]] = {}
        for one in given:
            alike.setdefault((one[2].dtype, one[2].context), []).append(one)
        size = self.optimizer.aggregate_num
        for group in alike.values():
            for begin in range(0, len(group), size):
                yield group[begin : begin + size]

    def sync_state_context(self, state: State, context: Context) -> State:
        """A state with its arrays on `context`; arrays that are there stay themselves."""
        if isinstance(state, NDArray):
            return state.as_in_context(context)
        if isinstance(state, (list, tuple)):
            return type(state)(self.sync_state_context(each, context) for each in state)
        return state

    def get_states(self, dump_optimizer: bool = False) -> bytes:
        """States and counts of updates as bytes, for `set_states`.

        Args:
            dump_optimizer: Include the optimizer's own settings, such as its learning rate.
        """
        optimizer = self.optimizer
        counts: dict[str, Any] = {
            "num_update": optimizer.num_update,
            "index_update_count": list(optimizer._index_update_count.items()),
        }
        if dump_optimizer:
            own = vars(optimizer).items()
            counts["settings"] = {
                key: value for key, value in own if isinstance(value, _SETTINGS) and key != "num_update"
            }
        return dump_states(self.states, counts)

    def set_states(self, states: bytes) -> None:
        """Take over what `get_states` of an updater of the same kind of optimizer returned.

        Raises:
            FormatError: `states` is something else.
        """
        loaded, counts = load_states(states)
        total, of_indices = checked_counts(counts)
        settings = checked_settings(vars(self.optimizer), counts.get("settings", {}))
        # state change: all of it is known to be good.
        self.states, self._loaded = loaded, set(loaded)
        self.optimizer.num_update = total
        self.optimizer._index_update_count.clear()
        self.optimizer._index_update_count.update(of_indices)
        for key, value in settings.items():
            setattr(self.optimizer, key, value)


def get_updater(optimizer: Optimizer) -> Updater:
    """An updater without states for `optimizer`."""
    return Updater(optimizer)
