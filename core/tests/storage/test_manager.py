"""The storage manager: pools of several devices, settings, threads and forks."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable

import numpy as np
import pytest

from operad import storage
from operad.device import Context, cpu, num_gpus
from operad.errors import ContextError, OutOfMemoryError, StorageError
from operad.storage import Stats, Storage
from operad.storage.cpu import CpuDevice


def test_alloc_after_free_hits_the_pool() -> None:
    manager = Storage()
    first = manager.alloc(100, cpu())
    address = first.buffer.ctypes.data
    manager.free(first)
    second = manager.alloc(100, cpu())
    assert second.buffer.ctypes.data == address
    assert (second.size_bytes, second.freed) == (100, False)
    stats = manager.stats(cpu())
    assert (stats.allocations, stats.pool_hits, stats.in_use_bytes, stats.pooled_bytes) == (2, 1, 128, 0)


def test_the_peak_counts_what_was_in_use_at_once() -> None:
    manager = Storage()
    for size_bytes, count in ((1024, 3), (2048, 1)):
        for handle in [manager.alloc(size_bytes, cpu()) for _ in range(count)]:
            manager.free(handle)
    assert manager.stats(cpu()).peak_bytes == 3 * 1024
    for size_bytes in (2048, 1024, 1024):  # all served by idle blocks
        manager.alloc(size_bytes, cpu())
    assert manager.stats(cpu()).peak_bytes == 4096


def test_two_handles_in_use_never_share_a_block() -> None:
    manager = Storage()
    first, second = manager.alloc(64, cpu()), manager.alloc(64, cpu())
    first.buffer[:], second.buffer[:] = 1, 2
    assert set(first.buffer.tolist()) == {1}


def test_devices_have_pools_of_their_own() -> None:
    manager = Storage()
    manager.free(manager.alloc(64, cpu(0)))
    assert manager.alloc(64, cpu(1)).ctx is cpu(1)
    assert manager.stats(cpu(0)).pooled_bytes == 64
    assert manager.stats(cpu(1)).pool_hits == 0
    assert manager.stats(cpu(2)) == Stats(0, 0, 0, 0, 0)


def test_release_all_empties_one_device() -> None:
    manager = Storage()
    kept = manager.alloc(64, cpu(0))
    manager.free(manager.alloc(64, cpu(0)))
    manager.free(manager.alloc(64, cpu(1)))
    manager.release_all(cpu(0))
    manager.release_all(cpu(9))
    assert manager.stats(cpu(0)).pooled_bytes == 0
    assert manager.stats(cpu(0)).in_use_bytes == kept.capacity_bytes
    assert manager.stats(cpu(1)).pooled_bytes == 64


@pytest.mark.parametrize("debug", ["0", "1"])
def test_freeing_twice_is_an_error(setting: Callable[[str, str], None], debug: str) -> None:
    setting("OPERAD_DEBUG", debug)
    manager = Storage()
    handle = manager.alloc(64, cpu())
    manager.free(handle)
    with pytest.raises(StorageError, match=r"free: .* was freed before"):
        manager.free(handle)


def test_debug_refuses_a_stale_handle_even_after_reuse(setting: Callable[[str, str], None]) -> None:
    setting("OPERAD_DEBUG", "1")
    manager = Storage()
    stale = manager.alloc(64, cpu())
    manager.free(stale)
    fresh = manager.alloc(64, cpu())
    with pytest.raises(StorageError):
        manager.free(stale)
    with pytest.raises(StorageError):
        stale.array((1,), np.dtype(np.float32))
    assert np.isnan(fresh.array((16,), np.dtype(np.float32))).all()
    assert manager.stats(cpu()).pool_hits == 1


def test_without_a_pool_nothing_is_kept(setting: Callable[[str, str], None]) -> None:
    setting("OPERAD_POOL", "0")
    manager = Storage()
    manager.free(manager.alloc(64, cpu()))
    assert manager.stats(cpu()) == Stats(0, 0, 64, 1, 0)


def test_the_pool_limit_is_honoured(setting: Callable[[str, str], None]) -> None:
    setting("OPERAD_POOL_LIMIT_BYTES", "256")
    manager = Storage()
    for handle in [manager.alloc(64, cpu()) for _ in range(10)]:
        manager.free(handle)
    assert 0 < manager.stats(cpu()).pooled_bytes <= 256


def test_queues_of_one_memory_help_each_other_out() -> None:
    room_bytes = 4096

    class Shared:
        host = CpuDevice()

        def allocate(self, capacity_bytes: int) -> object:
            held = sum(
                s.in_use_bytes + s.pooled_bytes for s in (manager.stats(cpu(0)), manager.stats(cpu(1)))
            )
            if held + capacity_bytes > room_bytes:
                raise MemoryError
            return self.host.allocate(capacity_bytes)

        def view(self, buffer: object, shape: tuple[int, ...], dtype: object) -> object:
            return self.host.view(buffer, shape, dtype)

        def trim(self) -> None:
            pass

    manager = Storage(lambda ctx: Shared())
    manager.free(manager.alloc(4096, cpu(0)))
    assert manager.alloc(4096, cpu(1)).ctx is cpu(1)
    with pytest.raises(OutOfMemoryError, match=r"cpu\(0\)"):
        manager.alloc(64, cpu(0))


def test_memory_that_does_not_exist_is_an_out_of_memory_error() -> None:
    with pytest.raises(OutOfMemoryError, match="use smaller batches"):
        Storage().alloc(1 << 62, cpu())


@pytest.mark.skipif(num_gpus() > 0, reason="this machine has a GPU")
def test_a_device_this_machine_lacks_is_named() -> None:
    with pytest.raises(ContextError, match=r"CuPy|CUDA"):
        Storage().alloc(64, Context("gpu", 0))


@pytest.mark.parametrize("device_type", ["cpu_pinned", "cpu_shared"])
def test_other_memory_of_the_host_is_there_without_a_gpu(device_type: str) -> None:
    assert Storage().alloc(64, Context(device_type, 0)).buffer.nbytes >= 64


@pytest.mark.serial  # it changes how often threads take turns
def test_threads_never_get_the_same_block() -> None:
    manager = Storage()
    start = threading.Barrier(4)
    clashes: list[int] = []

    def work(number: int) -> None:
        start.wait()
        for turn in range(3000):
            handle = manager.alloc(64 * (1 + turn % 3), cpu())
            handle.buffer.fill(number)
            if handle.buffer.min() != number or handle.buffer.max() != number:
                clashes.append(turn)
            manager.free(handle)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert clashes == []
    stats = manager.stats(cpu())
    assert (stats.in_use_bytes, stats.allocations) == (0, 12_000)
    classes = manager._pools[cpu()]._classes.values()
    assert sum(len(each.free_list) for each in classes) == stats.allocations - stats.pool_hits


def test_the_process_has_one_storage() -> None:
    assert storage.get() is storage.get()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_allocates_though_a_thread_held_the_lock() -> None:
    program = """
import os, threading
from operad import storage
from operad.device import cpu
manager = storage.get()
handle = manager.alloc(3 << 20, cpu())
handle.buffer[:] = 7
idle = manager.alloc(100, cpu())
manager.free(idle)
held, done = threading.Event(), threading.Event()
def hold():
    with manager._lock:
        held.set()
        done.wait()
thread = threading.Thread(target=hold)
thread.start()
held.wait()
child = os.fork()
if child == 0:
    good = manager.alloc(5000, cpu()).capacity_bytes == 5120
    good = good and manager.alloc(100, cpu()) is idle and bool((handle.buffer == 7).all())
    handle.buffer[:] = 9
    good = good and manager.stats(cpu()).in_use_bytes == (3 << 20) + 5120 + 128
    os._exit(0 if good else 1)
done.set()
thread.join()
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert (handle.buffer == 7).all(), "the child wrote to the parent's memory"
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True)
