"""Recognition of arrays that are runs of memory, which a loop may walk side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

_RUN: Final = 0x0101  # of NumPy's flags NPY_ARRAY_C_CONTIGUOUS and NPY_ARRAY_ALIGNED
_WRITEABLE: Final = 0x0400
_OWNS: Final = 0x0004


def is_flat(is_array: tuple[bool, ...], values: Sequence[Any], out: np.ndarray[Any, Any]) -> bool:
    """Return whether every array is one contiguous run of memory that does not partly overlap `out`."""
    own, shape = out.flags.num, out.shape
    if own & (_RUN | _WRITEABLE) != _RUN | _WRITEABLE:
        return False
    for flag, array in zip(is_array, values, strict=True):
        if flag and array is not out:
            flags = array.flags.num
            if flags & _RUN != _RUN or array.shape != shape:
                return False
            # Two arrays that own their memory have none in common.
            is_apart = flags & own & _OWNS or not np.may_share_memory(array, out)
            if not is_apart and array.ctypes.data != out.ctypes.data:
                return False
    return True
