"""`mx.base`: the root of errors, and the names of plain types that programs import from there."""

from __future__ import annotations

import numpy as np

from operad.errors import OperadError

MXNetError = OperadError

string_types = (str,)
numeric_types = (float, int, np.generic)
integer_types = (int, np.int32, np.int64)


def py_str(text: bytes) -> str:
    """Text of UTF-8 bytes."""
    return text.decode("utf-8")
