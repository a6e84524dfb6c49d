"""`mx.base`: the root of errors, and what programs import from there.

What ties MXNet's Python to its C library (handles, `check_call`, `c_array`) has no counterpart.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import numpy as np

from operad.dtypes import from_type_flag
from operad.errors import OperadError, UnsupportedError

MXNetError = OperadError
NotImplementedForSymbol = UnsupportedError
NotSupportedForSparseNDArray = UnsupportedError

mx_real_t = np.float32
string_types = (str,)
numeric_types = (float, int, np.generic)
integer_types = (int, np.int32, np.int64)


py_slice = slice
_DTYPE_MX_TO_NP: Final[dict[int, Any]] = {-1: None, **{flag: from_type_flag(flag).type for flag in range(12)}}
_DTYPE_NP_TO_MX: Final = {
    **{dtype: flag for flag, dtype in _DTYPE_MX_TO_NP.items()},
    **{np.dtype(dtype): flag for flag, dtype in _DTYPE_MX_TO_NP.items() if dtype},  # as arrays have them
}


def py_str(x: bytes | str) -> str:
    """Text of UTF-8 bytes, or text as it is."""
    return x if isinstance(x, str) else x.decode("utf-8")


def _as_list(obj: Any) -> Any:
    """A list or tuple as it is, and anything else in a list."""
    return obj if isinstance(obj, (list, tuple)) else [obj]


def data_dir_default() -> str:
    """The folder for data that programs download, unless the environment says another."""
    return str(Path.home() / ".mxnet")


def data_dir() -> str:
    """The folder for data that programs download: `MXNET_HOME`, or the default."""
    return os.environ.get("MXNET_HOME", data_dir_default())
