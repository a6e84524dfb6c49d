"""Arrays over memory of other libraries."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from operad import engine
from operad.device import Context
from operad.dtypes import as_dtype
from operad.imperative import NOTHING_TO_RECLAIM, Chunk, spec_of
from operad.ndarray.ndarray import NDArray

_new: Final = object.__new__


def over(datas: Iterable[Any], ctx: Context) -> list[NDArray | None]:
    """Arrays over the memory of plain arrays of `ctx`, which nothing else may change meanwhile; or None."""
    made: list[NDArray | None] = []
    for data in datas:
        if data is None:
            made.append(None)
            continue
        # What the constructors do, which an operation that calls operators does for each of its arrays.
        chunk, array = Chunk(None, NOTHING_TO_RECLAIM), _new(NDArray)
        chunk.var = engine.Var()
        chunk.lease = chunk.note = None
        chunk.owner = array._data = data
        array._chunk = chunk
        array._spec = spec_of(data.shape, as_dtype(data.dtype), ctx)
        array._autograd = None
        made.append(array)
    return made
