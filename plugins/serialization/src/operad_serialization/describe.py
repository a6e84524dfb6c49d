"""A graph in words, as MXNet's `debug_str` prints it.

Source: Symbol::Print, nnvm/src/core/symbolic.cc.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from operad.graph import Entry, Graph, Node, OpNode, Variable

_RULE = "-" * 20


def describe(graph: Graph) -> str:
    """The outputs, and every node with its inputs, attributes and control dependencies."""
    if len(graph.outputs) == 1 and isinstance(graph.outputs[0].node, Variable):
        return f"Variable:{graph.outputs[0].node.name}\n"
    return "\n".join(_lines(graph)) + "\n"


def _lines(graph: Graph) -> Iterator[str]:
    yield "Symbol Outputs:"
    for number, (node, index) in enumerate(graph.outputs):
        yield f"\toutput[{number}]={node.name}({index})"
    versions: Counter[Node] = Counter()
    for node in graph.nodes:
        if isinstance(node, OpNode):
            versions.update(entry.node for entry in node.aux)
            yield from _operator(node, versions)
        else:
            yield f"Variable:{node.name}"


def _operator(node: OpNode, versions: Counter[Node]) -> Iterator[str]:
    yield from (_RULE, f"Op:{node.op.name}, Name={node.name}")
    if node.inputs:
        yield "Inputs:"
    for number, entry in enumerate(node.inputs):
        yield f"\targ[{number}]={_source(entry, versions)}"
    if node.attrs:
        yield "Attrs:"
        yield from (f"\t{key}={text}" for key, text in sorted(node.attrs.items()))
    if node.control_deps:
        yield "Control deps:"
        yield from (f"\tcdep[{i}]={other.name}" for i, other in enumerate(node.control_deps))


def _source(entry: Entry, versions: Counter[Node]) -> str:
    text = f"{entry.node.name}({entry.index})"
    return f"{text} version={versions[entry.node]}" if isinstance(entry.node, Variable) else text
