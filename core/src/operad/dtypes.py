"""Element types: NumPy's, with MXNet 1.x's type numbers for files.

Source: mshadow/base.h (`TypeFlag`). Differs: bfloat16 is not supported.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from operad.errors import DTypeError

DType = np.dtype[Any]

DEFAULT_DTYPE: Final[DType] = np.dtype(np.float32)

_NAMES: Final = (
    "float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool", "int16", "uint16", "uint32",
    "uint64",
)  # fmt: skip
"""In the order of MXNet's numbers."""
_DTYPES: Final = frozenset(map(np.dtype, _NAMES))
_BY_NAME: Final[dict[object, DType]] = {name: np.dtype(name) for name in _NAMES}


def as_dtype(value: object) -> DType:
    """`value` (a dtype, a scalar type or a name) as a supported NumPy dtype.

    Raises:
        DTypeError: It names no element type, or one operad does not store.
    """
    if isinstance(value, np.dtype) and value in _DTYPES:
        return value
    if value.__class__ is str and (named := _BY_NAME.get(value)) is not None:
        return named
    if isinstance(value, type) and isinstance(own := getattr(value, "dtype", None), np.dtype):
        value = own  # of an element type, whose hash NumPy would ask for inside C code
    if value is None:  # which NumPy takes for float64
        raise DTypeError("None is not an element type")
    try:
        dtype: DType = np.dtype(value)  # type: ignore[call-overload]  # anything may be asked
    except (TypeError, ValueError, SyntaxError) as error:
        raise DTypeError(f"{value!r} is not an element type") from error
    if dtype.name not in _NAMES:
        raise DTypeError(f"element type {dtype.name!r} is not supported; expected one of {', '.join(_NAMES)}")
    return dtype.newbyteorder("=")


def type_flag(dtype: DType) -> int:
    """MXNet's number for `dtype`."""
    return _NAMES.index(as_dtype(dtype).name)


def from_type_flag(flag: int) -> DType:
    """The dtype that MXNet numbers `flag`.

    Raises:
        DTypeError: The number is unknown.
    """
    if flag not in range(len(_NAMES)):
        raise DTypeError(f"unknown MXNet type number {flag}; expected 0..{len(_NAMES) - 1}")
    return np.dtype(_NAMES[flag])


def is_floating(dtype: DType) -> bool:
    """Return whether gradients can flow through arrays of `dtype`."""
    return dtype.kind == "f"
