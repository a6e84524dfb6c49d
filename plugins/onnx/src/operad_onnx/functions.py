"""Operators that are defined by others: functions of a model, and operators that the standard defines so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, final

import onnx
from onnx import defs, helper

from operad.errors import FormatError, LimitError
from operad_onnx.element_types import number_of
from operad_onnx.import_node import ImportNode

_DEEPEST: Final = 32
_MOST_NODES: Final = 2**16


def is_defined(kind: str, version: int, domain: str) -> bool:
    """Return whether the standard defines an operator by others, over tensors alone."""
    if not defs.has(kind, version, domain):
        return False
    schema: Any = defs.get_schema(kind, version, domain)
    types = {name for one in schema.type_constraints for name in one.allowed_type_strs}
    is_of_tensors = all(name.startswith("tensor(") for name in types)
    return is_of_tensors and bool(schema.has_function or schema.has_context_dependent_function)


def definition(proto: onnx.NodeProto, node: ImportNode, domain: str) -> onnx.FunctionProto:
    """The nodes by which the standard defines an operator, for inputs of these types."""
    schema: Any = defs.get_schema(proto.op_type, node.opset, domain)
    if schema.has_function:
        chosen = _newest(schema.function_opset_versions, node.opset)
        content = schema.get_function_with_opset_version(chosen)
    else:
        chosen = _newest(schema.context_dependent_function_opset_versions, node.opset)
        types = [
            helper.make_tensor_type_proto(
                number_of(node.dtype(index)), node.lengths(index)
            ).SerializeToString()
            if node.has(index)
            else b""
            for index in range(node.num_inputs)
        ]
        content = schema.get_context_dependent_function_with_opset_version(
            chosen, proto.SerializeToString(), types
        )
    function = onnx.FunctionProto()
    function.ParseFromString(content)
    given = {one.default_value.name: one.default_value for one in schema.attributes.values()}
    function.attribute_proto.extend(one for name, one in given.items() if name)
    if not domain:
        function.opset_import.append(helper.make_opsetid("", chosen))
    return function


def _newest(versions: Sequence[int], most: int) -> int:
    return max([version for version in versions if version <= most] or versions)


def called(function: onnx.FunctionProto, proto: onnx.NodeProto) -> onnx.GraphProto:
    """The graph of a function, with the attributes of a node that calls it."""
    given = {one.name: one for one in (*function.attribute_proto, *proto.attribute)}
    nodes = [onnx.NodeProto.FromString(node.SerializeToString()) for node in function.node]
    for node in nodes:
        _fill(node, given)
    asked = zip(function.output, proto.output, strict=False)
    infos = [onnx.ValueInfoProto(name=name) for name, wanted in asked if wanted]
    return onnx.GraphProto(name=function.name, node=nodes, output=infos)


def _fill(node: onnx.NodeProto, given: dict[str, onnx.AttributeProto]) -> None:
    """Put the caller's attributes for references to them; references to what it does not give go."""
    filled = []
    for attribute in node.attribute:
        own = onnx.AttributeProto()
        own.CopyFrom(given.get(attribute.ref_attr_name, attribute))
        own.name = attribute.name
        for inner in own.g.node:
            _fill(inner, given)
        if not own.ref_attr_name:
            filled.append(own)
    del node.attribute[:]
    node.attribute.extend(filled)


@final
class Calls:
    """Bounds for functions that call functions: a few bytes can ask for any number of nodes."""

    def __init__(self) -> None:
        self._nodes = self._depth = 0

    def enter(self, function: onnx.FunctionProto) -> None:
        """Count a call.

        Raises:
            FormatError: Calls are nested too deep, as those of a function that calls itself.
            LimitError: There are too many nodes.
        """
        self._depth += 1
        self._nodes += len(function.node)
        if self._depth > _DEEPEST:
            raise FormatError(
                f"calls of functions are nested {self._depth} deep at {function.name!r}, expected {_DEEPEST}"
            )
        if self._nodes > _MOST_NODES:
            raise LimitError(
                f"functions have more than {_MOST_NODES} nodes once they are inlined, at {function.name!r}"
            )

    def leave(self) -> None:
        """End a call."""
        self._depth -= 1
