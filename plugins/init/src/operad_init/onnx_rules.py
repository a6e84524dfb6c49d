"""Arrays of numbers that are known, as ONNX constants, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

Rule = str | Callable[[Any], Any]


def _filled(value: float | None) -> Callable[[Any], Any]:
    def rule(node: Any) -> Any:
        number = node.op.value if value is None else value
        return node.add("Expand", node.const(number, node.out_dtypes[0]), node.out_shape())

    return rule


def _eye(node: Any) -> Any:
    rows, columns = node.fixed_lengths(None, 0)
    return node.const(np.eye(rows, columns, node.op.k), node.out_dtypes[0])


def _arange(node: Any) -> Any:
    op, (count,) = node.op, node.fixed_lengths(None, 0)
    stop = op.stop
    start = 0 if stop is None else op.start
    values = start + op.step * np.arange(-(-count // op.repeat))
    return node.const(np.repeat(values, op.repeat)[:count], node.out_dtypes[0])


def _linspace(node: Any) -> Any:
    op = node.op
    return node.const(np.linspace(op.start, op.stop, op.num, op.endpoint), node.out_dtypes[0])


def _arange_like(node: Any) -> Any:
    op, shape = node.op, node.fixed_lengths(None, 0)
    values = op.start + op.step * np.repeat(np.arange(-(-int(np.prod(shape)) // op.repeat)), op.repeat)
    return node.const(values[: int(np.prod(shape))].reshape(shape), node.out_dtypes[0])


EXPORTS: Final[Mapping[str, Rule]] = {
    "_zeros": _filled(0),
    "_ones": _filled(1),
    "_full": _filled(None),
    "_eye": _eye,
    "_arange": _arange,
    "_linspace": _linspace,
    "_contrib_arange_like": _arange_like,
    "_copyto": "Identity",
}


def _constant_of_shape(node: Any) -> Any:
    value = np.asarray(node.tensor("value", np.zeros(1, np.float32))).reshape(-1)
    shape = node.ints("shape", 0)
    return node.call("_full", shape=shape, value=float(value[0]), dtype=value.dtype.name)


def _eye_like(node: Any) -> Any:
    rows, columns = node.shape()
    dtype = node.dtype_named(node.attr("dtype")) if node.attr("dtype") else node.dtype()
    return node.call("_eye", N=rows, M=columns, k=node.attr("k", 0), dtype=dtype.name)


def _range(node: Any) -> Any:
    start, limit, step = (node.scalar(index) for index in range(3))
    return node.const(np.arange(start, limit, step, node.value(0).dtype))


IMPORTS: Final[Mapping[str, Rule]] = {
    "ConstantOfShape": _constant_of_shape,
    "EyeLike": _eye_like,
    "Range": _range,
}
