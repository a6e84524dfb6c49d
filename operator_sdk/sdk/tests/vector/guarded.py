"""Arrays beside pages that may not be touched: what reads or writes beyond them ends the process."""

from __future__ import annotations

import ctypes
import mmap

import numpy as np

_LIBC = ctypes.CDLL(None, use_errno=True)
_NO_ACCESS = 0


def guarded(shape, dtype, *, at_end=True):
    """An array that ends where such a page begins, or begins where one ends."""
    dtype = np.dtype(dtype)
    size_bytes = int(np.prod(shape)) * dtype.itemsize
    room = -(-size_bytes // mmap.PAGESIZE) * mmap.PAGESIZE
    pages = mmap.mmap(-1, room + 2 * mmap.PAGESIZE)
    begin = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    for page in (begin, begin + mmap.PAGESIZE + room):
        if _LIBC.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(mmap.PAGESIZE), _NO_ACCESS):
            raise OSError(ctypes.get_errno(), "mprotect")
    offset = mmap.PAGESIZE + (room - size_bytes if at_end else 0)
    return np.frombuffer(pages, dtype, int(np.prod(shape)), offset).reshape(shape)
