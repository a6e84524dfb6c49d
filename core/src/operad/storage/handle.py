"""A block of device memory that was handed out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol, final

from operad.device import Context
from operad.errors import StorageError

if TYPE_CHECKING:
    from operad.storage.pool import Pool

_NOTHING_CACHED: Final = (None, None, None)


class Closable(Protocol):
    """Record that a holder of blocks keeps with each."""

    def close(self) -> None:
        """The block is gone: release what refers to its handle."""


@final
class Handle:
    """Memory that `Storage.alloc` has handed out.

    Outside debug mode the pool keeps the handle together with its block and hands both out again,
    so a handle says nothing, and must not be touched, after it was freed.

    Attributes:
        size_bytes: Bytes asked for.
        capacity_bytes: Bytes the block has: `size_bytes` rounded up to its size class.
        ctx: Device the block lies on.
        buffer: The block, one-dimensional `uint8`, of the device's array module, 64-byte aligned.
        freed: Whether the handle was given back.
        record: What the holder keeps with the block, as long as the block lasts: opaque here.
        pool: The pool the block belongs to; the allocator's own, as is `free_list`, where it waits.

    Source: Storage::Handle, include/mxnet/storage.h.
    """

    __slots__ = (
        "_cached", "buffer", "capacity_bytes", "ctx", "free_list", "freed", "pool", "record", "size_bytes",
    )  # fmt: skip

    def __init__(self, buffer: Any, size_bytes: int, pool: Pool, free_list: list[Handle]) -> None:
        self.buffer = buffer
        self.size_bytes = size_bytes
        self.capacity_bytes = int(buffer.size)
        self.ctx: Context = pool.ctx
        self.freed = False
        self.pool = pool
        self.free_list = free_list
        self.record: Closable | None = None
        # One tuple, replaced whole, so that threads that read one array agree on what they see.
        self._cached: tuple[Any, Any, Any] = _NOTHING_CACHED

    def array(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """An array over the start of the block: `shape`, `dtype`, C order, undefined contents.

        The last array is kept and returned again for the same shape and dtype, because a pooled
        block mostly returns to its old use (0.15 us for the kept one, 0.7 us for a new one). So
        never set attributes of the array, such as its shape or its write flag.

        Raises:
            StorageError: The block is too small, or was freed (found only in debug mode).
        """
        shape_cached, dtype_cached, view = self._cached
        if dtype is dtype_cached and shape == shape_cached:
            return view
        buffer = self.buffer
        try:
            view = self.pool.device.view(buffer, shape, dtype)
        except (TypeError, ValueError) as error:
            raise StorageError(
                f"array: an array of shape {shape!r} and type {dtype!r} does not fit "
                f"the {self.capacity_bytes} bytes of {self!r}"
            ) from error
        self._cached = (shape, dtype, view)
        return view

    def revoke(self) -> None:
        """Take the block away: any later use of the handle raises `StorageError`."""
        self._cached = _NOTHING_CACHED
        if self.record is not None:
            self.record.close()
            self.record = None
        del self.buffer

    def __getattr__(self, name: str) -> Any:
        # Called only where a slot is empty, which is how `revoke` leaves `buffer`.
        if name == "buffer":
            raise StorageError(
                f"buffer: {self!r} was freed; keep the array that owns it alive while it is used"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        state = "freed" if self.freed else "in use"
        return f"<Handle of {self.size_bytes} bytes on {self.ctx!r}, {state}>"
