"""Nodes whose values are known when a model is read: shapes, axes, and what is computed of them.

Exporters write `Shape -> Gather -> Concat -> Reshape` for what is a parameter here. onnx's own reference
computes such nodes. What they may ask for is bounded before: a few bytes can ask for gigabytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final

import numpy as np
import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator

from operad.files import check_bytes, translated
from operad_onnx.import_node import ImportNode
from operad_onnx.scope import Value

_MOST_ELEMENTS: Final = 2**16
"""Most elements of constants that are computed here; larger ones are computed when the model runs."""

_LEAST_BYTES: Final = 4

_FOLDED: Final = frozenset((
    "Abs", "Add", "And", "ArgMax", "ArgMin", "Cast", "CastLike", "Ceil", "Clip", "Concat",
    "ConstantOfShape", "CumSum", "Div", "Einsum", "Equal", "Exp", "Expand", "EyeLike", "Flatten",
    "Floor", "Gather", "GatherElements", "Greater", "GreaterOrEqual", "Identity", "IsInf", "IsNaN",
    "Less", "LessOrEqual", "Log", "MatMul", "Max", "Mean", "Min", "Mod", "Mul", "Neg", "NonZero", "Not",
    "OneHot", "Or", "Pad", "Pow", "Range", "Reciprocal", "Relu", "ReduceMax", "ReduceMin", "ReduceProd",
    "ReduceSum", "Reshape", "Round", "ScatterElements", "ScatterND", "Shape", "Sign", "Size", "Slice",
    "Split", "Sqrt", "Squeeze", "Sub", "Sum", "Tile", "TopK", "Transpose", "Trilu", "Unsqueeze",
    "Where", "Xor",
))  # fmt: skip


def folded(
    proto: onnx.NodeProto, inputs: Sequence[Value | None], node: ImportNode, what: str
) -> list[np.ndarray[Any, Any]] | None:
    """Arrays of a node's outputs, where they are known; None where they are not."""
    if proto.domain not in ("", "ai.onnx"):
        return None
    if proto.op_type in ("Shape", "Size"):
        return _of_shape(proto, node)
    if proto.op_type == "Constant":
        return _run(proto, [], node.opset, what)
    if proto.op_type == "CastLike" and node.is_const(0):
        return [np.asarray(node.value(0), node.dtype(1))]
    if proto.op_type not in _FOLDED or any(value is not None and value.array is None for value in inputs):
        return None
    arrays = [None if value is None else value.array for value in inputs]
    sizes = [array.size for array in arrays if array is not None]
    if sum(sizes) > _MOST_ELEMENTS or prod(max(size, 1) for size in sizes) > _MOST_ELEMENTS**2:
        return None
    asked = _asked(proto.op_type, node)
    check_bytes(asked * _LEAST_BYTES, what)
    return None if asked > _MOST_ELEMENTS else _run(proto, arrays, node.opset, what)


def _of_shape(proto: onnx.NodeProto, node: ImportNode) -> list[np.ndarray[Any, Any]] | None:
    lengths = node.lengths(0)
    if proto.op_type == "Size":
        return None if None in lengths else [np.array(prod(n or 0 for n in lengths), np.int64)]
    chosen = lengths[slice(node.attr("start", 0), node.attr("end"))]
    return None if None in chosen else [np.array(chosen, np.int64)]


def _asked(kind: str, node: ImportNode) -> int:
    """Number of elements of the output, for operators that make more of them than they read."""
    if kind in ("ConstantOfShape", "Expand"):
        return prod(max(int(n), 1) for n in node.value(0 if kind == "ConstantOfShape" else 1).reshape(-1))
    if kind == "Tile":
        return prod(max(int(n), 1) for n in node.value(1).reshape(-1)) * max(int(node.value(0).size), 1)
    if kind == "Range":
        start, limit, step = (float(node.scalar(index)) for index in range(3))
        return 0 if step == 0 else int(min(abs((limit - start) / step), 1e18)) + 1
    if kind == "Pad":
        pads = node.ints("pads", 1, ())
        return prod(int(n) + sum(max(p, 0) for p in pads) for n in node.shape(0))
    if kind == "OneHot":
        return int(node.value(0).size) * max(int(node.scalar(1)), 1)
    if kind in ("Add", "Sub", "Mul", "Div", "Pow", "Mod", "Max", "Min", "Where", "Equal", "And", "Or",
                "Greater", "Less", "GreaterOrEqual", "LessOrEqual"):  # fmt: skip
        shapes = [node.shape(index) for index in range(node.num_inputs)]
        return prod(np.broadcast_shapes(*shapes))
    return 1


def _run(proto: onnx.NodeProto, arrays: Sequence[Any], opset: int, what: str) -> list[np.ndarray[Any, Any]]:
    names = [f"input_{i}" if array is not None else "" for i, array in enumerate(arrays)]
    alone = onnx.NodeProto()
    alone.CopyFrom(proto)
    alone.input[:] = names
    given = {name: array for name, array in zip(names, arrays, strict=True) if name}
    infos = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
             for name, array in given.items()]  # fmt: skip
    outputs = [onnx.ValueInfoProto(name=name) for name in proto.output if name]
    graph = helper.make_graph([alone], "constant", infos, outputs)
    with translated(what, "a node that can be computed"):
        found = ReferenceEvaluator(graph, opsets={"": opset}).run(None, given)
    return [np.asarray(array) for array in found]
