"""Size classes: how requests round up to the few sizes of blocks a pool keeps.

A free block serves any request of its class, so few classes mean more reuse, and more waste in
each block.

* up to 1 KiB: multiples of 64 bytes, a cache line, which is also the alignment;
* up to 32 MiB: eight classes to each doubling, so that at most 1/8 of a block is waste;
* beyond: whole pages. Such blocks are few and their sizes repeat from step to step, and an eighth
  of one is a lot.

Refused: splitting and merging blocks (buddy, best fit). Array sizes repeat, so lists of equal
blocks hit as often, and a hit is one dictionary look-up and one `list.pop`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, final

if TYPE_CHECKING:
    from operad.storage.handle import Handle

ALIGNMENT_BYTES: Final = 64
_SMALL_BYTES: Final = 1 << 10
_HUGE_BYTES: Final = 32 << 20
_PAGE_BYTES: Final = 4 << 10


def class_bytes(size_bytes: int) -> int:
    """Bytes of the blocks that serve requests of `size_bytes`; an empty request gets the smallest."""
    if size_bytes <= _SMALL_BYTES:
        step = ALIGNMENT_BYTES
    elif size_bytes <= _HUGE_BYTES:
        step = 1 << ((size_bytes - 1).bit_length() - 4)
    else:
        step = _PAGE_BYTES
    return max(-(-size_bytes // step), 1) * step


class Stats(NamedTuple):
    """Memory that a pool holds. All sizes count whole blocks (`Handle.capacity_bytes`).

    Attributes:
        in_use_bytes: Lent out now.
        pooled_bytes: Idle now, kept for reuse.
        peak_bytes: Most that was ever in use at the same time.
        allocations: Requests served so far.
        pool_hits: How many of those an idle block served.
    """

    in_use_bytes: int
    pooled_bytes: int
    peak_bytes: int
    allocations: int
    pool_hits: int

    def __str__(self) -> str:
        return (
            f"in use {self.in_use_bytes:,} bytes (peak {self.peak_bytes:,}), pooled {self.pooled_bytes:,}, "
            f"{self.allocations:,} allocations, {self.pool_hits:,} from the pool"
        )


@final
class SizeClass:
    """All blocks of one size: how many exist, and the idle ones."""

    __slots__ = ("blocks", "capacity_bytes", "free_list")

    def __init__(self, capacity_bytes: int) -> None:
        self.capacity_bytes = capacity_bytes
        self.blocks = 0
        self.free_list: list[Handle] = []
