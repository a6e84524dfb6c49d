"""GPU memory, and host memory that a GPU can copy from.

Blocks come from CuPy's current allocator rather than from the driver, so that operad's arrays and
the temporaries that CuPy makes inside an operator draw on one store: what one gives back the other
can use.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, final

import numpy as np

from operad import device
from operad.device import Context


@final
class ArrayModuleDevice:
    """Blocks of whatever memory gives arrays with NumPy's methods.

    Args:
        allocate: Makes a fresh block of so many bytes.
        trim: Gives the system what the layer below keeps.
    """

    __slots__ = ("allocate", "trim")

    def __init__(self, allocate: Callable[[int], Any], trim: Callable[[], None]) -> None:
        self.allocate = allocate
        self.trim = trim

    def view(self, buffer: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        """An array over the start of `buffer`."""
        size_bytes = prod(shape) * np.dtype(dtype).itemsize
        if size_bytes > buffer.size:
            raise ValueError(f"{size_bytes} bytes requested, {buffer.size} available")
        return buffer[:size_bytes].view(dtype).reshape(shape)


def gpu_device(ctx: Context) -> ArrayModuleDevice:
    """The source of blocks for a `gpu` context.

    CuPy aligns them to 512 bytes, and its out-of-memory error is a `MemoryError`.

    Raises:
        ContextError: CuPy is not installed or the device is not there.
    """
    device.check_gpu(ctx)
    cupy = ctx.xp

    def allocate(capacity_bytes: int) -> Any:
        with cupy.cuda.Device(ctx.device_id):
            return cupy.empty(capacity_bytes, dtype=np.uint8)

    def trim() -> None:
        with cupy.cuda.Device(ctx.device_id):
            cupy.get_default_memory_pool().free_all_blocks()

    return ArrayModuleDevice(allocate, trim)


def pinned_device(ctx: Context) -> ArrayModuleDevice:
    """The source of blocks for a `cpu_pinned` context: page-locked host memory, as NumPy arrays.

    Raises:
        ContextError: The device is not there.
    """
    gpu = device.gpu(ctx.device_id)
    device.check_gpu(gpu)
    cupy = gpu.xp

    def allocate(capacity_bytes: int) -> Any:
        return np.frombuffer(cupy.cuda.alloc_pinned_memory(capacity_bytes), np.uint8, capacity_bytes)

    return ArrayModuleDevice(allocate, cupy.get_default_pinned_memory_pool().free_all_blocks)
