"""The minimum cut in bytes between what is there and what is needed.

Values follow from other values. Some must be kept whatever happens, some are kept anyhow, and others may be
kept or computed again. Which to keep so that everything that is needed can be had, in the fewest bytes, is a
minimum cut: every value is an edge as wide as its bytes, from its near end, which its sources lead to, to
its far end, which leads to its readers. Values that cannot be computed again hang on the source of the flow,
those needed on its sink.

Augmenting paths (Edmonds and Karp, 1972) are searched backwards from one needed value after another. Once no
path leads to a value, later ones open none: a path that came near it would have led to it before. So every
search stays among the values that its own follows from and that no failing search has seen. The ends that the
failing ones saw are the sink's side of the cut. That is the cut nearest to the sink, with which the least is
computed again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Hashable, Sequence
from itertools import pairwise
from typing import Generic, TypeVar, final

V = TypeVar("V", bound=Hashable)


def minimum_cut(
    needed: Collection[V], sources_of: Callable[[V], Sequence[V] | None], size_of: Callable[[V], int]
) -> set[V]:
    """The values to keep, of those that `needed` follow from, so that all of `needed` can be had.

    Args:
        needed: Values that are to be had.
        sources_of: What a value is computed of; None where it cannot be computed again.
        size_of: Its bytes; 0 for what is kept anyhow.

    Returns:
        The kept values. Every needed one is among them or follows from them.
    """
    return _Flow(sources_of, size_of).cut(needed)


@final
class _Flow(Generic[V]):
    """A flow from what cannot be computed again to what is needed.

    An end is a value and whether it is the far one.
    """

    def __init__(self, sources_of: Callable[[V], Sequence[V] | None], size_of: Callable[[V], int]) -> None:
        self._sources_of = sources_of
        self._size_of = size_of
        self._sources: dict[V, Sequence[V] | None] = {}
        self._room: dict[V, int] = {}  # what more can flow through a value
        self._through: dict[V, int] = {}
        self._to_readers: dict[V, dict[V, int]] = {}
        self._cut_off: set[tuple[V, bool]] = set()  # ends that no path can lead to any more

    def cut(self, needed: Collection[V]) -> set[V]:
        for value in needed:
            came: dict[tuple[V, bool], tuple[V, bool] | None] = {}
            while (near := self._search(value, came)) is not None:
                self._augment(near, came)
                came = {}
            self._cut_off.update(came)
        cut_off = self._cut_off
        return {value for value, is_far in cut_off if is_far and (value, False) not in cut_off}

    def _meet(self, value: V) -> None:
        if value not in self._sources:
            self._room[value] = size = self._size_of(value)
            # invariant: nothing is looked for behind what is kept anyhow
            self._sources[value] = self._sources_of(value) if size else None
            self._through[value] = 0
            self._to_readers[value] = {}

    def _search(self, needed: V, came: dict[tuple[V, bool], tuple[V, bool] | None]) -> V | None:
        """Beginning of a path to `needed`; fills `came` with the end behind each end, towards it."""
        self._meet(needed)
        came[needed, True] = None
        waiting = deque([(needed, True)])
        while waiting:
            end = waiting.popleft()
            value, is_far = end
            before: list[tuple[V, bool]] = []
            if is_far:
                if self._room[value]:
                    before.append((value, False))
                before += [(reader, False) for reader, flow in self._to_readers[value].items() if flow]
            else:
                sources = self._sources[value]
                if sources is None:
                    return value
                before += [(source, True) for source in sources]
                if self._through[value]:
                    before.append((value, True))
            for other in before:
                if other not in came and other not in self._cut_off:
                    self._meet(other[0])
                    came[other] = end
                    waiting.append(other)
        return None

    def _augment(self, near: V, came: dict[tuple[V, bool], tuple[V, bool] | None]) -> None:
        path: list[tuple[V, bool]] = []
        end: tuple[V, bool] | None = (near, False)
        while end is not None:
            path.append(end)
            end = came[end]
        hops = list(pairwise(path))
        width = min(room for one, other in hops if (room := self._room_of(one, other)) is not None)
        for (one, is_far), (other, _) in hops:
            if one == other:
                change = -width if is_far else width
                self._through[one] += change
                self._room[one] -= change
            elif is_far:
                flows = self._to_readers[one]
                flows[other] = flows.get(other, 0) + width
            else:
                self._to_readers[other][one] -= width

    def _room_of(self, one: tuple[V, bool], other: tuple[V, bool]) -> int | None:
        """Rest of what can flow from end to end; None: anything."""
        (value, is_far), (following, _) = one, other
        if value == following:
            return self._through[value] if is_far else self._room[value]
        return None if is_far else self._to_readers[following][value]
