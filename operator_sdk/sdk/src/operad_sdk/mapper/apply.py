"""Applying a form to arrays: element types, shapes, and the choice of a back end.

The choice depends on size, type and device, and on whether there is vector code here, never on what is
compiled already or on timing: in one environment the same call gives the same bits in every run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, Final

import numpy as np

from operad.config import settings
from operad.context import Context
from operad.errors import DTypeError, ShapeError
from operad.first_use import import_module
from operad.operator import ScalarForm
from operad_sdk.form_kernels import reason_against
from operad_sdk.mapper.backends import with_cuda, with_numpy, with_python
from operad_sdk.mapper.errors import MapperError

BACKENDS: Final = ("auto", "python", "numpy", "vector")
VECTOR_FROM_SIZE: Final = 2048
"""Elements from which `auto` takes vector code, whose first kernel of a process costs LLVM's import."""

_FLOAT16: Final = np.dtype(np.float16)
_FLOAT32: Final = np.dtype(np.float32)
_FLOAT64: Final = np.dtype(np.float64)
_ONE_ARRAY: Final = (True,)
_VECTOR_MODULE: Final = "operad_sdk.mapper.backends.with_vectors"
_FLOATS: Final = (_FLOAT32, _FLOAT64, _FLOAT16)

Prepared = tuple[np.dtype[Any], tuple[bool, ...], Sequence[Any], Any]
"""Element type, which operands are arrays, operands with numbers cast to the type, output."""


def prepare(
    form: ScalarForm, function: Callable[..., Any], args: Sequence[Any], out: Any, backend: str | None
) -> tuple[Callable[[], Any], Any]:
    """A call that fills `out`, or a new array, with the form of the broadcast arguments.

    Args:
        form: What to compute.
        function: It as a plain Python function.
        args: Arrays and numbers, in the order of the form's inputs.
        out: Array to fill, or None.
        backend: One of `BACKENDS`; None takes the setting `OPERAD_MAPPER`. GPU arrays have one
            back end of their own, whatever is said here, and so have arrays with a method
            `__array_mapper__(form, args, out)`, which gives the result.

    Returns:
        The call, and the array it fills.

    Raises:
        DTypeError: An argument is no number or array of the common element type.
        ShapeError: Shapes do not broadcast, or `out` has another shape.
        MapperError: `backend` is `vector`, of which there is none here.
    """
    alike = _alike(args, out)
    if alike is None:
        for arg in (*args, out):
            if hasattr(arg, "__array_mapper__"):
                return _done, arg.__array_mapper__(form, args, out)
    dtype, is_array, values, out = alike or _checked(form, args, out)
    if not isinstance(out, np.ndarray):
        return with_cuda.prepare(form, dtype, values, out), out
    chosen = settings().mapper if backend is None else backend
    if chosen == "auto":
        is_worth_it = out.size >= VECTOR_FROM_SIZE and callable(_with_vectors())
        chosen = "vector" if is_worth_it else "numpy"
    if dtype is _FLOAT16:
        return partial(_as_float32, chosen, form, function, is_array, values, out), out
    return _on_cpu(chosen, form, function, dtype, is_array, values, out), out


def _done() -> None:
    """Do nothing: there is nothing left to compute."""


def _on_cpu(
    backend: str,
    form: ScalarForm,
    function: Callable[..., Any],
    dtype: np.dtype[Any],
    is_array: tuple[bool, ...],
    values: Sequence[Any],
    out: Any,
) -> Callable[[], Any]:
    if backend == "vector":
        compiled = _with_vectors()
        if isinstance(compiled, str):
            raise MapperError(f"back end 'vector' of mappers: {compiled}; 'auto' takes NumPy then")
        return compiled(form, dtype, is_array, values, out)
    if backend == "numpy":
        return with_numpy.prepare(form, dtype, is_array, values, out)
    return with_python.prepare(function, values, out)


def _as_float32(
    backend: str,
    form: ScalarForm,
    function: Callable[..., Any],
    is_array: tuple[bool, ...],
    values: Sequence[Any],
    out: Any,
) -> None:
    wide = [value.astype(_FLOAT32) if flag else value for flag, value in zip(is_array, values, strict=True)]
    result = np.empty(out.shape, _FLOAT32)
    _on_cpu(backend, form, function, _FLOAT32, is_array, wide, result)()
    with np.errstate(all="ignore"):
        out[...] = result


@cache
def _with_vectors() -> Callable[..., Callable[[], None]] | str:
    """Back end of vector code, imported on first use, not with the SDK; a text: why this process has none."""
    if (reason := reason_against()) is not None:
        return reason
    prepare: Callable[..., Callable[[], None]] = import_module(_VECTOR_MODULE).prepare
    return prepare


def _alike(args: Sequence[Any], out: Any) -> Prepared | None:
    """Prepared arguments of the usual case: NumPy arrays of one type and one shape, and plain numbers."""
    first = args[0]
    if type(first) is not np.ndarray:
        return None
    dtype, shape = first.dtype, first.shape
    if dtype is not _FLOAT32 and dtype is not _FLOAT64:
        return None
    if out is None:
        out = np.empty(shape, dtype)
    elif type(out) is not np.ndarray or out.dtype is not dtype or out.shape != shape:
        return None
    if len(args) == 1:
        return dtype, _ONE_ARRAY, args, out
    is_array, values = [], []
    for arg in args:
        kind = type(arg)
        if kind is np.ndarray:
            if arg.dtype is not dtype or arg.shape != shape:
                return None
        elif kind is float or kind is int:
            arg = dtype.type(arg)
        else:
            return None
        is_array.append(kind is np.ndarray)
        values.append(arg)
    return dtype, tuple(is_array), values, out


def _checked(form: ScalarForm, args: Sequence[Any], out: Any) -> Prepared:
    """Prepared arguments of the general case, with every error."""
    arrays = [arg for arg in args if _is_array(arg)]
    dtype = _element_type(form, arrays if out is None else [*arrays, out])
    compute = _FLOAT32 if dtype is _FLOAT16 else dtype
    values = [_operand(form, i, arg, dtype, compute) for i, arg in enumerate(args)]
    return dtype, tuple(map(_is_array, args)), values, _output(form, arrays, out, dtype)


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) or hasattr(value, "__cuda_array_interface__")


def _element_type(form: ScalarForm, arrays: Sequence[Any]) -> np.dtype[Any]:
    if not arrays:
        return _FLOAT64
    found = arrays[0].dtype
    for dtype in _FLOATS:
        if found == dtype:
            return dtype
    raise DTypeError(f"mapper {form.name!r}: got an array of {found}, expected float16, float32 or float64")


def _operand(form: ScalarForm, index: int, arg: Any, dtype: np.dtype[Any], compute: np.dtype[Any]) -> Any:
    if _is_array(arg):
        if arg.dtype != dtype:
            raise DTypeError(
                f"mapper {form.name!r}: argument {form.inputs[index]!r} is {arg.dtype}, "
                f"expected {dtype} as the first array; cast it with astype"
            )
        return arg
    try:
        return compute.type(arg)
    except (TypeError, ValueError) as error:
        raise DTypeError(
            f"mapper {form.name!r}: argument {form.inputs[index]!r} is {arg!r}, expected an array or a number"
        ) from error


def _output(form: ScalarForm, arrays: Sequence[Any], out: Any, dtype: np.dtype[Any]) -> Any:
    shape = arrays[0].shape if arrays else ()
    for array in arrays[1:]:
        if array.shape != shape:
            shape = _broadcast(form, arrays)
            break
    if out is None:
        is_on_gpu = any(not isinstance(array, np.ndarray) for array in arrays)
        return (Context("gpu").xp if is_on_gpu else np).empty(shape, dtype)
    if out.dtype != dtype:
        raise DTypeError(f"mapper {form.name!r}: out is {out.dtype}, expected {dtype}")
    if out.shape != shape:
        raise ShapeError(f"mapper {form.name!r}: out has shape {out.shape}, expected {shape}")
    return out


def _broadcast(form: ScalarForm, arrays: Sequence[Any]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError as error:
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise ShapeError(f"mapper {form.name!r}: shapes {shapes} do not broadcast together") from error
