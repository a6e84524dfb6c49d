"""Methods of arrays, contexts and executors that only MXNet's programs call.

Source: python/mxnet/ndarray/ndarray.py, context.py and executor.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import operad
from operad import Context, Executor, NDArray, Symbol
from operad.errors import UnsupportedError
from operad_mxnet.nd_functions import split_v2 as split_array

Indices = Sequence[int | None]


def as_nd_ndarray(self: NDArray) -> NDArray:
    """The array itself."""
    return self


def as_np_ndarray(self: Any) -> Any:
    """Raises UnsupportedError: there are no NumPy arrays of MXNet's."""
    raise UnsupportedError(
        "as_np_ndarray: there are no mx.np arrays here; NumPy's own functions take NDArrays, and x.asnumpy() "
        "is a NumPy array"
    )


def tostype(self: NDArray, stype: str) -> NDArray:
    """A copy with another storage type, which can be "default" only.

    Raises:
        UnsupportedError: It is another.
    """
    if stype != "default":
        raise UnsupportedError(f"tostype: stype is {stype!r}, and arrays are dense; expected 'default'")
    return self.copy()


def to_dlpack_for_read(self: NDArray) -> Any:
    """A DLPack capsule over the array's memory, after waiting for its values."""
    return operad.nd.to_dlpack_for_read(self)


def to_dlpack_for_write(self: NDArray) -> Any:
    """A DLPack capsule over the array's memory, after waiting for all that uses it."""
    return operad.nd.to_dlpack_for_write(self)


def slice_assign(self: NDArray, rhs: NDArray, begin: Indices, end: Indices, step: Indices) -> NDArray:
    """Write `rhs` into `self[begin:end:step]`, axis by axis; gives the array itself."""
    self[_slices(begin, end, step)] = rhs
    return self


def slice_assign_scalar(self: NDArray, value: float, begin: Indices, end: Indices, step: Indices) -> NDArray:
    """Write a number into `self[begin:end:step]`, axis by axis; gives the array itself."""
    self[_slices(begin, end, step)] = value
    return self


def _slices(begin: Indices, end: Indices, step: Indices) -> tuple[slice, ...]:
    steps = [*step, *[None] * (len(begin) - len(step))]
    return tuple(slice(*each) for each in zip(begin, end, steps, strict=True))


def split_v2(self: Any, indices_or_sections: Any, axis: int = 0, squeeze_axis: bool = False) -> Any:
    """The parts between some positions of an axis, or its equal parts."""
    if isinstance(self, Symbol):
        return operad.sym.split_v2(self, indices_or_sections, axis, squeeze_axis)
    return split_array(self, indices_or_sections, axis, squeeze_axis)


def empty_cache(self: Context) -> None:
    """Give memory that is kept for later arrays back to the system; arrays stay."""
    operad.nd.release_idle_memory(self)


def get_optimized_symbol(self: Executor) -> Symbol:
    """The graph that computes the outputs as it runs, after all passes; for a look at it."""
    return Symbol(self.program.graph.outputs[: len(self.outputs)])
