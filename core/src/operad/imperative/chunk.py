"""The memory of arrays: one block, one engine variable, any number of views.

A chunk gives its block back when the last view of it is gone and the engine has finished with its
variable. Python runs finalizers at any point, also inside the engine while it holds its lock, so a
dying chunk does nothing but append its block to a list, the *limbo*, where it waits until it is idle.

It does so by functions of C alone. A `__del__` written in Python swallows every exception that comes from
outside while it runs: a Ctrl-C would be lost, and the block with it. So a chunk is an iterator whose
`__del__` is its own `__next__`, over an iterator that the block keeps, each step of which appends the block
to its limbo.
(As quick as the `__del__` it replaces, 250 ns with the making; `partial` in its place 470, a weak reference
with a callback 770.)

Small blocks are recycled whole, with variable and view: each size class has a limbo of its own, and the
next array of that class takes the block that came last, once it is seen to be idle.

# invariant: a block in a limbo belongs to nobody, and `pop` is atomic, so whoever pops it owns it.
# invariant: its variable is the one that every operation on the block named. So a block may be used
# again when its variable is idle; and it need not even be, for what its new owner pushes is ordered
# behind what is pending. Idle is asked for since the inline paths want it.
# invariant: a variable that carries a failure is not recycled (a failure holds its error, and is not to wait
# for the next array of that size, so it is looked for while there is any), and the version of one that is
# only counts up, so whoever remembers an old version sees a change.

Other blocks share one limbo, which the next allocation empties. In debug mode and without a pool all do,
so that the storage sees every use of a block. Whoever asks the storage what is in use, or to release what
is not, has every limbo emptied first.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from functools import partial
from itertools import filterfalse, repeat
from typing import Any, Final, final

import numpy as np

from operad import engine, storage
from operad.config import settings
from operad.device import Context
from operad.engine import Var
from operad.engine.failure import alive
from operad.storage import Handle, class_bytes

RECYCLED_BYTES: Final = 16384
"""The largest blocks that are recycled whole."""

_large: Final[deque[Handle]] = deque()
_small: Final[dict[tuple[Context, int], deque[Handle]]] = {}


NOTHING_TO_GIVE: Final = repeat(None)
"""`Handle.giver` of memory that is somebody else's."""

LENT: Final = "lent to another library"
"""`Chunk.owner` of memory that was handed out."""

_LOOKED_AT: Final = 16
"""Blocks of each limbo that are looked at for failures: the last ones."""


@final
class Chunk(filterfalse):  # type: ignore[type-arg]
    """A block of memory with the engine variable that orders its uses.

    It is made by `Chunk(None, handle.giver)`, and the maker sets every attribute.

    Attributes:
        handle: The block; None where the memory is somebody else's (DLPack, an executor's plan).
        var: Names the block to the engine.
        owner: Whatever keeps foreign memory alive; `LENT` for memory of ours that others may write.
        note: That a recorded call wrote the block; None if none did. See `aliases`.
    """

    __slots__ = ("handle", "note", "owner", "var")
    __del__ = filterfalse.__next__

    var: Var
    handle: Handle | None
    owner: Any
    note: Any


@final
class Export:
    """Host memory lent to another library: NumPy's array over it keeps the chunk alive."""

    __slots__ = ("__array_interface__", "chunk")

    def __init__(self, chunk: Chunk, data: np.ndarray[Any, Any]) -> None:
        self.chunk = chunk
        self.__array_interface__ = data.__array_interface__


def new_chunk(ctx: Context, size_bytes: int) -> Chunk:
    """Memory of at least `size_bytes` on `ctx`, with undefined contents."""
    handle = lend(limbo_of(ctx, size_bytes), ctx, size_bytes)
    chunk = Chunk(None, handle.giver)
    chunk.var = handle.var
    chunk.handle = handle
    chunk.owner = chunk.note = None
    return chunk


def limbo_of(ctx: Context, size_bytes: int) -> deque[Handle]:
    """Where blocks for `size_bytes` on `ctx` wait until they are idle."""
    if size_bytes > RECYCLED_BYTES or settings().debug or not settings().pool:
        return _large
    key = (ctx, class_bytes(size_bytes))
    found = _small.get(key)
    return found if found is not None else _small.setdefault(key, deque())


def recycles(limbo: deque[Handle]) -> bool:
    """Whether the blocks in `limbo` are all of one size, for the next array of that size."""
    return limbo is not _large


def lend(limbo: deque[Handle], ctx: Context, size_bytes: int) -> Handle:
    """An idle block with a variable, out of `limbo` or from the storage."""
    if alive:
        _set_failed_apart()
    if _large:
        bury(_large)
    if recycles(limbo):
        try:
            handle = limbo.pop()
        except IndexError:
            pass
        else:
            if handle.var.failure is None and engine.get().is_idle(handle.var):
                handle.var.version += 1
                handle.size_bytes = size_bytes
                handle.spec = None
                return handle
            limbo.appendleft(handle)
    handle = storage.get().alloc(size_bytes, ctx)
    if handle.limbo is not limbo:
        handle.limbo = limbo
        handle.giver = map(limbo.append, repeat(handle))
    handle.spec = None
    if handle.var is None or handle.var.failure is not None:
        handle.var = engine.get().new_variable()
    return handle


def _set_failed_apart() -> None:
    """Take blocks whose contents failed out of the limbos of their sizes."""
    for limbo in tuple(_small.values()):
        for place in range(-1, -1 - min(len(limbo), _LOOKED_AT), -1):
            # By number: other threads, and finalizers in this one, change it meanwhile.
            with suppress(IndexError, ValueError):
                handle = limbo[place]
                if handle.var.failure is not None:
                    limbo.remove(handle)
                    _large.append(handle)


def bury(limbo: deque[Handle] | None = None) -> None:
    """Give back the blocks in `limbo`, or in all, each as soon as the engine is done with it."""
    if limbo is None:
        for each in (_large, *_small.values()):
            bury(each)
        return
    while limbo:
        try:
            handle = limbo.popleft()
        except IndexError:  # perhaps another thread took the last one
            return
        var, handle.var = handle.var, None
        if engine.get().is_idle(var):
            storage.get().free(handle)
        else:
            engine.get().delete_variable(partial(_free, handle), handle.ctx, var, handle.size_bytes)


def _free(handle: Handle, *_: Any) -> None:
    storage.get().free(handle)


storage.on_sweep(bury)
