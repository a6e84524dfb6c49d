"""The numba back end: one compiled loop for a form, an element type and a pattern of operands.

The loop is written to a Python file named by the hash of its own text in the cache folder, and numba
caches the machine code beside it; numba's cache only knows functions that live in files, and a
name made of the text can never find code of another text. A later process compiles nothing.
Refused: caching by the author's file, which would miss changes in mappers that the form inlines.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, final

import numba
import numpy as np

from operad.locks import new_lock
from operad.operator import Instruction, ScalarForm
from operad_sdk.code_folder import code_folder
from operad_sdk.mapper.backends import llvm
from operad_sdk.mapper.backends.flat import is_flat
from operad_sdk.mapper.emit import python_lines
from operad_sdk.mapper.expansions import expanded
from operad_sdk.numba_setup import keep_numba_quiet

keep_numba_quiet()

Kernel = Callable[..., None]
_READ: Final[Any] = ["readonly", "contig", "aligned"]
_WRITE: Final[Any] = ["writeonly", "contig", "aligned", "no_broadcast"]
BUFFER_SIZE: Final = 8192
"""Elements that go through the kernel at a time when operands are not contiguous."""

_HEADER: Final = '''"""Loop of mapper {name!r} for {dtype}, written by operad; numba {version}."""
from math import erf, erfc, gamma, lgamma
import numpy
from numba import njit
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
_lock: Final = new_lock()
_kernels: Final[dict[tuple[ScalarForm, np.dtype[Any], tuple[bool, ...]], Kernel]] = {}


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
    key = (form, dtype, is_array)
    found = _kernels.get(key)
    if found is None:
        with _lock:
            found = _kernels.get(key)
            if found is None:
                found = _kernels[key] = _loaded(source(form, dtype, is_array))
    return found


def source(form: ScalarForm, dtype: np.dtype[Any], is_array: tuple[bool, ...]) -> str:
    """The Python module that numba compiles."""
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
    kind = f"Array({dtype.name}, 1, 'C', readonly=True)"
    types = ", ".join([*(kind if flag else dtype.name for flag in is_array), f"{dtype.name}[::1]"])
    arguments = ", ".join([*(f"a{i}" for i in range(len(is_array))), "out"])
    return "\n".join(
        [
            _HEADER.format(name=form.name, dtype=dtype.name, version=numba.__version__),
            f"revision = {_REVISION!r}",
            *(f"{name} = {text}" for text, name in constants.items()),
            f'@njit("void({types})", nogil=True, error_model="numpy", cache=True)',
            f"def kernel({arguments}):",
            "    for i in range(out.size):",
            *(f"        {line}" for line in [*loads, *lines, f"out[i] = {result}"]),
            "",
        ]
    )


def _loaded(text: str) -> Kernel:
    """Import `text` from its file in the cache folder, which compiles it or finds it compiled."""
    name = f"operad_mapper_{hashlib.sha256(text.encode()).hexdigest()[:32]}"
    path = _written(name, text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # numba looks the module up by name when it loads cached code
    spec.loader.exec_module(module)
    dispatcher = module.kernel
    was_cached = sum(dispatcher.stats.cache_hits.values()) > 0
    statistics.loaded += was_cached
    statistics.compiled += not was_cached
    result: Kernel = dispatcher
    return result


def _written(name: str, text: str) -> Path:
    path = code_folder("mappers") / f"{name}.py"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        # A complete file appears at once, whatever other processes do.
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(temporary).replace(path)
    return path
