"""Host memory.

Blocks of 2 MiB and more are mapped for themselves, with huge pages asked for: first touch of a fresh
16 MiB block took 9.0 ms in small pages and 1.1 ms in huge ones, and a dropped block goes back to the
system at once instead of staying in the C heap. Smaller blocks come from the C heap through NumPy.
Measured and refused: placing large blocks at different offsets within a page, against 4 KiB aliasing
of loads and stores; `np.add` on 16 KiB to 16 MiB arrays was no faster.
"""

from __future__ import annotations

from typing import Any, Final, final

import numpy as np

from operad.storage.size_class import ALIGNMENT_BYTES
from operad.system import private_pages

_MAPPED_FROM_BYTES: Final = 2 << 20

_ndarray: Final = np.ndarray


@final
class CpuDevice:
    """Blocks of host memory as NumPy arrays."""

    __slots__ = ()

    def allocate(self, capacity_bytes: int) -> np.ndarray[Any, Any]:
        """A fresh aligned block of `capacity_bytes`."""
        if capacity_bytes >= _MAPPED_FROM_BYTES and (pages := _pages(capacity_bytes)) is not None:
            return _writable(np.frombuffer(pages, np.uint8))
        raw = np.empty(capacity_bytes + ALIGNMENT_BYTES - 1, np.uint8)
        start = -raw.ctypes.data % ALIGNMENT_BYTES
        return raw[start : start + capacity_bytes]

    def view(self, buffer: Any, shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
        """An array over the start of `buffer`."""
        return _writable(_ndarray(shape, dtype, buffer))

    def trim(self) -> None:
        """Nothing: mapped blocks went back when they were dropped, the C heap looks after the rest."""


def _pages(capacity_bytes: int) -> Any:
    try:
        return private_pages(capacity_bytes)
    except (OSError, OverflowError) as error:
        raise MemoryError(f"mmap of {capacity_bytes:,} bytes: {error}") from error


def _writable(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """`array`, which NumPy makes read-only where asking a buffer for more finds no memory."""
    if not array.flags.writeable:
        raise MemoryError("not enough memory for an array over a block")
    return array
