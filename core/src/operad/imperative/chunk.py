"""The memory of arrays: one block, one engine variable, any number of views.

A chunk gives its block back when the last view of it is gone and the engine has finished with its
variable. Python runs finalizers at any point, also inside the engine while it holds its lock, so a
dying chunk does nothing but append its block to a *deferred free list*, where it waits until it is idle.

It does so by functions of C alone. A `__del__` written in Python swallows every exception that comes from
outside while it runs: a Ctrl-C would be lost, and the block with it. So a chunk is an iterator whose
`__del__` is its own `__next__`, over an iterator that the block's lease keeps, each step of which appends the
lease to its deferred free list.
(As quick as the `__del__` it replaces, 250 ns with the making; `partial` in its place 470, a weak reference
with a callback 770.)

Small blocks are recycled whole, with variable and view: each size class has a deferred free list of its own,
and the next array of that class takes the block that came last, once it is seen to be idle.

# invariant: a block in a deferred free list has no owner, and `pop` is atomic, so the thread that pops it
# owns it.
# invariant: its variable is the one that every operation on the block named. So a block may be used
# again when its variable is idle; and it need not even be, for what its new owner pushes is ordered
# behind what is pending. Idle is asked for since the inline paths want it.
# invariant: a variable that carries a failure is not recycled (a failure holds its error, and is not to wait
# for the next array of that size, so it is looked for while there is any), and the version of one that is
# only counts up, so a reader that remembers an old version sees a change.

Other blocks share one list, which the next allocation empties. In debug mode and without a pool all do,
so that the storage sees every use of a block. The storage has every list emptied before it says what is in
use, or releases what is not.
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

NOTHING_TO_RECLAIM: Final = repeat(None)
"""`Lease.reclaimer` of memory that another library or an executor owns."""

EXPORTED: Final = "exported to another library"
"""`Chunk.owner` of memory of ours that another library may write."""

_LOOKED_AT: Final = 16
"""Blocks of each deferred free list that are looked at for failures: the last ones."""


@final
class Lease:
    """A block of the storage, and what arrays in it need; it lasts as long as the block.

    Attributes:
        handle: The block.
        var: Orders its uses.
        deferred: The deferred free list where it waits for the last of them.
        reclaimer: Puts it there, by each of its steps.
        spec: What the block was last used for; None if that is unknown.
        view: The array for `spec`.
    """

    __slots__ = ("deferred", "handle", "reclaimer", "spec", "var", "view")

    def __init__(self, handle: Handle) -> None:
        self.handle = handle
        self.var: Any = None
        self.deferred: deque[Lease] | None = None
        self.reclaimer: Any = None
        self.spec: Any = None
        self.view: Any = None

    def close(self) -> None:
        """See `Closable`."""
        self.spec = self.view = self.deferred = self.reclaimer = None


_large: Final[deque[Lease]] = deque()
_small: Final[dict[tuple[Context, int], deque[Lease]]] = {}


@final
class Chunk(filterfalse):  # type: ignore[type-arg]
    """A block of memory with the engine variable that orders its uses.

    It is made by `Chunk(None, lease.reclaimer)`, and the maker sets every attribute.

    Attributes:
        lease: The block; None for memory that is not the storage's (DLPack, an executor's plan).
        var: Names the block to the engine.
        owner: What keeps foreign memory alive; `EXPORTED` for memory of ours that others may write.
        note: That a recorded call wrote the block; None if none did. See `aliases`.
    """

    __slots__ = ("lease", "note", "owner", "var")
    __del__ = filterfalse.__next__

    var: Var
    lease: Lease | None
    owner: Any
    note: Any


@final
class Export:
    """Host memory that another library sees: NumPy's array over it keeps the chunk alive."""

    __slots__ = ("__array_interface__", "chunk")

    def __init__(self, chunk: Chunk, data: np.ndarray[Any, Any]) -> None:
        self.chunk = chunk
        self.__array_interface__ = data.__array_interface__


def new_chunk(ctx: Context, size_bytes: int) -> Chunk:
    """Memory of at least `size_bytes` on `ctx`, with undefined contents."""
    lease = acquire(deferred_list_of(ctx, size_bytes), ctx, size_bytes)
    chunk = Chunk(None, lease.reclaimer)
    chunk.var = lease.var
    chunk.lease = lease
    chunk.owner = chunk.note = None
    return chunk


def deferred_list_of(ctx: Context, size_bytes: int) -> deque[Lease]:
    """The deferred free list of blocks for `size_bytes` on `ctx`."""
    if size_bytes > RECYCLED_BYTES or settings().debug or not settings().pool:
        return _large
    key = (ctx, class_bytes(size_bytes))
    found = _small.get(key)
    return found if found is not None else _small.setdefault(key, deque())


def recycles(deferred: deque[Lease]) -> bool:
    """Return whether the blocks in `deferred` are all of one size, for the next array of that size."""
    return deferred is not _large


def acquire(deferred: deque[Lease], ctx: Context, size_bytes: int) -> Lease:
    """An idle block with a variable, out of `deferred` or from the storage."""
    if alive:
        _set_failed_apart()
    if _large:
        reclaim(_large)
    if recycles(deferred):
        try:
            lease = deferred.pop()
        except IndexError:
            pass
        else:
            if lease.var.failure is None and engine.get().is_idle(lease.var):
                lease.var.version += 1
                lease.handle.size_bytes = size_bytes
                lease.spec = None
                return lease
            deferred.appendleft(lease)
    handle = storage.get().alloc(size_bytes, ctx)
    record = handle.record or Lease(handle)
    assert isinstance(record, Lease)
    lease = handle.record = record
    if lease.deferred is not deferred:
        lease.deferred = deferred
        lease.reclaimer = map(deferred.append, repeat(lease))
    lease.spec = None
    if lease.var is None or lease.var.failure is not None:
        lease.var = engine.get().new_variable()
    return lease


def _set_failed_apart() -> None:
    """Take blocks whose contents failed out of the deferred free lists of their sizes."""
    for deferred in tuple(_small.values()):
        for position in range(-1, -1 - min(len(deferred), _LOOKED_AT), -1):
            # By number: other threads, and finalizers in this one, change it meanwhile.
            with suppress(IndexError, ValueError):
                lease = deferred[position]
                if lease.var.failure is not None:
                    deferred.remove(lease)
                    _large.append(lease)


def reclaim(deferred: deque[Lease] | None = None) -> None:
    """Free the blocks in `deferred`, or in all lists, each as soon as the engine is done with it."""
    if deferred is None:
        for each in (_large, *_small.values()):
            reclaim(each)
        return
    while deferred:
        try:
            lease = deferred.popleft()
        except IndexError:  # perhaps another thread took the last one
            return
        handle, var, lease.var = lease.handle, lease.var, None
        if engine.get().is_idle(var):
            storage.get().free(handle)
        else:
            engine.get().delete_variable(partial(_free, handle), handle.ctx, var, handle.size_bytes)


def _free(handle: Handle, *_: Any) -> None:
    storage.get().free(handle)


storage.on_sweep(reclaim)
