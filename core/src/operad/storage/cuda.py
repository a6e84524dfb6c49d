"""GPU memory, and host memory that a GPU can copy from.

Blocks come from CuPy's current allocator rather than from the driver, so that operad's arrays and
the temporaries that CuPy makes inside an operator draw on one store: what one gives back the other
can use.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from math import prod
from types import ModuleType
from typing import Any, final

import numpy as np

from operad import context
from operad.context import Context


@final
class ArrayModuleDevice:
    """Blocks of whatever memory an array module's `empty` gives.

    Args:
        xp: `cupy`, or any module with `empty` and NumPy's array methods.
        selected: Makes a context manager under which `xp` allocates on the right device.
        trim: Gives the system what the module's own allocator keeps.
    """

    __slots__ = ("_selected", "_trim", "_xp")

    def __init__(
        self, xp: ModuleType, selected: Callable[[], AbstractContextManager[Any]], trim: Callable[[], None]
    ) -> None:
        self._xp = xp
        self._selected = selected
        self._trim = trim

    def allocate(self, capacity_bytes: int) -> Any:
        """A fresh block; CuPy aligns to 512 bytes and its out-of-memory error is a `MemoryError`."""
        with self._selected():
            return self._xp.empty(capacity_bytes, dtype=np.uint8)

    def view(self, buffer: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        """An array over the start of `buffer`."""
        size_bytes = prod(shape) * np.dtype(dtype).itemsize
        if size_bytes > buffer.size:
            raise ValueError(f"{size_bytes} bytes wanted, {buffer.size} there")
        return buffer[:size_bytes].view(dtype).reshape(shape)

    def trim(self) -> None:
        """Empty the array module's own pool."""
        with self._selected():
            self._trim()


def gpu_device(ctx: Context) -> ArrayModuleDevice:
    """The source of blocks for a `gpu` context.

    Raises:
        ContextError: CuPy is not installed or the device is not there.
    """
    cupy = context.gpu(ctx.device_id).xp
    return ArrayModuleDevice(
        cupy,
        lambda: cupy.cuda.Device(ctx.device_id),
        lambda: cupy.get_default_memory_pool().free_all_blocks(),
    )


@final
class PinnedDevice:
    """Page-locked host memory, as NumPy arrays.

    Args:
        cupy: The array module of the GPU that will copy from it.
    """

    __slots__ = ("_cupy",)

    def __init__(self, cupy: ModuleType) -> None:
        self._cupy = cupy

    def allocate(self, capacity_bytes: int) -> np.ndarray[Any, Any]:
        """A fresh page-locked block."""
        memory = self._cupy.cuda.alloc_pinned_memory(capacity_bytes)
        return np.frombuffer(memory, np.uint8, capacity_bytes)

    def view(self, buffer: Any, shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
        """An array over the start of `buffer`."""
        return np.ndarray(shape, dtype, buffer)

    def trim(self) -> None:
        """Empty CuPy's pool of page-locked memory."""
        self._cupy.get_default_pinned_memory_pool().free_all_blocks()


def pinned_device(ctx: Context) -> PinnedDevice:
    """The source of blocks for a `cpu_pinned` context.

    Raises:
        ContextError: CuPy is not installed or the device is not there.
    """
    return PinnedDevice(context.gpu(ctx.device_id).xp)
