"""Addresses of arrays' elements.

Asking NumPy (`array.ctypes.data`) takes 2 microseconds, and a kernel has six arrays. NumPy's C interface has
the address directly behind the head of the object, which Python's `id` names; `is_possible` compares one such
address with what NumPy says.
"""

from __future__ import annotations

import ctypes
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
