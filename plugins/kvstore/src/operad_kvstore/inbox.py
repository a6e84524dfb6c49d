"""Bookkeeping of a server over each worker's messages.

A worker numbers its messages 1, 2, 3, ... A process that takes over the rank of one that ended begins at 1
again: it has a life of its own, by whose name its messages are known from late ones of the former process.
Until it takes part in rounds it repeats how the program begins; barriers that the former process had passed,
keys that it had stored and what it had configured are known here, so none of it happens twice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, final

from operad_kvstore.keys import Key
from operad_kvstore.placement import Extent


@final
class Receipt(NamedTuple):
    """Acknowledgement of a worker's messages by a server.

    Attributes:
        seen: All up to this number.
        durable: All up to this number outlast a crash of the server.
    """

    seen: int
    durable: int


@final
class Standing(NamedTuple):
    """State that a server reports to a worker when the worker comes.

    Attributes:
        is_back: Another process had its rank before.
        barriers: How many barriers that process had called.
        configured: How often it had set an optimizer, an updater or states here.
        keys: Which elements of keys are here, and their types.
    """

    is_back: bool = False
    barriers: int = 0
    configured: int = 0
    keys: Mapping[Key, tuple[Extent, str]] = MappingProxyType({})


@final
class Inbox:
    """Number of the last message of each worker that a server has.

    Attributes:
        barriers: How many barriers each rank has called, in all its lives.
        configured: How often each rank has configured the server, likewise.
        notes: The last note of each rank.
    """

    def __init__(self) -> None:
        self.barriers: defaultdict[int, int] = defaultdict(int)
        self.configured: defaultdict[int, int] = defaultdict(int)
        self.notes: dict[int, int] = {}
        self._seen: defaultdict[int, int] = defaultdict(int)
        self._durable: dict[int, int] = {}
        self._lives: dict[int, str] = {}
        self._back: set[int] = set()

    def has_life(self, rank: int, life: str) -> bool:
        """Return whether a rank's messages belong to this life; any do if none has begun."""
        return self._lives.get(rank, life) == life

    def begin(self, rank: int, life: str) -> bool:
        """Accept messages of a life from now on; return whether the life is another one than before."""
        if self._lives.get(rank) == life:
            return False
        is_other = rank in self._lives
        if is_other:
            self._back.add(rank)
            self._seen[rank] = 0
            self._durable.pop(rank, None)
        self._lives[rank] = life
        return is_other

    def is_back(self, rank: int) -> bool:
        """Return whether the rank's life is not its first."""
        return rank in self._back

    def take(self, rank: int, number: int) -> bool:
        """Note a message as seen if it is the rank's next one; return whether it is."""
        if number != self._seen[rank] + 1:
            return False
        self._seen[rank] = number
        return True

    def has(self, rank: int, number: int) -> bool:
        """Return whether a rank's messages up to a number have been seen."""
        return self._seen[rank] >= number

    def outlast(self) -> None:
        """Note that all messages seen so far outlast a crash."""
        self._durable = dict(self._seen)

    def receipt(self, rank: int) -> Receipt:
        """Receipt for a rank's messages."""
        return Receipt(self._seen[rank], self._durable.get(rank, 0))

    def is_durable(self, rank: int) -> bool:
        """Return whether all messages seen of a rank outlast a crash."""
        return self._durable.get(rank, 0) >= self._seen[rank]

    def state(self) -> dict[str, Any]:
        """State of all ranks, for `restore`."""
        return {
            "counts": (self.barriers, self.configured, self._seen),
            "notes": self.notes,
            "lives": self._lives,
            "back": [*self._back],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over what `state` gave; all of it outlasts a crash."""
        self.barriers, self.configured, self._seen = (defaultdict(int, one) for one in state["counts"])
        self.notes = dict(state["notes"])
        self._lives, self._back = dict(state["lives"]), set(state["back"])
        self.outlast()

    @property
    def ranks(self) -> list[int]:
        """Ranks of which a message has come."""
        return list(self._seen)
