"""Recognition of arrays that are runs of memory, which a loop may walk side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def is_flat(is_array: tuple[bool, ...], values: Sequence[Any], out: np.ndarray[Any, Any]) -> bool:
    """Return whether every array is one contiguous run of memory that does not partly overlap `out`."""
    if not out.flags.carray:
        return False
    for flag, array in zip(is_array, values, strict=True):
        if flag and array is not out:
            flags = array.flags
            if array.shape != out.shape or not (flags.c_contiguous and flags.aligned):
                return False
            if np.may_share_memory(array, out) and array.ctypes.data != out.ctypes.data:
                return False
    return True
