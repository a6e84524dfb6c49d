"""Applying a program to arrays: element types, shapes, and the choice of a back end.

The choice depends on size, type and device only, never on what is compiled already or on timing:
the same call gives the same bits in every run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from operad.config import settings
from operad.errors import DTypeError, ShapeError
from operad_sdk.mapper.backends import with_numpy, with_python
from operad_sdk.mapper.ir import Program

BACKENDS: Final = ("auto", "python", "numpy", "numba")
NUMBA_FROM_SIZE: Final = 2048
"""Elements from which `auto` takes numba."""

_FLOAT16: Final = np.dtype(np.float16)
_FLOAT32: Final = np.dtype(np.float32)
_FLOATS: Final = (_FLOAT32, np.dtype(np.float64), _FLOAT16)

Array = np.ndarray[Any, Any]


def apply(
    program: Program, function: Callable[..., Any], args: Sequence[Any], out: Any, backend: str | None
) -> Any:
    """Fill `out`, or a new array, with the program of the broadcast arguments.

    Args:
        program: What to compute.
        function: Its plain-Python form.
        args: Arrays and numbers, in the order of the program's inputs.
        out: Array to fill, or None.
        backend: One of `BACKENDS`; None takes the setting `OPERAD_MAPPER`.

    Raises:
        DTypeError: An argument is no number or array of the common element type.
        ShapeError: Shapes do not broadcast, or `out` has another shape.
    """
    dtype = _element_type(program, args, out)
    compute = _FLOAT32 if dtype is _FLOAT16 else dtype
    values = [_operand(program, i, arg, dtype, compute) for i, arg in enumerate(args)]
    out = _output(program, values, out, dtype)
    chosen = settings().mapper if backend is None else backend
    if chosen == "auto":
        chosen = "numba" if out.size >= NUMBA_FROM_SIZE else "numpy"
    if chosen == "numba":
        from operad_sdk.mapper.backends import with_numba  # noqa: PLC0415 -- numba loads on first compiled use

        with_numba.run(program, compute, values, out)
        return out
    with np.errstate(all="ignore"):
        if chosen == "numpy":
            with_numpy.kernel(program, compute)(*values, out)
        else:
            with_python.run(function, values, out)
    return out


def _element_type(program: Program, args: Sequence[Any], out: Any) -> np.dtype[Any]:
    for arg in args:
        if isinstance(arg, np.ndarray):
            for dtype in _FLOATS:
                if arg.dtype == dtype:
                    return dtype
            raise DTypeError(
                f"mapper {program.name!r}: got an array of {arg.dtype}; mappers take float16, float32 or float64"
            )
    return np.dtype(np.float64) if out is None else _element_type(program, (out,), None)


def _operand(program: Program, index: int, arg: Any, dtype: np.dtype[Any], compute: np.dtype[Any]) -> Any:
    if isinstance(arg, np.ndarray):
        if arg.dtype != dtype:
            raise DTypeError(
                f"mapper {program.name!r}: argument {program.inputs[index]!r} is {arg.dtype}, "
                f"expected {dtype} as the first array; cast it with astype"
            )
        return arg if compute is dtype else arg.astype(compute)
    try:
        return compute.type(arg)
    except (TypeError, ValueError) as error:
        raise DTypeError(
            f"mapper {program.name!r}: argument {program.inputs[index]!r} is {arg!r}, expected an array or a number"
        ) from error


def _output(program: Program, values: Sequence[Any], out: Any, dtype: np.dtype[Any]) -> Array:
    arrays = [value for value in values if isinstance(value, np.ndarray)]
    shape = arrays[0].shape if arrays else ()
    if any(array.shape != shape for array in arrays[1:]):
        try:
            shape = np.broadcast_shapes(*(array.shape for array in arrays))
        except ValueError as error:
            shapes = ", ".join(str(array.shape) for array in arrays)
            raise ShapeError(f"mapper {program.name!r}: shapes {shapes} do not broadcast together") from error
    if out is None:
        return np.empty(shape, dtype)
    if out.dtype != dtype:
        raise DTypeError(f"mapper {program.name!r}: out is {out.dtype}, expected {dtype}")
    if out.shape != shape:
        raise ShapeError(f"mapper {program.name!r}: out has shape {out.shape}, expected {shape}")
    result: Array = out
    return result
