"""Walk over a graph that is written: the model's own, or one inside an operator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

import operad
from operad.errors import ArgumentError, OperadError, UnsupportedError
from operad.graph import Entry, Graph, OpNode, Variable, infer_shapes, infer_types
from operad_onnx.export_node import ExportNode
from operad_onnx.rules import Rule, applied, rules
from operad_onnx.sink import Sink, Spec, Value
from operad_onnx.traced import is_traceable, translated


def inferred(graph: Graph, shapes: Sequence[Mapping[str, Any]], dtypes: Mapping[str, Any]) -> list[Spec]:
    """Shape and type of each entry of a graph.

    Args:
        shapes: Of variables by name, for two sets of lengths for what differs from run to run.
        dtypes: Of variables by name.
    Raises:
        ArgumentError: One does not follow.
    """
    tables = [infer_shapes(graph, known) for known in shapes]
    found = infer_types(graph, dtypes, np.dtype(np.float32))
    for entry, known_shape, dtype in zip(graph.entries, tables[0].values, found.values, strict=True):
        if known_shape is None or None in known_shape or dtype is None:
            raise ArgumentError(
                f"export: the shape of {entry.name!r} does not follow from those given; give it in "
                "shapes, or its array in params"
            )
    pairs = zip(tables[0].values, tables[1].values, strict=True)
    both = [tuple(zip(cast("Any", one), cast("Any", other), strict=True)) for one, other in pairs]
    return [Spec(one, cast("Any", dtype)) for one, dtype in zip(both, found.values, strict=True)]


def write_inner(graph: Graph, values: Sequence[Value], sink: Sink) -> list[Value]:
    """Write the nodes of a graph inside an operator; its outputs.

    Args:
        values: Stand for its variables, in order.
    """
    variables = [node.name for node in graph.nodes if isinstance(node, Variable)]
    specs = dict(zip(variables, [value.spec for value in values], strict=True))
    shapes = [{n: tuple(pair[probe] for pair in s.lengths) for n, s in specs.items()} for probe in (0, 1)]
    found = inferred(graph, shapes, {name: spec.dtype for name, spec in specs.items()})
    return written(graph, found, [value.name for value in values], sink, "")


def written(graph: Graph, specs: Sequence[Spec], names: Sequence[str], sink: Sink, where: str) -> list[Value]:
    """Write the nodes of a graph; its outputs.

    Args:
        specs: Of its entries.
        names: Of the values that stand for its variables.
        where: Beginning of messages.
    Raises:
        UnsupportedError: A node has no counterpart, or its rule fails; the message names node and rule.
    """
    variables = [Entry(node) for node in graph.nodes if isinstance(node, Variable)]
    values = dict(zip(variables, names, strict=True))

    def specs_of(entries: Sequence[Entry]) -> list[Spec]:
        return [specs[graph.entry_id(entry)] for entry in entries]

    for node in graph.op_nodes:
        visible = node.entries[: node.op.num_visible_outputs or 1]
        inputs = [values[entry] for entry in node.inputs]
        seen = ExportNode(node.op, node.name, inputs, specs_of(node.inputs), specs_of(visible), sink)
        before = len(sink.nodes)
        made = _made(node, seen, f"{where}node {node.name!r} ({node.op.name})")
        for own in sink.nodes[before:]:
            if made[0] in own.output:
                own.name = node.name
        for entry, name in zip(visible, made, strict=False):
            values[entry] = _named(name, entry.name, sink, before)
            sink.computed[values[entry]] = node.op, inputs, entry.index
    for entry in graph.outputs:
        if entry not in values:
            raise UnsupportedError(f"{where}the output {entry.name!r} has no counterpart in ONNX")
    return [
        Value(values[entry], spec) for entry, spec in zip(graph.outputs, specs_of(graph.outputs), strict=True)
    ]


def _made(node: OpNode, seen: ExportNode, what: str) -> list[str]:
    rule = _rule_of(node, what)
    try:
        return applied(rule, seen)
    except UnsupportedError as error:
        raise UnsupportedError(f"{what}: {error} (rule {rule})") from error
    except OperadError:
        raise
    except Exception as error:
        raise UnsupportedError(
            f"{what}: its rule {rule} failed with {type(error).__name__}: {error}"
        ) from error


def _rule_of(node: OpNode, what: str) -> Rule:
    known = rules()
    rule = known.exports.get(node.op.name)
    if rule is not None:
        return rule
    reason = known.absent.get(node.op.name)
    if reason is None:
        provider = operad.registry.provider(node.op.name)
        if is_traceable(node.op):
            return Rule(translated, str(provider))
        reason = f"{provider} brings no rule for it (entry point operad.onnx)"
    raise UnsupportedError(f"{what} cannot be written as ONNX: {reason}")


def _named(value: str, wanted: str, sink: Sink, before: int) -> str:
    """Give a value that nodes since `before` have made its name in the symbol."""
    own = sink.nodes[before:]
    if not any(value in node.output for node in own):
        return value
    name = sink.unique(wanted)
    for node in own:
        for names in (node.input, node.output):
            names[:] = [name if old == value else old for old in names]
    return name
