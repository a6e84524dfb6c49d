"""Outputs that know how to be written."""

from __future__ import annotations

from types import TracebackType
from typing import Any, final

import numpy as np

from operad.operator import Array, OpReq, Shape, assign


@final
class Output:
    """One array that an operator is asked to fill, with the request.

    An author assigns or writes and never looks at the request.

    Attributes:
        array: The array itself; None where nothing is wanted.
        req: What is asked for.
        shape: Its shape, also where nothing is wanted.
        dtype: Its element type.
    """

    __slots__ = ("_xp", "array", "dtype", "req", "shape")

    def __init__(self, array: Array | None, req: OpReq, shape: Shape, dtype: Any, xp: Any = np) -> None:
        self.array = None if req is OpReq.NULL else array
        self.req = OpReq.NULL if array is None else req
        self.shape = shape
        self.dtype = dtype
        self._xp = xp

    @property
    def wanted(self) -> bool:
        """Whether computing it is of use."""
        return self.req is not OpReq.NULL

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self.shape)

    def assign(self, value: Any) -> None:
        """Write `value`, or add it where that is the request, or do nothing.

        The value is broadcast to the shape and cast to the element type.
        """
        if self.req is OpReq.WRITE or self.req is OpReq.INPLACE:
            self.array[...] = value
        else:
            assign(self.array, self.req, value)

    def writing(self) -> Writing:
        """`with output.writing() as out:` gives an array to overwrite completely.

        It is the output itself; where values are to be added, a temporary that is added at the end
        of the block unless that raises; where nothing is wanted, scratch memory.
        """
        return Writing(self)

    def _temporary(self) -> Array:
        return self._xp.empty(self.shape, self.dtype)


@final
class Writing:
    """The context manager that `Output.writing` returns."""

    __slots__ = ("_array", "_output")

    def __init__(self, output: Output) -> None:
        self._output = output

    def __enter__(self) -> Array:
        output = self._output
        in_place = output.req is OpReq.WRITE or output.req is OpReq.INPLACE
        self._array = output.array if in_place else output._temporary()
        return self._array

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if exc_type is None and self._output.req is OpReq.ADD:
            assign(self._output.array, OpReq.ADD, self._array)
