"""Arrays over memory of other libraries.

Source: `from_dlpack`, python/mxnet/dlpack.py.
"""

from __future__ import annotations

from typing import Any, Final, final

import numpy as np

from operad import Context, NDArray, cpu, current_context, nd
from operad.errors import ArgumentError

_DLPACK_CPU: Final = 1
_DLPACK_CUDA: Final = 2


def from_dlpack(dlpack: Any) -> NDArray:
    """An array over the memory of `dlpack`, which follows the DLPack protocol or is a capsule of the host's.

    Nothing is copied.

    Only the engine orders uses of the memory, so do not write to it through `dlpack` while
    operations on the result are pending.

    Raises:
        ArgumentError: `dlpack` does not follow the protocol.
        DTypeError: operad has no arrays of its element type.
    """
    if isinstance(dlpack, NDArray):
        return dlpack.detach()
    if type(dlpack).__name__ == "PyCapsule":
        return _over_one(np.asarray(_Writable(np.from_dlpack(_Capsule(dlpack)))), _context_of(_DLPACK_CPU, 0))
    if not hasattr(dlpack, "__dlpack_device__"):
        raise ArgumentError(
            f"from_dlpack: {type(dlpack).__name__} does not follow the DLPack protocol; use nd.array"
        )
    ctx = _context_of(*dlpack.__dlpack_device__())
    return _over_one(ctx.xp.from_dlpack(dlpack), ctx)


@final
class _Capsule:
    """Wrapper of a capsule from `__dlpack__`, such as MXNet's `to_dlpack_for_read`."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return _DLPACK_CPU, 0


@final
class _Writable:
    """The memory of an array that NumPy takes for read-only, since a capsule need not say what it is."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self._array = array  # which keeps the memory
        address, _ = array.__array_interface__["data"]
        self.__array_interface__ = {**array.__array_interface__, "data": (address, False)}


def _over_one(data: Any, ctx: Context) -> NDArray:
    [made] = nd.over([data], ctx)
    assert made is not None
    return made


def _context_of(device_type: int, device_id: int) -> Context:
    if device_type == _DLPACK_CUDA:
        return Context("gpu", device_id)
    default = current_context()
    return cpu() if default.is_gpu else default
