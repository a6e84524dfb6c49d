"""Rows of a loop whose number follows from a condition.

A symbol must know how many rows there are, so a loop here has as many as there may be, with 0 where no step
wrote. A model's loop is such a loop where the readers of its rows join them with as many zeros, and take as
many of both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import onnx
from onnx import helper

from operad_onnx.scope import Scope, Value
from operad_onnx.sink import every_node

Values = Mapping[str, Value | None]


def are_filled(graph: onnx.GraphProto, rows: str, most: int, values: Values, scope: Scope) -> bool:
    """Return whether a graph reads the value `rows` only with zeros behind it, and `most` rows of both."""
    joins = _readers(graph, rows)
    return all(_is_join(join, graph, rows, most, values, scope) for join in joins) and all(
        cut.op_type == "Slice"
        and [_number(values, n) for n in cut.input[1:]] in ([0, most, 0], [0, most, 0, 1])
        for join in joins
        for cut in _readers(graph, join.output[0])
    )


def _readers(graph: onnx.GraphProto, name: str) -> list[onnx.NodeProto]:
    """The nodes that read a value; a graph that gives it counts as one of no type."""
    ends = [onnx.NodeProto(output=[""]) for info in graph.output if info.name == name]
    return [*ends, *(node for node in every_node(graph.node) if name in node.input)]


def _is_join(
    node: onnx.NodeProto, graph: onnx.GraphProto, rows: str, most: int, values: Values, scope: Scope
) -> bool:
    if node.op_type != "Concat" or len(node.input) != 2 or node.input[0] != rows:
        return False
    axis, zeros = helper.get_node_attr_value(node, "axis"), values.get(node.input[1])
    if axis != 0 or zeros is None:
        return False
    if zeros.array is not None:
        return len(zeros.array) >= most and not zeros.array.any()
    numbers = [
        value.array
        for made in graph.node
        if made.op_type == "Expand" and node.input[1] in made.output and (value := values.get(made.input[0]))
    ]
    lengths = [shape[0] for shape in scope.facts(zeros.symbol(scope)).shapes]
    return min(lengths) >= most and any(number is not None and not number.any() for number in numbers)


def _number(values: Values, name: str) -> Any:
    value = values.get(name)
    return (
        value.array.item()
        if value is not None and value.array is not None and value.array.size == 1
        else None
    )
