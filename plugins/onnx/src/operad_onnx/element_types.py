"""Element types of ONNX and NumPy."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from onnx import TensorProto

from operad.errors import DTypeError

_NUMBERS: Final[dict[str, int]] = {
    "float32": TensorProto.FLOAT,
    "float64": TensorProto.DOUBLE,
    "float16": TensorProto.FLOAT16,
    **{f"{sign}int{bits}": getattr(TensorProto, f"{sign}INT{bits}".upper())
       for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "bool": TensorProto.BOOL,
}  # fmt: skip
_DTYPES: Final = {number: np.dtype(name) for name, number in _NUMBERS.items()}


def number_of(dtype: Any) -> int:
    """ONNX's number of an element type."""
    return _NUMBERS[np.dtype(dtype).name]


def dtype_of(number: int, what: str) -> np.dtype[Any]:
    """The element type that ONNX numbers.

    Raises:
        DTypeError: Arrays here have no such type (text, complex numbers, bfloat16, 4 and 8 bits).
    """
    if number not in _DTYPES:
        known = TensorProto.DataType.items()
        name = next((name for name, value in known if value == number), str(number))
        raise DTypeError(f"{what} has the element type {name}, expected one of {', '.join(_NUMBERS)}")
    return _DTYPES[number]
