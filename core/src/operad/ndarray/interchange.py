"""Arrays over memory of other libraries.

Source: `from_dlpack`, python/mxnet/dlpack.py.
"""

from __future__ import annotations

from typing import Any, Final

from operad import engine
from operad.context import Context, cpu, current_context
from operad.errors import ArgumentError
from operad.imperative import Chunk
from operad.ndarray.ndarray import NDArray, wrap

_DLPACK_CUDA: Final = 2


def from_dlpack(source: Any) -> NDArray:
    """An array over the memory of `source`, which follows the DLPack protocol; nothing is copied.

    Only the engine orders uses of the memory, so do not write to it through `source` while
    operations on the result are pending.

    Raises:
        ArgumentError: `source` does not follow the protocol.
        DTypeError: operad has no arrays of its element type.
    """
    if isinstance(source, NDArray):
        return source.detach()
    if not hasattr(source, "__dlpack_device__"):
        raise ArgumentError(
            f"from_dlpack: {type(source).__name__} does not follow the DLPack protocol; use nd.array"
        )
    ctx = _context_of(*source.__dlpack_device__())
    return over(ctx.xp.from_dlpack(source), ctx)


def over(data: Any, ctx: Context) -> NDArray:
    """An array over the memory of a plain array of `ctx`, which nothing else may change meanwhile."""
    return wrap(data, Chunk(ctx, engine.get().new_variable(), None, owner=data))


def _context_of(device_type: int, device_id: int) -> Context:
    if device_type == _DLPACK_CUDA:
        return Context("gpu", device_id)
    default = current_context()
    return cpu() if default.is_gpu else default
