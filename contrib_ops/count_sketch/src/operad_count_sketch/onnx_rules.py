"""A sketch as a product with a matrix of one entry in each row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final


def _sketch(node: Any) -> str:
    data, positions, signs = node.inputs
    (length,) = node.fixed_lengths(1, 1)
    places = node.cast(node.add("Reshape", positions, node.ints(length)), "int64")
    matrix = node.add("OneHot", places, node.ints_scalar(node.op.out_dim), node.const((0, 1)), axis=-1)
    signs = node.add("Reshape", signs, node.ints(length, 1))
    return str(node.add("MatMul", data, node.add("Mul", matrix, signs)))


EXPORTS: Final[Mapping[str, Callable[[Any], str]]] = {"_contrib_count_sketch": _sketch}
