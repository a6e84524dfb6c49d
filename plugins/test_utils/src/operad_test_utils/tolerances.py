"""Tolerances for the difference of results, by element type.

Numbers are those of MXNet 1.9.1. Where two arrays differ in type the coarser one decides.

Source: python/mxnet/test_utils.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

DType = np.dtype[Any]
Tolerance = float | Mapping[Any, float] | None

_EXACT: Final = ("bool", "int8", "uint8", "int32", "uint32", "int64", "uint64")


def default_dtype() -> type[np.generic]:
    """The element type of arrays whose type is not said."""
    return np.float32


def default_rtols() -> dict[DType, float]:
    """Relative tolerances."""
    return _by_type(float16=1e-2, float32=1e-4, float64=1e-5)


def default_atols() -> dict[DType, float]:
    """Absolute tolerances."""
    return _by_type(float16=1e-1, float32=1e-3, float64=1e-20)


def default_numeric_eps() -> dict[DType, float]:
    """Distances between the two points of a difference: powers of two, so that they are exact."""
    return {np.dtype("float16"): 2**-6, np.dtype("float32"): 2**-9, np.dtype("float64"): 2**-14}


def effective_dtype(dat: Any) -> DType:
    """The element type by which an array is compared."""
    return np.dtype(dat.dtype) if hasattr(dat, "dtype") else np.asarray(dat).dtype


def get_tolerance(dat: Any, tol: Tolerance, default_tol: Mapping[DType, float]) -> float:
    """The tolerance for one array.

    Args:
        dat: The array.
        tol: One for all types, or some by type; None: the default.
        default_tol: By type; others are exact.
    """
    if tol is not None and not isinstance(tol, Mapping):
        return float(tol)
    chosen = {**default_tol, **{np.dtype(key): value for key, value in (tol or {}).items()}}
    return chosen.get(effective_dtype(dat), 0.0)


def get_tols(x: Any, y: Any, rtol: Tolerance, atol: Tolerance) -> tuple[float, float]:
    """Relative and absolute tolerance for two arrays: the larger of each."""
    relative, absolute = default_rtols(), default_atols()
    return (
        max(get_tolerance(x, rtol, relative), get_tolerance(y, rtol, relative)),
        max(get_tolerance(x, atol, absolute), get_tolerance(y, atol, absolute)),
    )


def get_rtol(rtol: Any = None, dtype: Any = np.float64) -> Any:
    """`rtol`, or the default of a type."""
    return default_rtols()[np.dtype(dtype)] if rtol is None else rtol


def get_atol(atol: Any = None, dtype: Any = np.float64) -> Any:
    """`atol`, or the default of a type."""
    return default_atols()[np.dtype(dtype)] if atol is None else atol


def get_etol(etol: float | None = None) -> float:
    """`etol`, the part of elements that may differ; none by default."""
    return 0 if etol is None else etol


def _by_type(**floating: float) -> dict[DType, float]:
    return {np.dtype(name): value for name, value in {**floating, **dict.fromkeys(_EXACT, 0.0)}.items()}
