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
from operad_sdk.mapper.backends.flat import is_flat
from operad_sdk.vector.array_calls import counted_call
from operad_sdk.vector.compiled import compiled

Bind = Callable[..., Callable[[], None]]
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
    """A call that fills `out` from operands that are arrays of `dtype` or scalars of its type."""
    bind = kernel(form, dtype, is_array)
    if out.dtype is dtype and is_flat(is_array, values, out):
        return bind(out.size, *values, out)
    return partial(_run_buffered, bind, dtype, is_array, values, out)


def _run_buffered(
    bind: Bind,
    dtype: np.dtype[Any],
    is_array: tuple[bool, ...],
    values: Sequence[Any],
    out: np.ndarray[Any, Any],
) -> None:
    """Strided, broadcast, unaligned or overlapping operands pass through contiguous buffers."""
    arrays = [value for flag, value in zip(is_array, values, strict=True) if flag]
    iterator = np.nditer(
        [*arrays, out],
        flags=["external_loop", "buffered", "zerosize_ok", "copy_if_overlap", "delay_bufalloc"],
        op_flags=[*([_READ] * len(arrays)), _WRITE],
        op_dtypes=[dtype] * (len(arrays) + 1),
        casting="same_kind",
        buffersize=BUFFER_SIZE,
    )
    operands = list(zip(is_array, values, strict=True))
    with iterator:
        iterator.reset()
        for chunk in iterator:
            # One operand comes as itself, several as a tuple; here there is always one for `out`.
            given: Any = chunk if arrays else (chunk,)
            filled = given[-1]
            if len(arrays) < len(operands):
                chunks = iter(given)
                given = [*[next(chunks) if flag else value for flag, value in operands], filled]
            bind(filled.size, *given)()


@lru_cache(maxsize=4096)
def kernel(form: ScalarForm, dtype: np.dtype[Any], is_array: tuple[bool, ...]) -> Bind:
    """The function that binds a number of elements, contiguous operands and output to a call."""
    if form.kind == "bool":  # a boolean is written as 1 or 0
        cast = Instruction("cast", (form.result,), "real")
        result = form.results[0]._replace(position=len(form.instructions))
        form = ScalarForm(form.name, form.inputs, (*form.instructions, cast), (result,))
    arrays = [np.empty(_SAMPLE if flag else (), dtype) for flag in (*is_array, True)]
    return counted_call(compiled(form, dtype).layout(arrays), (*is_array, True))
