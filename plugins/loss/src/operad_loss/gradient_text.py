"""The gradient of the cross-entropy in vector code: rows of probabilities, less 1 at the label, scaled."""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Final

import numpy as np

from operad_sdk import Array, DType
from operad_sdk.vector import (
    KERNEL_PARAMETERS,
    LANES,
    NAME,
    BoundKernel,
    Kernel,
    TableLayout,
    Writer,
    array_call,
)
from operad_sdk.vector.array_calls import ArrayCall

KINDS: Final = ("float32", "float64")
MOST_CLASSES: Final = 1 << 24
"""Numbers of classes are floating ones in the kernel; up to here every one is exact."""
_LOCKED: Final = 1 << 14
"""Elements for which it is not worth giving the interpreter's lock back."""


def write_gradient(probabilities: Array, label: Array, scale: float, out: Array) -> None:
    """Write `(probabilities - onehot(label)) * scale`, which may be the probabilities' memory.

    Args:
        probabilities: (N, C), float32 or float64, as all arrays.
        label: (N,); what is no class stands nowhere.

    Raises:
        NoVectorCodeError: There is no vector code in this process.
    """
    layout, call = _prepared(out.dtype, out.shape, scale)
    arrays = [np.ascontiguousarray(array) for array in (probabilities, label)]
    target = out if out.flags.c_contiguous else np.empty(out.shape, out.dtype)
    if call is None:
        BoundKernel(layout, [*arrays, target]).run()
    else:
        call(*arrays, target)
    if target is not out:
        out[...] = target


@lru_cache(maxsize=256)
def _prepared(dtype: DType, shape: tuple[int, int], scale: float) -> tuple[TableLayout, ArrayCall | None]:
    packed = struct.pack("<d" if dtype.itemsize > 4 else "<f4x", scale)
    table = (0, 0, 0, shape[1], *struct.unpack("<q", packed))
    layout = TableLayout(_kernel(dtype.name), shape[0], table, (0, 1, 2))
    return layout, array_call(layout, 2, keeps_lock=shape[0] * shape[1] <= _LOCKED)


@lru_cache(maxsize=2)
def _kernel(kind: str) -> Kernel:
    return Kernel(gradient_text(kind))


def gradient_text(kind: str) -> str:
    """The kernel. Its table: probabilities, labels, result, number of columns, and the scale's bits."""
    size = np.dtype(kind).itemsize
    code = Writer(NAME, KERNEL_PARAMETERS, LANES[size])
    probabilities, labels, results = (code.pointer(code.word("%table", i)) for i in range(3))
    columns, scale = code.word("%table", 3), code.broadcast(kind, code.address("%table", "32"))
    vector, whole = code.vector(kind), code.vector("int64")
    one, zero = code.constant(kind, 1), code.constant(kind, 0)

    def row(number: str, _: list[str]) -> list[str]:
        begin = code.multiply(code.multiply(number, columns), size)
        source, target = code.address(probabilities, begin), code.address(results, begin)
        given = code.broadcast(kind, code.address(labels, code.multiply(number, size)))
        label = code.intrinsic("trunc", kind, given)

        def some(column: str, _: list[str]) -> list[str]:
            at, mask = code.multiply(column, size), code.mask(column, columns)
            found = code.load_masked(kind, code.address(source, at), mask)
            classes = code.value(f"add {whole} {code.numbers()}, {code.splat('int64', column)}")
            classes = code.value(f"sitofp {whole} {classes} to {vector}")
            is_label = code.value(f"fcmp oeq {vector} {classes}, {label}")
            known = code.value(f"select <{code.lanes} x i1> {is_label}, {vector} {one}, {vector} {zero}")
            difference = code.value(f"fsub {vector} {found}, {known}")
            result = code.value(f"fmul {vector} {difference}, {scale}")
            code.store_masked(kind, result, code.address(target, at), mask)
            return []

        code.loop("0", columns, code.lanes, [], some)
        return []

    code.loop("%first", "%last", 1, [], row)
    return code.module()
