"""Free lists: the part of the allocator that knows no device.

Why a pool: what costs is not the call but the first touch of fresh memory. Writing to a fresh
1 MiB block took 525 us where writing to a used one took 20 us (4-core x86-64, Linux).

Locks. The hot path takes none. A block is owned by the thread that popped it, and `list.pop` and
`list.append` are atomic in CPython, under the GIL and in free-threaded builds alike, so a block
never has two owners. Everything that changes which blocks exist runs under `lock`, which is
reentrant since a finalizer that frees memory may run inside it.

`live_bytes` and `_allocations` are plain counters. CPython with the GIL does not switch threads inside
`x.n += 1`; a free-threaded build may lose a count. So nothing that must be right depends on them:
`stats` derives what is in use and pooled from the blocks themselves. What they do decide, the
recorded peak and the moment at which the idle limit is noticed, may be off by what was lost, until
the next trim counts again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol, final

from operad.device import Context
from operad.errors import OutOfMemoryError, StorageError
from operad.locks import Lock
from operad.storage.handle import Handle
from operad.storage.size_class import SizeClass, Stats, class_bytes

_REMEMBERED_SIZES: Final = 4096

POISON: Final = 0xFF
"""Byte that fills fresh and freed memory in debug mode: NaN in every float type, -1 in signed integers."""


class Device(Protocol):
    """Source of a pool's blocks. The only part of the allocator that differs between devices."""

    def allocate(self, capacity_bytes: int) -> Any:
        """A fresh one-dimensional `uint8` array, 64-byte aligned; `MemoryError` if there is none."""

    def view(self, buffer: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        """An array over the start of `buffer`; `TypeError` or `ValueError` if it does not fit."""

    def trim(self) -> None:
        """Give the system what the layer below keeps of blocks that were dropped."""


@final
class Pool:
    """The blocks of one device.

    Args:
        ctx: Device the blocks lie on, as handles report it.
        device: Source of blocks.
        limit_bytes: Idle bytes to keep at most; 0 keeps none.
        debug: Poison idle memory, find writes to it, and revoke handles that are freed.
        lock: Held while the set of blocks changes; reentrant, shared by the pools of one `Storage`.
        reclaim: Called when the device is out of memory, before the one other try.
    """

    def __init__(
        self,
        ctx: Context,
        device: Device,
        limit_bytes: int,
        debug: bool,
        lock: Lock,
        reclaim: Callable[[], None],
    ) -> None:
        self.ctx = ctx
        self.device = device
        self._limit_bytes = limit_bytes
        self._debug = debug
        self.lock = lock
        self._reclaim = reclaim
        self._by_size: dict[int, list[Handle]] = {}  # asked size -> its class's free list
        self._classes: dict[int, SizeClass] = {}  # by capacity; only ever grows
        self._trim_from = 0
        self._reserved_bytes = 0
        self.live_bytes = 0
        self._peak_bytes = 0
        self._allocations = 0
        self._misses = 0

    def alloc(self, size_bytes: int) -> Handle:
        """A block of at least `size_bytes`.

        Raises:
            OutOfMemoryError: The device refused twice.
            StorageError: The size is negative, or (debug mode) an idle block was written to.
        """
        try:
            handle = self._by_size[size_bytes].pop()
        except (KeyError, IndexError):
            handle = self._other(size_bytes)
        handle.size_bytes = size_bytes
        handle.freed = False
        self._allocations += 1
        live = self.live_bytes = self.live_bytes + handle.capacity_bytes
        if live > self._peak_bytes:  # noqa: PLR1730 - `max` would be a call
            self._peak_bytes = live
        if self._debug:
            self._check_poison(handle)
        return handle

    def give_back(self, handle: Handle) -> None:
        """Make the block of a freed handle idle, or drop it where none may be kept."""
        if self._debug:
            handle = _quarantined(handle)
        if handle.capacity_bytes > self._limit_bytes:
            self.drop(handle)
            return
        self.live_bytes -= handle.capacity_bytes
        handle.free_list.append(handle)
        if self._reserved_bytes - self.live_bytes > self._limit_bytes:
            self.trim_to_limit()

    def drop(self, handle: Handle) -> None:
        """Give a block that is in use back to the system."""
        with self.lock:
            self.live_bytes -= handle.capacity_bytes
            self._forget(self._classes[handle.capacity_bytes])
        handle.revoke()

    def trim_to_limit(self) -> None:
        """Drop idle blocks until the limit holds.

        Goes an eighth further, so that the next `free` does not come here again, and starts each
        time at another class, so that sizes that are not asked for any more go too.
        """
        with self.lock:
            held = self.stats()
            self.live_bytes = held.in_use_bytes
            excess_bytes = held.pooled_bytes - self._limit_bytes
            if excess_bytes <= 0:
                return
            excess_bytes += self._limit_bytes // 8
            classes = tuple(self._classes.values())
            for _ in classes:
                self._trim_from = (self._trim_from + 1) % len(classes)
                size_class = classes[self._trim_from]
                wanted = -(-excess_bytes // size_class.capacity_bytes)
                excess_bytes -= self._drop_idle(size_class, wanted) * size_class.capacity_bytes
                if excess_bytes <= 0:
                    return

    def release_idle(self) -> None:
        """Give every idle block back to the system."""
        with self.lock:
            for size_class in tuple(self._classes.values()):
                self._drop_idle(size_class, len(size_class.free_list))
            self.device.trim()

    def stats(self) -> Stats:
        """Memory that the pool holds now; exact while no other thread allocates or frees."""
        with self.lock:
            pooled_bytes = sum(len(c.free_list) * c.capacity_bytes for c in tuple(self._classes.values()))
            return Stats(
                in_use_bytes=self._reserved_bytes - pooled_bytes,
                pooled_bytes=pooled_bytes,
                peak_bytes=self._peak_bytes,
                allocations=self._allocations,
                pool_hits=self._allocations - self._misses,
            )

    def reset_after_fork(self) -> None:
        """Make the total agree with the blocks.

        A block that another thread was just taking or giving counts as in use from then on.
        """
        self._reserved_bytes = sum(c.blocks * c.capacity_bytes for c in self._classes.values())
        self.live_bytes = self.stats().in_use_bytes

    def _other(self, size_bytes: int) -> Handle:
        """A block for a size of which none was idle: one of its class, or a fresh one."""
        if size_bytes < 0:
            raise StorageError(f"alloc: size_bytes is {size_bytes}, expected at least 0")
        capacity_bytes = class_bytes(size_bytes)
        with self.lock:
            size_class = self._classes.setdefault(capacity_bytes, SizeClass(capacity_bytes))
            if len(self._by_size) >= _REMEMBERED_SIZES:
                self._by_size.clear()
            self._by_size[size_bytes] = size_class.free_list
            try:
                return size_class.free_list.pop()
            except IndexError:
                buffer = self._allocate(size_bytes, capacity_bytes)
            if self._debug:
                buffer.fill(POISON)
            size_class.blocks += 1
            self._reserved_bytes += capacity_bytes
            self._misses += 1
            return Handle(buffer, size_bytes, self, size_class.free_list)

    def _allocate(self, size_bytes: int, capacity_bytes: int) -> Any:
        try:
            return self.device.allocate(capacity_bytes)
        except MemoryError:
            self._reclaim()
        try:
            return self.device.allocate(capacity_bytes)
        except MemoryError as error:
            raise OutOfMemoryError(
                f"alloc: no memory for {size_bytes:,} bytes on {self.ctx!r} (a block of {capacity_bytes:,}), "
                f"even after the pool was emptied; {self.stats()}; use smaller batches or free arrays"
            ) from error

    def _check_poison(self, handle: Handle) -> None:
        if bool((handle.buffer == POISON).all()):
            return
        handle.freed = True
        self.drop(handle)
        raise StorageError(
            f"alloc: an idle block of {handle.capacity_bytes} bytes on {self.ctx!r} was written to after it "
            "was freed; something still writes to memory that it has freed"
        )

    def _drop_idle(self, size_class: SizeClass, wanted: int) -> int:
        # under self.lock
        dropped = 0
        while dropped < wanted:
            try:
                handle = size_class.free_list.pop()
            except IndexError:
                break
            self._forget(size_class)
            handle.revoke()
            dropped += 1
        return dropped

    def _forget(self, size_class: SizeClass) -> None:
        # under self.lock
        size_class.blocks -= 1
        self._reserved_bytes -= size_class.capacity_bytes


def _quarantined(handle: Handle) -> Handle:
    """Move the block of a freed handle, poisoned, to a new handle, so that the old one is of no use."""
    heir = Handle(handle.buffer, 0, handle.pool, handle.free_list)
    heir.freed = True
    heir.buffer.fill(POISON)
    handle.revoke()
    return heir
