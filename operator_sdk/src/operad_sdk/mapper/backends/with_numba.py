"""The numba back end: one compiled loop for a form, an element type and a pattern of operands.

The loop is the text of a module whose name is the hash of that text, which finds its machine code again
(`operad_sdk.jit`): a later process compiles nothing. Refused: caching by the author's file, which would miss
changes in mappers that the form inlines.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any, Final, final

import numba
import numpy as np

from operad.operator import Instruction, ScalarForm
from operad_sdk.jit import jit
from operad_sdk.mapper.backends import llvm
from operad_sdk.mapper.backends.flat import is_flat
from operad_sdk.mapper.emit import python_lines
from operad_sdk.mapper.expansions import expanded
from operad_sdk.once import Once

Kernel = Callable[..., None]
_READ: Final[Any] = ["readonly", "contig", "aligned"]
_WRITE: Final[Any] = ["writeonly", "contig", "aligned", "no_broadcast"]
BUFFER_SIZE: Final = 8192
"""Elements that go through the kernel at a time when operands are not contiguous."""

_HEADER: Final = '''"""Loop of mapper {name!r} for {dtype}, written by operad; numba {version}."""
from math import erf, erfc, gamma, lgamma
import numpy
from numpy import arccos as acos, arccosh as acosh, arcsin as asin, arcsinh as asinh, arctan as atan
from numpy import arctan2 as atan2, arctanh as atanh, cbrt, cos, fmod, hypot, power, sin, tan
from operad_sdk.mapper.backends.llvm import ceil, copysign, exponent, fabs as abs, floor, fma, mantissa
from operad_sdk.mapper.backends.llvm import pow2, rint, scaled, sqrt, trunc
'''
_REVISION: Final = hashlib.sha256(inspect.getsource(llvm).encode()).hexdigest()[:16]
"""Part of the text, because numba's cache does not see a change in the functions a loop calls."""


@final
@dataclass(slots=True)
class Statistics:
    """Numbers of kernels that this process compiled, and that it found compiled."""

    compiled: int = 0
    loaded: int = 0


statistics: Final = Statistics()
_kernels: Final[Once[tuple[ScalarForm, np.dtype[Any], tuple[bool, ...]], Kernel]] = Once()


def prepare(
    form: ScalarForm,
    dtype: np.dtype[Any],
    is_array: tuple[bool, ...],
    values: Sequence[Any],
    out: np.ndarray[Any, Any],
) -> Callable[[], None]:
    """A call that fills `out` from operands that are arrays of `dtype` or scalars of its type."""
    loop = kernel(form, dtype, is_array)
    if out.dtype is dtype and is_flat(is_array, values, out):
        if out.ndim != 1:
            values = [
                value.reshape(-1) if flag else value for flag, value in zip(is_array, values, strict=True)
            ]
            out = out.reshape(-1)
        return partial(loop, *values, out)
    return partial(_run_buffered, loop, dtype, is_array, values, out)


def _run_buffered(
    loop: Kernel,
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
    with iterator:
        iterator.reset()
        for chunk in iterator:
            # One operand comes as itself, several as a tuple; here there is always one for `out`.
            operands = iter(chunk if arrays else (chunk,))
            loop(
                *(next(operands) if flag else value for flag, value in zip(is_array, values, strict=True)),
                next(operands),
            )


def kernel(form: ScalarForm, dtype: np.dtype[Any], is_array: tuple[bool, ...]) -> Kernel:
    """The compiled loop: operands in order, arrays of one dimension and contiguous, then the output."""
    return _kernels.get((form, dtype, is_array), _made, form, dtype, is_array)


def source(form: ScalarForm, dtype: np.dtype[Any], is_array: tuple[bool, ...]) -> str:
    """The Python module of which numba compiles the function `kernel`."""
    lowered = expanded(form, dtype)
    constants: dict[str, str] = {}

    def constant(step: Instruction) -> str:
        if step.kind == "bool":
            return str(bool(step.value))
        text = f"numpy.{dtype.name}(float({str(step.value)!r}))"
        return constants.setdefault(text, f"c{len(constants)}")

    names = [f"x{i}" if flag else f"a{i}" for i, flag in enumerate(is_array)]
    lines, result = python_lines(lowered, names, constant)
    if lowered.kind == "bool":
        one, zero = (constant(Instruction("constant", (), "real", value)) for value in (1.0, 0.0))
        result = f"{one} if {result} else {zero}"
    loads = [f"x{i} = a{i}[i]" for i, flag in enumerate(is_array) if flag]
    arguments = ", ".join([*(f"a{i}" for i in range(len(is_array))), "out"])
    return "\n".join(
        [
            _HEADER.format(name=form.name, dtype=dtype.name, version=numba.__version__),
            f"revision = {_REVISION!r}",
            *(f"{name} = {text}" for text, name in constants.items()),
            f"def kernel({arguments}):",
            "    for i in range(out.size):",
            *(f"        {line}" for line in [*loads, *lines, f"out[i] = {result}"]),
            "",
        ]
    )


def _made(form: ScalarForm, dtype: np.dtype[Any], is_array: tuple[bool, ...]) -> Kernel:
    """The loop of a form, compiled or found compiled."""
    text = source(form, dtype, is_array)
    module = ModuleType(f"operad_mapper_{hashlib.sha256(text.encode()).hexdigest()[:32]}")
    sys.modules[module.__name__] = module  # numba looks the module up by name when it loads compiled code
    exec(compile(text, f"<mapper {form.name}>", "exec"), vars(module))  # noqa: S102 -- our own text
    loop = jit(module.kernel, text.encode(), nogil=True, error_model="numpy")
    kind = f"Array({dtype.name}, 1, 'C', readonly=True)"
    types = ", ".join([*(kind if flag else dtype.name for flag in is_array), f"{dtype.name}[::1]"])
    loop.compile(f"void({types})")
    loop.disable_compile()
    was_loaded = sum(loop.stats.cache_hits.values()) > 0
    statistics.loaded += was_loaded
    statistics.compiled += not was_loaded
    result: Kernel = loop
    return result
