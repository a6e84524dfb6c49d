"""Distribution of each key's elements over servers.

A key belongs to the server with the fewest bytes when it is placed. One of more than a million elements is
spread over all servers where what moves it treats every element for itself: one part for each server, in the
order of their numbers. All workers place the same keys in the same order, and so come to the same parts.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self, final

import numpy as np

from operad_kvstore.buckets import cut_into_shards
from operad_kvstore.keys import Key
from operad_kvstore.packets import Array


@final
class Part(NamedTuple):
    """Elements `start` to `stop` of a key's array, flat, and the number of the server that has them."""

    home: int
    start: int
    stop: int


@final
class Extent(NamedTuple):
    """Range of a key's array that a server has.

    Attributes:
        shape: Of the whole array.
        start: The first element that is here, of the flat array.
        stop: The one after the last.
    """

    shape: tuple[int, ...]
    start: int
    stop: int

    @classmethod
    def of_all(cls, shape: tuple[int, ...]) -> Self:
        """The extent of an array that is here whole."""
        return cls(shape, 0, math.prod(shape))

    @property
    def is_whole(self) -> bool:
        """True if the extent is the whole array."""
        return self.stop - self.start == math.prod(self.shape)

    @property
    def stored_shape(self) -> tuple[int, ...]:
        """Shape in which the extent is stored: that of the whole array, or flat."""
        return self.shape if self.is_whole else (self.stop - self.start,)


@final
class Placement:
    """The parts of keys.

    Args:
        num_servers: How many servers there are.
    """

    def __init__(self, num_servers: int) -> None:
        self._bytes = [0] * num_servers
        self._shapes: dict[Key, tuple[int, ...]] = {}
        self._dtypes: dict[Key, np.dtype[Any]] = {}
        self._parts: dict[Key, tuple[Part, ...]] = {}

    def add(self, key: Key, value: Array, *, may_cut: bool) -> None:
        """Place a key, unless it has its place already.

        Args:
            key: Of the array.
            value: The array.
            may_cut: Whether it may be spread.
        """
        if key in self._parts:
            return
        self._shapes[key], self._dtypes[key] = value.shape, value.dtype
        pieces = cut_into_shards(value.size, len(self._bytes)) if may_cut else []
        if len(pieces) > 1:
            self._assign(key, [Part(home, piece.start, piece.stop) for home, piece in enumerate(pieces)])
        else:
            self._assign(key, [Part(self._least, 0, value.size)])

    def adopt(self, home: int, described: Mapping[Key, tuple[Extent, str]]) -> None:
        """Take over the extents of every server, see `described`; called before anything is added."""
        for key, (extent, dtype) in described.items():
            self._shapes[key], self._dtypes[key] = extent.shape, np.dtype(dtype)
            part = Part(home, extent.start, extent.stop)
            self._parts[key] = (*self._parts.get(key, ()), part)
            self._bytes[home] += self._num_bytes(key, part)

    def parts(self, key: Key) -> tuple[Part, ...]:
        """Parts of a key, in the order of their elements."""
        return self._parts[key]

    def by_home(self, keys: Iterable[Key]) -> dict[int, list[Key]]:
        """Keys of which a server has something, by its number."""
        found: defaultdict[int, list[Key]] = defaultdict(list)
        for key in keys:
            for part in self._parts[key]:
                found[part.home].append(key)
        return dict(found)

    def extents(self, home: int, keys: Iterable[Key]) -> dict[Key, Extent]:
        """Extents of the keys of which a server has elements."""
        return {
            key: Extent(self._shapes[key], part.start, part.stop)
            for key in keys
            for part in self._parts[key]
            if part.home == home
        }

    def described(self, home: int, keys: Iterable[Key]) -> dict[Key, tuple[Extent, str]]:
        """Extents and types of the keys of which a server has elements, for `Shard.check`."""
        return {key: (extent, self._dtypes[key].name) for key, extent in self.extents(home, keys).items()}

    def gather(self) -> dict[Key, tuple[Part, ...]]:
        """Place every key whole; gives the former parts of those that were spread."""
        spread = {key: parts for key, parts in self._parts.items() if len(parts) > 1}
        for key, parts in spread.items():
            for part in parts:
                self._bytes[part.home] -= self._num_bytes(key, part)
            self._assign(key, [Part(self._least, 0, parts[-1].stop)])
        return spread

    def joined(self, key: Key, of_home: Mapping[int, Mapping[Key, Array]]) -> Array:
        """The array of a key, from what its servers gave: as it was stored, or flat and new."""
        parts = self._parts[key]
        if len(parts) == 1:
            return of_home[parts[0].home][key]
        return np.concatenate([of_home[part.home][key] for part in parts])

    def _assign(self, key: Key, parts: Sequence[Part]) -> None:
        self._parts[key] = tuple(parts)
        for part in parts:
            self._bytes[part.home] += self._num_bytes(key, part)

    def _num_bytes(self, key: Key, part: Part) -> int:
        return (part.stop - part.start) * self._dtypes[key].itemsize

    @property
    def _least(self) -> int:
        return self._bytes.index(min(self._bytes))
