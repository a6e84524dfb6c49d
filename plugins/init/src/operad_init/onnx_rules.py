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


def _known(node: Any) -> Any:
    return node.of_shapes()


EXPORTS: Final[Mapping[str, Rule]] = {
    "_zeros": _filled(0),
    "_ones": _filled(1),
    "_full": _filled(None),
    "_eye": _known,
    "_arange": _known,
    "_linspace": _known,
    "_contrib_arange_like": _known,
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
    bounds: Any = [node.scalar(index) for index in range(3)]
    return node.const(np.arange(*bounds, dtype=node.value(0).dtype))


IMPORTS: Final[Mapping[str, Rule]] = {
    "ConstantOfShape": _constant_of_shape,
    "EyeLike": _eye_like,
    "Range": _range,
}
