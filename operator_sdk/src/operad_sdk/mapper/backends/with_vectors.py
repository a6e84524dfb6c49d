"""The compiled back end: a form in vector code, as parts of operators and fused clusters have it.

One kernel serves a form, an element type and a pattern of operands; the number of elements is an argument of
its call. Refused: kernels for strides, each of which would be compiled on its own. What is not contiguous
passes through buffers, as in NumPy's own functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np

from operad.operator import Instruction, ScalarForm
from operad_sdk.mapper.backends import with_numpy
from operad_sdk.mapper.backends.flat import is_flat
from operad_sdk.vector.array_calls import ArrayCall, counted_call
from operad_sdk.vector.compiled import compiled
from operad_sdk.vector.primitives import NoVectorCodeError

_READ: Final[Any] = ["readonly", "contig", "aligned"]
_WRITE: Final[Any] = ["writeonly", "contig", "aligned", "no_broadcast"]
BUFFER_SIZE: Final = 8192
"""Elements that go through the kernel at a time when operands are not contiguous."""
_SAMPLE: Final = 64
"""Elements of the arrays for which a kernel is made; any number but 1 gives the same."""


def prepare(
    form: ScalarForm,
    dtype: np.dtype[Any],
    is_array: tuple[bool, ...],
    values: Sequence[Any],
    out: np.ndarray[Any, Any],
) -> Callable[[], None]:
    """A call that fills `out` from operands that are arrays of `dtype` or scalars of its type.

    NumPy computes a form that has no vector code.
    """
    call = kernel(form, dtype, is_array)
    if isinstance(call, str):
        return with_numpy.prepare(form, dtype, is_array, values, out)
    operands = [value if flag else np.array(value) for flag, value in zip(is_array, values, strict=True)]
    if out.dtype is dtype and is_flat(is_array, operands, out):
        return partial(call, out.size, *operands, out)
    return partial(_run_buffered, call, dtype, is_array, operands, out)


def _run_buffered(
    call: ArrayCall,
    dtype: np.dtype[Any],
    is_array: tuple[bool, ...],
    operands: Sequence[Any],
    out: np.ndarray[Any, Any],
) -> None:
    """Strided, broadcast, unaligned or overlapping operands pass through contiguous buffers."""
    arrays = [operand for flag, operand in zip(is_array, operands, strict=True) if flag]
    iterator = np.nditer(
        [*arrays, out],
        flags=["external_loop", "buffered", "zerosize_ok", "copy_if_overlap", "delay_bufalloc"],
        op_flags=[*([_READ] * len(arrays)), _WRITE],
        op_dtypes=[dtype] * (len(arrays) + 1),
        casting="same_kind",
        buffersize=BUFFER_SIZE,
    )
    with iterator:
        iterator.reset()
        for chunk in iterator:
            # One operand comes as itself, several as a tuple; here there is always one for `out`.
            given = iter(chunk if arrays else (chunk,))
            chunks = [
                next(given) if flag else operand for flag, operand in zip(is_array, operands, strict=True)
            ]
            filled = next(given)
            call(filled.size, *chunks, filled)


@lru_cache(maxsize=4096)
def kernel(form: ScalarForm, dtype: np.dtype[Any], is_array: tuple[bool, ...]) -> ArrayCall | str:
    """The number of elements, contiguous operands and output to one call; a text: there is no vector code."""
    if form.kind == "bool":  # a truth value is written as 1 or 0
        cast = Instruction("cast", (form.result,), "real")
        result = form.results[0]._replace(position=len(form.instructions))
        form = ScalarForm(form.name, form.inputs, (*form.instructions, cast), (result,))
    arrays = [np.empty(_SAMPLE if flag else (), dtype) for flag in is_array]
    try:
        return counted_call(compiled(form, dtype).layout([*arrays, np.empty(_SAMPLE, dtype)]))
    except NoVectorCodeError as error:
        return str(error)
