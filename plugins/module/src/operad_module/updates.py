"""Updates of weights: by a local updater, or by a store that sums gradients between devices.

Parameters whose gradient is not computed are fixed and stay out.

Source: `_create_kvstore` and `_update_params`, python/mxnet/model.py. Differs: without a store the
gradients of several contexts are summed here, and one state per weight moves it; in MXNet each context
then goes its own way.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, final

import operad as od
from operad import NDArray, Symbol
from operad.errors import ArgumentError, FormatError
from operad.files import translated, write_atomically
from operad_files import read_bytes
from operad_module.executor_group import DataParallelExecutorGroup

_STORE_CALLS: Final = (("init", "push", "pull"), ("broadcast", "pushpull"))


@final
class Updates:
    """An optimizer, with the states of all weights, and the store if there is one.

    Attributes:
        optimizer: Says how a weight moves.
        store: Sums gradients between devices, or None.
        is_on_store: Whether the store moves the weights, too.
    """

    def __init__(
        self,
        optimizer: Any,
        store: Any,
        group: DataParallelExecutorGroup,
        compression_params: Mapping[str, Any] | None,
    ) -> None:
        self.optimizer, self.store, self.is_on_store = optimizer, store, runs_optimizer(store)
        self._names = list(group.param_names)
        self.updater: Any = None
        if store is not None and compression_params:
            store.set_gradient_compression(compression_params)
        if self.is_on_store:
            store.set_optimizer(optimizer)
        else:
            self.updater = od.optimizer.get_updater(optimizer)
        if store is not None:
            self._start_store(group)

    def _start_store(self, group: DataParallelExecutorGroup) -> None:
        if self._takes_all_at_once:
            self.store.init(list(group.param_names), [weights[0] for weights in group.param_arrays])
            self.store.pull(list(group.param_names), list(group.param_arrays))
            return
        for i, (name, weights) in enumerate(zip(group.param_names, group.param_arrays, strict=True)):
            if not hasattr(self.store, "init"):
                self.store.broadcast(name, weights[0], out=weights, priority=-i)
                continue
            self.store.init(name, weights[0])
            if self.is_on_store:
                self.store.pull(name, weights, priority=-i)

    def __call__(self, group: DataParallelExecutorGroup) -> None:
        """Move the weights of a group along its gradients."""
        trained = group.trained
        if self.is_on_store and self._takes_all_at_once and trained:
            names = [name for _, name, _, _ in trained]
            self.store.push(names, [grads for *_, grads in trained])
            self.store.pull(names, [weights for _, _, weights, _ in trained])
            return
        if self.is_on_store:
            for i, name, weights, grads in trained:
                self.store.push(name, grads, priority=-i)
                self.store.pull(name, weights, priority=-i)
            return
        for i, name, _, grads in trained:
            if len(grads) > 1 or self.store is not None:
                self._sum(i, name, grads)
        indices, _, weights_of, grads_of = zip(*trained, strict=True) if trained else ((), (), (), ())
        self.updater(list(indices), [grads[0] for grads in grads_of], [own[0] for own in weights_of])
        for weights in weights_of:
            for other in weights[1:]:
                weights[0].copyto(other)

    @property
    def _takes_all_at_once(self) -> bool:
        """True if the store sends the keys of one call together, in one message instead of many."""
        return self.is_on_store and "dist" in getattr(self.store, "type", "")

    def _sum(self, i: int, name: str, grads: Sequence[NDArray]) -> None:
        """Make the first context's gradient the sum of all."""
        if self.store is not None:
            if hasattr(self.store, "pushpull"):
                self.store.pushpull(name, grads, priority=-i)
            else:
                self.store.push(name, grads, priority=-i)
                self.store.pull(name, grads, priority=-i)
            return
        total = grads[0]
        for other in grads[1:]:
            total += other.as_in_context(total.context)

    def save_states(self, fname: str) -> None:
        """Write states and counts, whole or not at all."""
        if self.is_on_store:
            self.store.save_optimizer_states(fname)
        else:
            write_atomically(fname, self.updater.get_states())

    def load_states(self, fname: str) -> None:
        """Read what `save_states` wrote, with this kind of store or another.

        Raises:
            FormatError: The file holds something else, or states of what is no parameter.
        """
        if self.is_on_store and not self._is_read_here:
            self.store.load_optimizer_states(fname)
        else:
            self._take(read_bytes(fname, f"optimizer states {str(fname)!r}"))

    @property
    def _is_read_here(self) -> bool:
        """True if states have operad's format and this worker reads them."""
        stores = getattr(od, "kvstore", None)
        return stores is not None and isinstance(self.store, stores.KVStore) and not self.store.rank

    def _take(self, states: bytes) -> None:
        if not self.is_on_store:
            self.updater.set_states(od.optimizer.rename_states(states, self._index))
            return
        if self._is_read_here:
            states = od.optimizer.rename_states(states, self._name)
        with _file_of_states() as path:
            write_atomically(path, states)
            self.store.load_optimizer_states(str(path))

    def _index(self, key: int | str) -> int:
        """A parameter's number, by which a local updater knows it, of its name too."""
        return key if isinstance(key, int) else self._names.index(self._name(key))

    def _name(self, key: int | str) -> str:
        """A parameter's name, by which a store knows it, of its number too."""
        if isinstance(key, int) and 0 <= key < len(self._names):
            return self._names[key]
        if key not in self._names:
            raise FormatError(
                f"it has the optimizer's state of {key!r}, expected the {len(self._names)} parameters "
                f"{', '.join(self._names):.80} or their numbers; load states of the same symbol"
            )
        return str(key)

    def state_dict(self) -> dict[str, Any]:
        """States, counts and settings of the optimizer, and what its schedule and the store keep."""
        schedule = getattr(self.optimizer, "lr_scheduler", None)
        return {
            "states": self._states(),
            "schedule": {name: value for name, value in vars(schedule).items() if _is_plain(value)}
            if schedule is not None
            else None,
            "store": self.store.state_dict() if hasattr(self.store, "state_dict") else None,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where `state_dict` was called.

        Raises:
            FormatError: It is the state of an optimizer of another kind, or of another store.
        """
        self._take(state["states"])
        schedule = getattr(self.optimizer, "lr_scheduler", None)
        if (schedule is None) != (state["schedule"] is None):
            raise FormatError(f"it has {'no' if schedule else 'a'} schedule of the learning rate")
        if schedule is not None:
            vars(schedule).update(state["schedule"])
        self._load_store(state["store"] or {})

    def _load_store(self, kept: Mapping[str, Any]) -> None:
        theirs, ours = kept.get("num_workers", 1), getattr(self.store, "num_workers", 1)
        if theirs != ours:
            raise FormatError(
                f"it was written by one of {theirs} workers, and this job has {ours}; start {theirs}"
            )
        if kept and hasattr(self.store, "load_state_dict"):
            self.store.load_state_dict(kept)
        elif kept.get("residuals") or kept.keys() - {"rank", "num_workers", "residuals"}:
            raise FormatError(
                f"it has residuals of its store's compression, {sorted(kept)}, and this store has none; "
                "give the same kvstore and compression_params"
            )

    def _states(self) -> bytes:
        """Bytes that `save_states` writes, with the optimizer's settings."""
        if not self.is_on_store:
            states: bytes = self.updater.get_states(dump_optimizer=True)
            return states
        with _file_of_states() as path:
            self.store.save_optimizer_states(str(path), dump_optimizer=True)
            return read_bytes(path, "the states that the store wrote")


@contextmanager
def _file_of_states() -> Iterator[Path]:
    """A path through which a store's states come and go, in a temporary folder."""
    with translated("a temporary folder for the states of the store", "a folder"):
        folder = tempfile.mkdtemp()
    try:
        yield Path(folder) / "states"
    finally:
        # Python's own `ignore_errors` does not cover every call of the removal.
        with suppress(OSError):
            shutil.rmtree(folder, ignore_errors=True)


def _is_plain(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, (bool, int, float, str))


def store_of(kvstore: Any, num_contexts: int) -> Any:
    """The store that `kvstore` stands for: an object, or a name; None where none is needed.

    One context needs none unless the store is distributed; several sum locally where no plugin
    adds `operad.kvstore`.

    Raises:
        ArgumentError: It is neither, or a distributed store that no plugin provides.
    """
    if kvstore is None or any(all(hasattr(kvstore, call) for call in calls) for calls in _STORE_CALLS):
        return kvstore
    if not isinstance(kvstore, str):
        raise ArgumentError(
            f"init_optimizer: kvstore is {kvstore!r}, expected None, a name, or one with init, push, pull"
        )
    is_distributed = "dist" in kvstore
    if num_contexts == 1 and not is_distributed:
        return None
    try:
        stores = od.kvstore
    except AttributeError as error:
        if is_distributed:
            raise ArgumentError(
                f"init_optimizer: kvstore {kvstore!r} needs a plugin that adds operad.kvstore; "
                "install one, or give kvstore='local'"
            ) from error
        return None
    return stores.create(kvstore)


def runs_optimizer(store: Any) -> bool:
    """Return whether a store can move the weights."""
    if store is None or not all(hasattr(store, call) for call in ("set_optimizer", "push", "pull")):
        return False
    return bool(store.is_capable("optimizer")) if hasattr(store, "is_capable") else True


def optimizer_of(
    optimizer: Any, params: Any, batch_size: int, names: Mapping[int, str], symbol: Symbol, logger: Any
) -> Any:
    """The optimizer that `init_optimizer` is given, or of that name.

    Args:
        optimizer: An optimizer, or a name.
        params: Arguments of the named one, as a mapping or as pairs.
        batch_size: Of all devices together; gradients are divided by it unless told otherwise.
        names: The parameters by index.
        symbol: Its attributes are the multipliers of rates.
        logger: Is told if an optimizer that was given divides by something else.
    """
    rescale_grad = 1.0 / batch_size
    if isinstance(optimizer, str):
        given = {"rescale_grad": rescale_grad, **dict(params)}
        create = od.optimizer.create
        return create(optimizer, sym=symbol, param_idx2name=dict(names), **given)
    if optimizer.rescale_grad != rescale_grad:
        logger.warning(
            "The optimizer multiplies gradients by rescale_grad=%s, not by 1/batch_size=%s; intended?",
            optimizer.rescale_grad,
            rescale_grad,
        )
    if not optimizer.idx2name:
        optimizer.idx2name = dict(names)
    return optimizer
