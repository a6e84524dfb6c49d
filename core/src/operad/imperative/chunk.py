"""The memory of arrays: one block, one engine variable, any number of views.

A chunk gives its block back when the last view of it is gone and the engine has finished with its
variable. Python runs finalizers at any point, also inside the engine while it holds its lock, so a
dying chunk only leaves a note on a list (an atomic append); the next allocation acts on it.
"""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import Any, Final, final

import numpy as np

from operad import engine, storage
from operad.context import Context
from operad.engine import Var
from operad.storage import Handle

_graveyard: Final[deque[tuple[Handle, Var]]] = deque()


@final
class Chunk:
    """A block of memory with the engine variable that orders its uses.

    Attributes:
        handle: The block; None where the memory is somebody else's (DLPack, an executor's plan).
        var: Names the block to the engine.
        ctx: Device the block lies on.
        owner: Whatever keeps foreign memory alive.
    """

    __slots__ = ("ctx", "handle", "owner", "var")

    def __init__(self, ctx: Context, var: Var, handle: Handle | None, owner: Any = None) -> None:
        self.ctx = ctx
        self.var = var
        self.handle = handle
        self.owner = owner

    def __del__(self) -> None:
        if self.handle is not None:
            _graveyard.append((self.handle, self.var))


@final
class Export:
    """Host memory lent to another library: NumPy's array over it keeps the chunk alive."""

    __slots__ = ("__array_interface__", "chunk")

    def __init__(self, chunk: Chunk, data: np.ndarray[Any, Any]) -> None:
        self.chunk = chunk
        self.__array_interface__ = data.__array_interface__


def new_chunk(ctx: Context, size_bytes: int) -> Chunk:
    """Memory of at least `size_bytes` on `ctx`, with undefined contents."""
    if _graveyard:
        bury()
    return Chunk(ctx, engine.get().new_variable(), storage.get().alloc(size_bytes, ctx))


def bury() -> None:
    """Give back the memory of dead chunks, each as soon as the engine is done with it."""
    current, store = engine.get(), storage.get()
    while _graveyard:
        try:
            handle, var = _graveyard.popleft()
        except IndexError:  # another thread took the last one
            return
        if current.is_idle(var):
            store.free(handle)
        else:
            current.delete_variable(partial(_free, handle), handle.ctx, var)


def _free(handle: Handle, *_: Any) -> None:
    storage.get().free(handle)
