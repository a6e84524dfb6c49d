"""Shape, type and device of an array as one interned object.

Imperative calls look up what they need to know about an operator by the specifications of its
inputs. Interned specifications hash and compare by identity, so that look-up costs no hashing of
shapes, and an output's specification comes ready from the same look-up.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, Final, final
from weakref import WeakValueDictionary

from operad.device import Context
from operad.dtypes import DType
from operad.imperative.chunk import deferred_list_of
from operad.op import Shape


@final
class ArraySpec:
    """Specification of an array, apart from its contents; made by `spec_of`.

    Attributes:
        deferred: The deferred free list of blocks for such arrays; see `chunk`.
        copy: What copies small arrays to one; the hot path's own, as `fill`.
    """

    __slots__ = ("__weakref__", "copy", "ctx", "deferred", "dtype", "fill", "nbytes", "shape", "size")

    def __init__(self, shape: Shape, dtype: DType, ctx: Context) -> None:
        self.shape = shape
        self.dtype = dtype
        self.ctx = ctx
        self.size = math.prod(shape)
        self.nbytes = self.size * dtype.itemsize
        self.deferred = deferred_list_of(ctx, self.nbytes)
        self.copy: Any = None
        self.fill: Any = None

    def __repr__(self) -> str:
        return f"{self.dtype.name}{self.shape} on {self.ctx}"


_interned: Final[WeakValueDictionary[tuple[Any, ...], ArraySpec]] = WeakValueDictionary()


@lru_cache(1024)  # a look-up in the weak dictionary costs four times as much
def spec_of(shape: Shape, dtype: DType, ctx: Context) -> ArraySpec:
    """The one `ArraySpec` of these; `shape` must be a tuple of int."""
    key = (shape, dtype, ctx)
    found = _interned.get(key)
    return found if found is not None else _interned.setdefault(key, ArraySpec(*key))
