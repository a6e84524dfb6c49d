"""Arrays that kernels have prepared: filled once for each version of the arguments they are made of.

Whether an argument was written is seen where a run is pushed: its engine variable counts the writes that were
pushed before, by whatever door they came, and what is pushed after is another run's concern. So the array is
filled by an operation of its own, pushed before the run if the count has changed; the engine orders it behind
those writes, and behind earlier runs that still read the array. Inside an operation the count would say
nothing: it knows of writes that come later. So does the count of a write that another thread is about to
push; the engine counts those again, and the next run fills the array again.

Memory that is not the storage's, or was exported, may be written behind the engine's back. What is made of
such an argument is made again for every run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, final

from operad import engine
from operad.engine import Var
from operad.imperative import Chunk
from operad.program import Binding, Segment, codes, segments

_NEVER: Final = (-1,)


class PreparedArray(NamedTuple):
    """One prepared array.

    Attributes:
        node_id: The node that fills it.
        made_of: The memory of the arguments that it is made of.
        var: The engine variable of the array.
    """

    node_id: int
    made_of: Sequence[Chunk]
    var: Var


@final
class PreparedArrays:
    """The prepared arrays of a program.

    Args:
        arrays: These.
        fill: Pushes what fills those of some nodes.
    """

    def __init__(self, arrays: Sequence[PreparedArray], fill: Callable[[tuple[int, ...]], object]) -> None:
        self._arrays, self._fill = arrays, fill
        self._versions: list[tuple[int, ...]] = [_NEVER] * len(arrays)

    @staticmethod
    def of(binding: Binding) -> PreparedArrays:
        """Those of a binding."""
        program = binding.program
        arrays: list[PreparedArray] = []
        for node_id in program.preparations:
            made_of = dict.fromkeys(binding.chunk(entry) for entry in program.call(node_id).reads)
            var = binding.var(program.entry_range(node_id).start)
            arrays.append(PreparedArray(node_id, list(made_of), var))
        made: dict[tuple[int, ...], list[Segment]] = {}  # by the nodes that they run

        def fill(node_ids: tuple[int, ...]) -> None:
            parts = made.get(node_ids)
            if parts is None:
                parts = made[node_ids] = segments(binding, codes(program, node_ids))
            for segment in parts:
                segment.push(False, alone=len(parts) == 1)

        return PreparedArrays(arrays, fill)

    def refresh(self) -> None:
        """Push what fills those arrays that are not what a run needs that is pushed next."""
        stale: dict[int, tuple[int, ...]] = {}
        for number, (_, made_of, var) in enumerate(self._arrays):
            versions = tuple([chunk.var.version for chunk in made_of])
            if (
                versions != self._versions[number]
                or var.failure is not None
                or not all(map(_is_ours, made_of))
            ):
                stale[number] = versions
                self._versions[number] = _NEVER  # should a push raise
        if not stale:
            return
        engine.get().recount_writes()  # of those that were read some may come behind the push
        # After an update of the weights all are stale, and one operation costs less than many.
        if len(stale) == len(self._arrays):
            self._fill(tuple([array.node_id for array in self._arrays]))
        else:
            for number in stale:
                self._fill((self._arrays[number].node_id,))
        # As they were before the push: should another thread write meanwhile, the next run fills them again.
        for number, versions in stale.items():
            self._versions[number] = versions


def _is_ours(chunk: Chunk) -> bool:
    """Return whether operations of the engine alone write the memory."""
    return chunk.lease is not None and chunk.owner is None
