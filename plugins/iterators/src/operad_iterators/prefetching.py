"""`PrefetchingIter`: batches made by a thread while earlier ones are used.

Source: PrefetchingIter, python/mxnet/io/io.py. Differs: an error of an iterator is raised by the `next` that
it belongs to; `reset` gives a working iterator after errors and in a forked child; there is a `close`.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import Any, Final, Self, final

from operad.errors import ArgumentError, EngineError, FormatError, UnsupportedError
from operad_iterators.batch import DataBatch, DataDesc
from operad_iterators.checks import own_state, state_of
from operad_iterators.iterator import CurrentBatchIter
from operad_iterators.read_ahead import ReadAhead

_DEPTH: Final = 2
"""Batches that wait: one may be late without a wait."""

_Item = tuple[DataBatch, list[Any] | None]
Renaming = Sequence[Mapping[str, str]] | None


@final
class PrefetchingIter(CurrentBatchIter):
    """The batches of one iterator, or of several side by side, made ahead by a thread.

    The thread begins with the first batch of a pass that is asked for, so iterators of which no
    batch was read can be forked. In a forked child a pass that had begun is lost: `next` says so until
    `reset`.

    Args:
        iters: An iterator, or several of equally many batches, whose arrays are joined.
        rename_data: For each iterator new names of its inputs by old ones; None: the old names.
        rename_label: The same for labels.

    Example:
        >>> import numpy as np
        >>> import operad as od
        >>> with od.io.PrefetchingIter(od.io.NDArrayIter(np.arange(4), batch_size=2)) as ahead:
        ...     [batch.data[0].asnumpy().tolist() for batch in ahead]
        [[0.0, 1.0], [2.0, 3.0]]
    """

    def __init__(self, iters: Any, rename_data: Renaming = None, rename_label: Renaming = None) -> None:
        self.iters: list[Any] = list(iters) if isinstance(iters, (list, tuple)) else [iters]
        if not self.iters:
            raise ArgumentError("PrefetchingIter: iters is empty, expected at least one iterator")
        for what, renaming in (("rename_data", rename_data), ("rename_label", rename_label)):
            if renaming is not None and len(renaming) != len(self.iters):
                raise ArgumentError(
                    f"PrefetchingIter: {what} has {len(renaming)} entries, "
                    f"expected one for each of {len(self.iters)} iterators"
                )
        super().__init__(self.iters[0].batch_size)
        self.rename_data, self.rename_label = rename_data, rename_label
        self.current_batch: DataBatch | None = None
        self._pass: ReadAhead[_Item] | None = None
        self._states: list[Any] | None = None  # of the iterators, at the batch taken last of this pass
        self._forgotten: weakref.finalize[[], PrefetchingIter] | None = None
        self._is_closed = False

    @property
    def provide_data(self) -> list[DataDesc]:
        """Descriptions of a batch's inputs, all iterators' together."""
        return _renamed([one.provide_data for one in self.iters], self.rename_data)

    @property
    def provide_label(self) -> list[DataDesc]:
        """Descriptions of a batch's labels, all iterators' together."""
        return _renamed([one.provide_label for one in self.iters], self.rename_label)

    def reset(self) -> None:
        """Begin the next pass: also after an error, in the middle of a pass, and after `close`.

        Waits for the batch that is being made.
        """
        self.close()
        for one in self.iters:
            one.reset()
        self._is_closed = False

    def close(self) -> None:
        """End the thread, after the batch that it makes. May be called twice; `reset` opens it again.

        Iterators that have a state go back to where the batch taken last was made.
        """
        current, self._pass = self._pass, None
        if self._forgotten is not None:
            self._forgotten.detach()
        if current is not None:
            current.stop()
        states, self._states = self._states, None
        for one, own in zip(self.iters, states or (), strict=False):
            one.load_state_dict(own)  # how far the thread got is chance, and `reset` may build on it
        self.current_batch = None
        self._is_closed = True

    def next(self) -> DataBatch:
        """The next batch; waits for it.

        Raises:
            StopIteration: The data has ended.
            Exception: What an iterator raised at this batch; until `reset`, at every further call.
            EngineError: The iterator is closed, or the pass was begun by the process that forked this one.
        """
        if self._is_closed:
            raise EngineError("PrefetchingIter: it is closed; reset() opens it again")
        if self._pass is None:
            self._begin()
        assert self._pass is not None
        if not self._pass.is_ours:
            raise EngineError(
                "PrefetchingIter: the thread that makes its batches is in the process that forked this one; "
                "call reset() here to begin a pass"
            )
        try:
            self.current_batch, self._states = self._pass.take()
        except StopIteration:
            self._states = None  # the thread has ended, and the iterators are where they are
            raise
        return self.current_batch

    def state_dict(self) -> dict[str, Any]:
        """State of the iterators when the batch taken last was made, whatever was made ahead since then.

        Raises:
            UnsupportedError: An iterator cannot tell.
        """
        return {"iters": self._states or [state_of(one) for one in self.iters]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on where `state_dict` was called: also after an error, and after `close`.

        Raises:
            FormatError: The state is not one of as many such iterators.
        """
        states = own_state("PrefetchingIter", state, "iters")["iters"]
        if len(states) != len(self.iters):
            raise FormatError(
                f"PrefetchingIter: the state is of {len(states)} iterators, and there are {len(self.iters)}"
            )
        self.close()
        for one, own in zip(self.iters, states, strict=True):
            one.load_state_dict(own)
        self._is_closed = False

    def iter_next(self) -> bool:
        """Move to the next batch; False where the data has ended."""
        try:
            self.next()
        except StopIteration:
            return False
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _begin(self) -> None:
        # The thread must not keep this object alive: its end stops a thread whose batches no caller reads.
        joined = _Joined(self.iters, self.rename_data, self.rename_label)
        self._states = _known_states(self.iters)
        self._pass = ReadAhead(joined, _DEPTH, "operad-prefetching")
        self._forgotten = weakref.finalize(self, self._pass.request_stop)


@final
class _Joined:
    """Called for each next batch of several iterators side by side."""

    def __init__(self, iters: Sequence[Any], rename_data: Renaming, rename_label: Renaming) -> None:
        self._iters, self._rename_data, self._rename_label = iters, rename_data, rename_label

    def __call__(self) -> _Item:
        """The batch, and where the iterators are then."""
        return self._batch(), _known_states(self._iters)

    def _batch(self) -> DataBatch:
        found: list[DataBatch | None] = [next(one, None) for one in self._iters]
        batches = [batch for batch in found if batch is not None]
        if not batches:
            raise StopIteration
        if len(batches) < len(found):
            raise ArgumentError(
                f"PrefetchingIter: iterator {found.index(None)} has ended before another one; "
                "all need equally many batches"
            )
        first = batches[0]
        for number, batch in enumerate(batches):
            if batch.pad != first.pad:
                raise ArgumentError(
                    f"PrefetchingIter: iterator {number} pads a batch by {batch.pad}, "
                    f"expected {first.pad} as iterator 0 does"
                )
        data = [
            batch.provide_data or one.provide_data for batch, one in zip(batches, self._iters, strict=True)
        ]
        label = [
            batch.provide_label or one.provide_label for batch, one in zip(batches, self._iters, strict=True)
        ]
        return DataBatch(
            [array for batch in batches for array in batch.data],
            [array for batch in batches for array in batch.label or ()],
            first.pad,
            first.index,
            first.bucket_key,
            _renamed(data, self._rename_data),
            _renamed(label, self._rename_label),
        )


def _known_states(iters: Sequence[Any]) -> list[Any] | None:
    """States of iterators; None if one of them has no state to give."""
    try:
        return [state_of(one) for one in iters]
    except UnsupportedError:
        return None


def _renamed(provided: Sequence[Sequence[Any]], renaming: Renaming) -> list[DataDesc]:
    names: Sequence[Mapping[str, str]] = renaming or [{}] * len(provided)
    described = [
        (own, one if isinstance(one, DataDesc) else DataDesc(*one))
        for own, several in zip(names, provided, strict=True)
        for one in several
    ]
    return [DataDesc(own.get(one.name, one.name), one.shape, one.dtype, one.layout) for own, one in described]
