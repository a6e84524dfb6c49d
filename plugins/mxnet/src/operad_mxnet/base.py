"""`mx.base`: the root of errors, and what programs import from there.

What ties MXNet's Python to its C library (handles, `check_call`, `c_array`) has no counterpart.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from operad.errors import OperadError, UnsupportedError

MXNetError = OperadError
NotImplementedForSymbol = UnsupportedError
NotSupportedForSparseNDArray = UnsupportedError

mx_real_t = np.float32
string_types = (str,)
numeric_types = (float, int, np.generic)
integer_types = (int, np.int32, np.int64)


def py_str(x: bytes) -> str:
    """Text of UTF-8 bytes."""
    return x.decode("utf-8")


def data_dir_default() -> str:
    """The folder for data that programs download, unless the environment says another."""
    return str(Path.home() / ".mxnet")


def data_dir() -> str:
    """The folder for data that programs download: `MXNET_HOME`, or the default."""
    return os.environ.get("MXNET_HOME", data_dir_default())
