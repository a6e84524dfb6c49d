"""Host memory: aligned, private and really given back."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from operad.storage.cpu import CpuDevice


@pytest.mark.parametrize("capacity_bytes", [64, 128, 1 << 20, 2 << 20, (32 << 20) + 4096])
def test_blocks_are_aligned_and_of_the_size_asked_for(capacity_bytes: int) -> None:
    block = CpuDevice().allocate(capacity_bytes)
    assert block.size == capacity_bytes
    assert block.ctypes.data % 64 == 0
    block.fill(1)
    assert block[-1] == 1


def test_a_size_no_machine_has_is_a_memory_error() -> None:
    for capacity_bytes in (1 << 62, 1 << 70):
        with pytest.raises(MemoryError):
            CpuDevice().allocate(capacity_bytes)


def test_an_array_keeps_its_block_alive() -> None:
    device = CpuDevice()
    array = device.view(device.allocate(4 << 20), (1 << 20,), np.dtype(np.float32))
    array[:] = 3
    assert array[-1] == 3


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_large_blocks_go_back_to_the_system_when_released() -> None:
    program = """
from operad import storage
from operad.device import cpu
def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
manager = storage.get()
before = resident_bytes()
handles = [manager.alloc(16 << 20, cpu()) for _ in range(4)]
for handle in handles:
    handle.buffer[:] = 1
touched = resident_bytes()
for handle in handles:
    manager.free(handle)
pooled = resident_bytes()
manager.release_all(cpu())
released = resident_bytes()
assert touched - before > 48 << 20, (before, touched)
assert touched - pooled < 16 << 20, (touched, pooled)
assert released - before < 16 << 20, (before, released)
"""
    subprocess.run([sys.executable, "-c", program], check=True)
