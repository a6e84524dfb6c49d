"""Loops over steps that are kept for further runs, over other arrays or the same."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from operator import call, is_
from typing import Any, Final, final
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from operad.operator import OpContext
from operad_sdk.addresses import data_address, span
from operad_sdk.vector.settings import is_checked
from operad_sdk.vector.steps import LoopPhases, StepLoop, run_steps

_MOST_KEPT: Final = 64
"""Kinds of loops that are kept."""
_MOST_SETS: Final = 4
"""Sets of arrays that lie alike for which loops are kept at the same time."""
_MOST_KEPT_BYTES: Final = 1 << 20
"""Memory of their own that loops keep; with more, making them is little beside their work."""


@final
class _KeptPhases:
    """Loops whose addresses lie in one piece, each as an offset into one of the arrays of a run.

    Args:
        made: The loops.
        arrays: All that they use but their own memory.

    Attributes:
        phases: The loops of each phase.
        is_complete: True if each address lies in exactly one array, so that others can take their places.
            Addresses of checked kernels have tags, so that they are in none.
    """

    def __init__(self, made: LoopPhases, arrays: Sequence[NDArray[Any]]) -> None:
        self.phases: Final = made.phases
        loops = [loop for phase in made.phases for loop in phase]
        self._every = np.concatenate([loop.addresses.ravel() for loop in loops])
        own = [*arrays, *made.memory]
        begins, ends = np.array([span(array) for array in own]).T[..., None]
        is_within = (begins <= self._every) & (self._every < ends)
        self.is_complete: Final = bool((is_within.sum(0) == 1).all())
        if not self.is_complete:
            return
        self._which, self._memory = is_within.argmax(0), made.memory
        self._own = [*map(data_address, made.memory)]
        self._offsets = self._every - np.array([*map(data_address, own)])[self._which]
        begin = 0
        for loop in loops:
            end = begin + loop.addresses.size
            loop.move(self._every[begin:end].reshape(loop.addresses.shape))
            loop.release()
            begin = end
        self._bound = [*map(ref, arrays)]

    def bind(self, arrays: Sequence[NDArray[Any]]) -> None:
        """Take other arrays, which lie alike."""
        bases = np.array([*map(data_address, arrays), *self._own])
        np.add(bases[self._which], self._offsets, out=self._every)
        self._bound = [*map(ref, arrays)]

    def is_bound(self, arrays: Sequence[NDArray[Any]]) -> bool:
        """Return whether the addresses are those of these very arrays, which have lived on since."""
        return all(map(is_, arrays, map(call, self._bound)))


_Phases = Sequence[Sequence[StepLoop]]
_Free = list[_KeptPhases]


@final
class KeptLoops:
    """Loops that have run, for further runs over arrays that lie alike: only addresses are others.

    Making the calls of a step, and their tables, takes as long as a small network's steps. In a compiled
    program the arrays are often the same ones: then nobody looks how they lie.
    """

    def __init__(self) -> None:
        # invariant: loops are in no list while they run, so that threads never share their tables and memory.
        self._free: dict[Hashable, _Free] = {}
        self._last: dict[Hashable, tuple[_KeptPhases, _Free]] = {}  # by the arrays' numbers

    def run(
        self,
        key: Hashable,
        arrays: Sequence[NDArray[Any]],
        make: Callable[[], LoopPhases],
        op_ctx: OpContext | None,
    ) -> None:
        """Run each phase as `run_steps` does.

        Args:
            key: Determines, with how the arrays lie, all that `make` does.
            arrays: All that the loops use but their own memory. Where two share memory, or that is large, the
                loops are not kept.
            make: Makes the loops.
        """
        same = (key, *map(id, arrays))
        phases, kept, free = self._same(same, arrays) or self._alike(same, arrays, make)
        for loops in phases:
            run_steps(loops, op_ctx)
        if kept is not None:
            free.append(kept)
            if len(self._last) > _MOST_KEPT:
                self._last.clear()
            self._last[same] = kept, free

    def _same(
        self, same: Hashable, arrays: Sequence[NDArray[Any]]
    ) -> tuple[_Phases, _KeptPhases, _Free] | None:
        """Loops that ran over these arrays last, and the list to put them back into."""
        if (last := self._last.get(same)) is None:
            return None
        kept, free = last
        try:
            free.remove(kept)
        except ValueError:  # another thread runs them
            return None
        if kept.is_bound(arrays):
            return kept.phases, kept, free
        free.append(kept)
        return None

    def _alike(
        self, same: tuple[Hashable, ...], arrays: Sequence[NDArray[Any]], make: Callable[[], LoopPhases]
    ) -> tuple[_Phases, _KeptPhases | None, _Free]:
        """Loops that ran over arrays that lie alike, bound to these, or new ones; None if not to be kept.

        Where runs over a few sets of arrays alternate, each gets loops.
        """
        lies = (same[0], *[(array.shape, array.strides, array.dtype.char) for array in arrays])
        if len(self._free) > _MOST_KEPT:
            self._free.clear()
        free = self._free.setdefault(lies, [])
        try:
            kept = free.pop(0 if same not in self._last or len(free) >= _MOST_SETS else len(free))
        except IndexError:
            made = make()
            if is_checked() or sum(array.nbytes for array in made.memory) > _MOST_KEPT_BYTES:
                return made.phases, None, free
            kept = _KeptPhases(made, arrays)
            return kept.phases, kept if kept.is_complete else None, free
        kept.bind(arrays)
        return kept.phases, kept, free
