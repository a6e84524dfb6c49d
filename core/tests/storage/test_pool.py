"""The pool against a model: random requests, with a device that counts what it gave out."""

from __future__ import annotations

import itertools
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from operad.device import cpu
from operad.errors import OutOfMemoryError, StorageError
from operad.storage import POISON, Handle, Stats, class_bytes
from operad.storage.cpu import CpuDevice
from operad.storage.pool import Pool


class LimitedDevice:
    """Host memory of which there are only `room_bytes`, by the count of living blocks."""

    def __init__(self, room_bytes: int) -> None:
        self.room_bytes = room_bytes
        self.asked: list[int] = []
        self.trims = 0
        self._host = CpuDevice()

    def allocate(self, capacity_bytes: int) -> Any:
        self.asked.append(capacity_bytes)
        if capacity_bytes > self.room_bytes:
            raise MemoryError("no room")
        return self._host.allocate(capacity_bytes)

    def view(self, buffer: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        return self._host.view(buffer, shape, dtype)

    def trim(self) -> None:
        self.trims += 1


def pool_on(device: Any, limit_bytes: int = 1 << 30, debug: bool = False) -> Pool:
    def reclaim() -> None:
        pool.release_idle()

    pool = Pool(cpu(), device, limit_bytes, debug, threading.RLock(), reclaim)
    return pool


def idle_blocks(pool: Pool) -> dict[int, int]:
    """Idle blocks by their size."""
    return {each.capacity_bytes: len(each.free_list) for each in pool._classes.values() if each.free_list}


def give_back(pool: Pool, handle: Handle) -> None:
    handle.freed = True
    pool.give_back(handle)


def test_a_freed_block_serves_the_next_request_of_its_class() -> None:
    pool = pool_on(CpuDevice())
    first = pool.alloc(1000)
    address = first.buffer.ctypes.data
    give_back(pool, first)
    assert pool.alloc(970).buffer.ctypes.data == address
    assert pool.stats().pool_hits == 1


def test_a_freed_block_does_not_serve_another_class() -> None:
    pool = pool_on(CpuDevice())
    give_back(pool, pool.alloc(64))
    assert pool.alloc(65).capacity_bytes == 128
    assert pool.stats().pool_hits == 0


def test_a_negative_size_is_refused() -> None:
    with pytest.raises(StorageError, match="size_bytes is -1"):
        pool_on(CpuDevice()).alloc(-1)


def test_many_different_sizes_do_not_grow_the_memo_without_bound() -> None:
    pool = pool_on(CpuDevice())
    for size_bytes in range(10_000):
        give_back(pool, pool.alloc(size_bytes))
    assert len(pool._by_size) <= 4096
    assert pool.stats().in_use_bytes == 0


def test_idle_bytes_stay_under_the_limit() -> None:
    pool = pool_on(CpuDevice(), limit_bytes=4096)
    handles = [pool.alloc(1024) for _ in range(16)]
    for handle in handles:
        give_back(pool, handle)
        assert pool.stats().pooled_bytes <= 4096
    assert pool.stats().pooled_bytes > 0


def test_sizes_nobody_asks_for_make_room_for_others() -> None:
    pool = pool_on(CpuDevice(), limit_bytes=8192)
    for size_bytes in (2048, 4096):
        give_back(pool, pool.alloc(size_bytes))
    for _ in range(4):  # more of one class than the limit has room for beside the others
        for handle in [pool.alloc(1024) for _ in range(8)]:
            give_back(pool, handle)
    assert set(idle_blocks(pool)) == {1024}


def test_a_block_larger_than_the_limit_is_not_kept() -> None:
    pool = pool_on(CpuDevice(), limit_bytes=1024)
    small = pool.alloc(512)
    give_back(pool, small)
    give_back(pool, pool.alloc(4096))
    assert pool.stats().pooled_bytes == 512


def test_out_of_memory_empties_the_pool_and_tries_once_more() -> None:
    device = LimitedDevice(room_bytes=1 << 20)
    pool = pool_on(device)
    give_back(pool, pool.alloc(4096))
    with pytest.raises(OutOfMemoryError) as caught:
        pool.alloc(3 << 20)
    assert device.asked == [4096, 3 << 20, 3 << 20]
    assert device.trims == 1
    assert pool.stats().pooled_bytes == 0
    assert isinstance(caught.value, MemoryError)
    assert "3,145,728 bytes on cpu(0)" in str(caught.value)
    assert str(pool.stats()) in str(caught.value)


def test_the_second_try_can_succeed() -> None:
    class OnceFull(LimitedDevice):
        def trim(self) -> None:
            super().trim()
            self.room_bytes = 1 << 20

    pool = pool_on(OnceFull(room_bytes=0))
    assert pool.alloc(4096).capacity_bytes == 4096


def test_a_failed_allocation_counts_nothing() -> None:
    pool = pool_on(LimitedDevice(room_bytes=0))
    with pytest.raises(OutOfMemoryError):
        pool.alloc(64)
    assert pool.stats() == Stats(0, 0, 0, 0, 0)


def test_debug_poisons_fresh_and_freed_memory() -> None:
    pool = pool_on(CpuDevice(), debug=True)
    handle = pool.alloc(64)
    array = handle.array((16,), np.dtype(np.float32))
    assert np.isnan(array).all()
    array[:] = 1
    give_back(pool, handle)
    assert np.isnan(array).all()
    assert (pool.alloc(64).buffer == POISON).all()


def test_debug_finds_writes_to_freed_memory_and_recovers() -> None:
    pool = pool_on(CpuDevice(), debug=True)
    handle = pool.alloc(64)
    array = handle.array((64,), np.dtype(np.uint8))
    give_back(pool, handle)
    array[3] = 0
    with pytest.raises(StorageError, match="written to after"):
        pool.alloc(64)
    assert pool.stats().in_use_bytes == pool.stats().pooled_bytes == 0
    assert pool.alloc(64).size_bytes == 64


def test_debug_takes_the_block_from_a_freed_handle() -> None:
    pool = pool_on(CpuDevice(), debug=True)
    handle = pool.alloc(64)
    handle.array((16,), np.dtype(np.float32))
    give_back(pool, handle)
    with pytest.raises(StorageError, match="was freed"):
        handle.array((16,), np.dtype(np.float32))
    with pytest.raises(StorageError, match="was freed"):
        _ = handle.buffer
    assert pool.alloc(64) is not handle


class PoolMachine(RuleBasedStateMachine):
    """Live blocks hold a number each; the model knows which, and what the counts must be."""

    def __init__(self) -> None:
        super().__init__()
        self.live: dict[int, Handle] = {}
        self.idle: dict[int, int] = {}  # capacity -> blocks
        self.serial = 0
        self.hits = 0
        self.peak_bytes = 0

    @initialize(debug=st.booleans())
    def start(self, debug: bool) -> None:
        self.pool = pool_on(CpuDevice(), debug=debug)

    @rule(size_bytes=st.one_of(st.integers(0, 300), st.integers(1000, 5000), st.integers(3 << 20, 4 << 20)))
    def alloc(self, size_bytes: int) -> None:
        handle = self.pool.alloc(size_bytes)
        assert not handle.freed
        assert handle.size_bytes == size_bytes
        assert handle.capacity_bytes == class_bytes(size_bytes) == handle.buffer.size
        assert handle.buffer.ctypes.data % 64 == 0
        if self.idle.get(handle.capacity_bytes, 0):
            self.idle[handle.capacity_bytes] -= 1
            self.hits += 1
        self.serial += 1
        handle.buffer[:] = self.serial % 251
        self.live[self.serial] = handle
        self.peak_bytes = max(self.peak_bytes, self._live_bytes())

    @precondition(lambda self: self.live)
    @rule(data=st.data())
    def free(self, data: st.DataObject) -> None:
        handle = self._take(data)
        self.idle[handle.capacity_bytes] = self.idle.get(handle.capacity_bytes, 0) + 1
        give_back(self.pool, handle)

    @precondition(lambda self: self.live)
    @rule(data=st.data())
    def drop(self, data: st.DataObject) -> None:
        handle = self._take(data)
        handle.freed = True
        self.pool.drop(handle)

    @rule()
    def release_idle(self) -> None:
        self.pool.release_idle()
        self.idle.clear()

    @invariant()
    def live_blocks_do_not_overlap(self) -> None:
        spans = sorted((h.buffer.ctypes.data, h.capacity_bytes) for h in self.live.values())
        assert all(start + size <= after for (start, size), (after, _) in itertools.pairwise(spans))

    @invariant()
    def counts_are_exact(self) -> None:
        if not hasattr(self, "pool"):
            return
        stats = self.pool.stats()
        assert stats.in_use_bytes == self._live_bytes() == self.pool.live_bytes
        assert stats.pooled_bytes == sum(size * blocks for size, blocks in self.idle.items())
        assert stats.peak_bytes == self.peak_bytes
        assert stats.allocations == self.serial
        assert stats.pool_hits == self.hits
        assert idle_blocks(self.pool) == {size: blocks for size, blocks in self.idle.items() if blocks}
        blocks = sum(size_class.blocks for size_class in self.pool._classes.values())
        assert blocks - sum(self.idle.values()) == len(self.live)

    def _take(self, data: st.DataObject) -> Handle:
        serial = data.draw(st.sampled_from(sorted(self.live)))
        handle = self.live.pop(serial)
        assert (handle.buffer == serial % 251).all(), "another owner wrote to this block"
        return handle

    def _live_bytes(self) -> int:
        return sum(handle.capacity_bytes for handle in self.live.values())


class TestPoolAgainstModel(PoolMachine.TestCase):
    settings = settings(max_examples=50)


@pytest.mark.more
class TestPoolAgainstModelForLong(PoolMachine.TestCase):
    """As many examples as the profile says."""
