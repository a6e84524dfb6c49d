"""The storage manager: one pool per context, and the process's own instance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, final

from operad.config import settings
from operad.device import Context, num_gpus
from operad.errors import StorageError
from operad.locks import new_lock
from operad.storage.cpu import CpuDevice
from operad.storage.cuda import gpu_device, pinned_device
from operad.storage.handle import Handle
from operad.storage.pool import Device, Pool
from operad.storage.size_class import Stats
from operad.system import at_fork


def device_for(ctx: Context) -> Device:
    """The source of memory for `ctx`.

    Raises:
        ContextError: This machine lacks the device, or CuPy.
    """
    if ctx.is_gpu:
        return gpu_device(ctx)
    if ctx.device_type == "cpu_pinned" and num_gpus():
        return pinned_device(ctx)
    return CpuDevice()


@final
class Storage:
    """Lends out blocks of memory and keeps freed ones for reuse.

    Thread-safe. A block must be freed only when nothing uses it any more; waiting for that is the
    business of the layer that knows the engine.

    Args:
        make_device: Where the memory of a context comes from.

    Source: Storage, include/mxnet/storage.h; pooling after src/storage/pooled_storage_manager.h.
    Differs: pools every device, counts, and keeps a bounded amount.
    """

    __slots__ = ("_debug", "_limit_bytes", "_lock", "_make_device", "_pools")

    def __init__(self, make_device: Callable[[Context], Device] = device_for) -> None:
        options = settings()
        self._limit_bytes = options.pool_limit_bytes if options.pool else 0
        self._debug = options.debug
        self._make_device = make_device
        self._lock = new_lock()
        self._pools: dict[Context, Pool] = {}

    def alloc(self, size_bytes: int, ctx: Context) -> Handle:
        """Lend out a block of at least `size_bytes` on `ctx`; contents are undefined.

        Raises:
            OutOfMemoryError: There is no memory left, even after the pool was emptied.
            ContextError: This machine lacks the device.
        """
        return (self._pools.get(ctx) or self._pool(ctx)).alloc(size_bytes)

    def free(self, handle: Handle) -> None:
        """Give a block back to its pool.

        Raises:
            StorageError: The handle is freed already.
        """
        if handle.freed:
            raise _freed_twice(handle)
        handle.freed = True
        handle.pool.give_back(handle)

    def release_all(self, ctx: Context) -> None:
        """Give the idle blocks of `ctx` back to the system; blocks in use stay."""
        _sweep()
        self._release(ctx)

    def _release(self, ctx: Context) -> None:
        pool = self._pools.get(ctx)
        if pool is not None:
            pool.release_idle()

    def stats(self, ctx: Context) -> Stats:
        """Memory held on `ctx`; all zero where nothing was ever allocated."""
        _sweep()
        pool = self._pools.get(ctx)
        return pool.stats() if pool is not None else Stats(0, 0, 0, 0, 0)

    def reset_after_fork(self) -> None:
        """Make the storage usable in a forked child; its blocks are the child's own copies."""
        for pool in self._pools.values():
            pool.reset_after_fork()

    def _pool(self, ctx: Context) -> Pool:
        with self._lock:
            pool = self._pools.get(ctx)
            if pool is None:
                device = self._make_device(ctx)
                pool = Pool(
                    ctx, device, self._limit_bytes, self._debug, self._lock, lambda: self._release_like(ctx)
                )
                self._pools[ctx] = pool
            return pool

    def _release_like(self, ctx: Context) -> None:
        # cpu(0) and cpu(1) are queues over the same memory, so both pools can help out.
        for other in tuple(self._pools):
            if other.device_type == ctx.device_type:
                self._release(other)


def _freed_twice(handle: Handle) -> StorageError:
    return StorageError(f"free: {handle!r} was freed before; each handle is freed once, by its owner")


_sweeps: Final[list[Callable[[], None]]] = []


def on_sweep(give_back: Callable[[], None]) -> None:
    """Have `give_back` called, with no lock held, before blocks are counted or released.

    For a layer that keeps blocks which are of no use any more, to hand them on faster than a pool does.
    """
    _sweeps.append(give_back)


def _sweep() -> None:
    for give_back in _sweeps:
        give_back()


_process_storage: Storage | None = None
_creation_lock: Final = new_lock()


def get() -> Storage:
    """The process's storage; settings are read when it is first asked for."""
    global _process_storage
    if _process_storage is None:
        with _creation_lock:
            if _process_storage is None:
                made = _process_storage = Storage()
                at_fork(after_in_child=made.reset_after_fork)
    return _process_storage
