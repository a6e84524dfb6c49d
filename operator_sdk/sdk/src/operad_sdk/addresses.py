"""Addresses of arrays' elements.

Asking NumPy (`array.ctypes.data`) takes 2 microseconds, and a kernel has six arrays. NumPy's C interface has
the address directly behind the head of the object, which Python's `id` names; `is_possible` compares one such
address with what NumPy says.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

DATA: Final = object.__basicsize__
"""Offset of the address in an array: `PyArrayObject_fields` has it first, behind `PyObject_HEAD`; and of the
number in `PyFloatScalarObject` and `PyDoubleScalarObject`."""


@cache
def is_possible() -> bool:
    """Return whether arrays have their addresses, and numbers themselves, where NumPy's C interface says."""
    sample, size = np.zeros(3), ctypes.sizeof(ctypes.c_void_p)
    if size != ctypes.sizeof(ctypes.c_longlong) or type(sample).__basicsize__ < DATA + size:
        return False
    numbers = (ctypes.c_float, np.float32(1.5)), (ctypes.c_double, np.float64(1.5))
    return ctypes.c_longlong.from_address(id(sample) + DATA).value == sample.ctypes.data and all(
        kind.from_address(id(number) + DATA).value == number for kind, number in numbers
    )


def data_address(array: NDArray[Any]) -> int:
    """Address of the first element, as `array.ctypes.data`."""
    if is_possible():
        return ctypes.c_longlong.from_address(id(array) + DATA).value
    return array.ctypes.data


def span(array: NDArray[Any]) -> tuple[int, int]:
    """Addresses between which an array's elements are: of the first one, and behind the last."""
    if array.flags.c_contiguous:
        begin = data_address(array)
        return begin, begin + array.nbytes
    return np.lib.array_utils.byte_bounds(array)


def overlaps(array: NDArray[Any], spans: Sequence[tuple[int, int]]) -> list[int]:
    """Numbers of the spans that an array reaches into.

    `numpy.may_share_memory` takes some microseconds for a pair, and a kernel of six arrays has a dozen.
    """
    begin, end = span(array)
    return [i for i, (first, last) in enumerate(spans) if begin < last and first < end]
