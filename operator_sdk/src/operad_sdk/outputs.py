"""Outputs that know how to be written."""

from __future__ import annotations

from types import ModuleType, TracebackType
from typing import Any, NamedTuple, final

import numpy as np

from operad.operator import Array, OpReq, Shape, assign


@final
class Absent(NamedTuple):
    """What an array that is not there would be like."""

    shape: Shape
    dtype: Any
    xp: ModuleType


@final
class Output:
    """One array that an operator is asked to fill, with the request.

    An author assigns or writes and never looks at the request. Prepared calls make it once; calls
    that are not prepared make one each time, so it holds no more than it must.

    Attributes:
        array: The array itself; None where nothing is wanted.
        req: What is asked for.

    Args:
        absent: What the array would be like where `array` is None.
    """

    __slots__ = ("_absent", "_temporary", "array", "req")

    _temporary: Array

    def __init__(self, array: Array | None, req: OpReq, absent: Absent | None = None) -> None:
        self.array = array
        self.req = req
        self._absent = absent
        if req is OpReq.NULL or array is None:
            self._want_nothing()

    def _want_nothing(self) -> None:
        if self.array is not None:
            self._absent = Absent(self.array.shape, self.array.dtype, np)
        self.array = None
        self.req = OpReq.NULL

    @property
    def wanted(self) -> bool:
        """Whether computing it is of use."""
        return self.req is not OpReq.NULL

    @property
    def shape(self) -> Shape:
        """Its shape, also where nothing is wanted."""
        shape: Shape = self._like.shape
        return shape

    @property
    def dtype(self) -> Any:
        """Its element type, also where nothing is wanted."""
        return self._like.dtype

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self.shape)

    @property
    def _like(self) -> Any:
        return self._absent if self.array is None else self.array

    def assign(self, value: Any) -> None:
        """Write `value`, or add it where that is the request, or do nothing.

        The value is broadcast to the shape and cast to the element type. A value that is the output
        already, as when an input was reshaped in place, costs nothing.
        """
        if self.req is OpReq.WRITE or (self.req is OpReq.INPLACE and not _is_same(self.array, value)):
            self.array[...] = value  # type: ignore[index]  # only an unwanted output has no array
        elif self.req is OpReq.INPLACE:
            return
        else:
            assign(self.array, self.req, value)

    def writing(self) -> Output:
        """`with output.writing() as out:` gives an array to overwrite completely.

        It is the output itself; where values are to be added, a temporary that is added at the end
        of the block unless that raises; where nothing is wanted, scratch memory.
        """
        return self

    def __enter__(self) -> Array:
        if self.req is OpReq.WRITE or self.req is OpReq.INPLACE:
            return self.array
        if self.req is OpReq.ADD:
            self._temporary = np.empty_like(self.array)  # dispatches to CuPy for its arrays
            return self._temporary
        absent = self._absent or Absent((), np.float64, np)
        return absent.xp.empty(absent.shape, absent.dtype)

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.req is OpReq.ADD:
            value, self._temporary = self._temporary, None
            if exc_type is None:
                assign(self.array, OpReq.ADD, value)


def _is_same(array: Array, value: Any) -> bool:
    """Whether `value` is the same elements in the same memory and order as `array`."""
    return (
        isinstance(value, type(array))  # NumPy's scalars are no arrays
        and value.dtype == array.dtype
        and value.size == array.size
        and value.flags.c_contiguous
        and array.flags.c_contiguous
        and _address(value) == _address(array)
    )


def _address(array: Array) -> int:
    pointer: int = array.ctypes.data if isinstance(array, np.ndarray) else array.data.ptr
    return pointer
