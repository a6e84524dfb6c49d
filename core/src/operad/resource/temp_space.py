"""Scratch memory that operators of one device take turns at."""

from __future__ import annotations

import math
from typing import Any, Final, final

import numpy as np

from operad.config import settings
from operad.device import Context
from operad.engine import Engine
from operad.resource.base import Resource
from operad.storage import POISON, Handle, Storage

_MOST: Final = 256
"""Kinds of arrays that a space keeps."""


@final
class TempSpace(Resource):
    """One block of scratch memory, which grows to the largest space asked for."""

    __slots__ = ("_debug", "_handle", "_storage", "_views")

    def __init__(self, ctx: Context, engine: Engine, storage: Storage) -> None:
        super().__init__(ctx, engine, "temp space")
        self._storage = storage
        self._debug = settings().debug
        self._handle: Handle | None = None
        # What was asked for, the same object again each time: runners know memory by it.
        self._views: dict[Any, Any] = {}

    def get_space(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """An array for use while the operation runs; undefined contents (NaN in debug mode).

        Every call gives the same memory. An operator that needs two spaces at once asks for one and
        splits it, or requests `TEMP_SPACE` twice.

        Raises:
            OutOfMemoryError: There is no memory left.

        Source: Resource::get_space, include/mxnet/resource.h.
        """
        found = self._views.get((shape, dtype))
        if found is None:
            size_bytes = math.prod(shape) * np.dtype(dtype).itemsize
            if self._handle is None or self._handle.capacity_bytes < size_bytes or len(self._views) > _MOST:
                self.release()
                self._handle = self._storage.alloc(size_bytes, self.ctx)
            found = self._views[shape, dtype] = self._handle.array(shape, dtype)
        if self._debug:
            assert self._handle is not None
            self._handle.buffer.fill(POISON)
        return found

    def release(self, _: object = None) -> None:
        """Give the memory back. Only an operation that mutates `var` may call this."""
        self._views.clear()
        if self._handle is not None:
            self._storage.free(self._handle)
            self._handle = None
