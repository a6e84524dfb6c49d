"""Writing a graph as MXNet 1.x's `-symbol.json` text.

A file lists nodes in topological order. Variables have the operator `null`; auxiliary states are
variables among a node's inputs. A node's `attrs` hold what was said of it: the parameters that were
given and the user's attributes, in one mapping. Defaults are not written, because MXNet refuses names
it does not know and has defaults of its own; what a file said is written as the file had it.

An input is (node, output, version). Versions count how often operators have updated a variable.

Source: nnvm/src/pass/saveload_json.cc.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from operad.errors import GraphError
from operad.graph import Entry, Graph, Node, OpNode, Variable
from operad.operator import Gradient, is_np_shape

MXNET_VERSION: Final = 10901
"""Written into files: they are MXNet 1.9.1's."""


def to_json(graph: Graph) -> str:
    """The graph as text that MXNet 1.x and `from_json` read.

    Raises:
        GraphError: The graph has gradients, which files cannot carry.
    """
    document = _graph_record(graph)
    document["attrs"] = {"mxnet_version": ["int", MXNET_VERSION]}
    if is_np_shape():  # an axis of 0 in a shape is empty, and not unknown
        document["attrs"]["is_np_shape"] = ["int", 1]
    return json.dumps(document, indent=2)


def _graph_record(graph: Graph) -> dict[str, Any]:
    ids = graph.node_ids
    versions: Counter[Node] = Counter()
    return {
        "nodes": [_node_record(node, ids, versions) for node in graph.nodes],
        "arg_nodes": [ids[node] for node in graph.nodes if isinstance(node, Variable)],
        "node_row_ptr": graph.first_entries,
        "heads": [[ids[node], index, 0] for node, index in graph.outputs],
    }


def _node_record(node: Node, ids: Mapping[Node, int], versions: Counter[Node]) -> dict[str, Any]:
    if isinstance(node, OpNode):
        if isinstance(node.op, Gradient):
            raise GraphError(
                f"cannot write {node.name!r} to a file: it is a gradient, for which the format has no node; "
                "save the symbol that it is a gradient of, and call Symbol.gradient on what is loaded"
            )
        versions.update(entry.node for entry in node.aux)
    op = node.op.name if isinstance(node, OpNode) else "null"
    record: dict[str, Any] = {"op": op, "name": node.name}
    if node.attrs:
        record["attrs"] = node.attrs
    record["inputs"] = [[ids[other], index, versions[other]] for other, index in _in_call_order(node)]
    if node.control_deps:
        record["control_deps"] = [ids[other] for other in node.control_deps]
    if isinstance(node, OpNode) and node.op.subgraphs:
        record["subgraphs"] = [_graph_record(graph) for graph in node.op.subgraphs]
    return record


def _in_call_order(node: Node) -> list[Entry]:
    positions = node.op.input_positions() if isinstance(node, OpNode) else None
    if positions is None:
        return node.inputs
    ordered = dict(zip(positions, node.inputs, strict=True))
    return [ordered[position] for position in range(len(positions))]
