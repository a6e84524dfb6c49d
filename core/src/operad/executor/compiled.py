"""From a graph to its program, for an executor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from operad.device import Context
from operad.dtypes import DType
from operad.graph import Graph, Pass, Variable, assign_contexts, head_names, pass_list
from operad.op import PartialShape
from operad.program import Program, compile_graph


def compiled(
    graph: Graph,
    ctx: Context,
    grad_req: Mapping[str, str],
    shapes: Mapping[str, PartialShape],
    types: Mapping[str, DType],
    group2ctx: Mapping[str, Context],
    wanted: Sequence[str] | None = None,
    last: Pass | None = None,
) -> Program:
    """The program of a graph and of the gradients that `grad_req` asks for.

    Args:
        wanted: Names of the arguments with a gradient; None: in the order of the graph's.
        last: A pass that runs behind those of plugins.
    """
    if wanted is None:
        wanted = [name for name in graph.list_arguments() if grad_req.get(name, "null") != "null"]
    placed = zip(graph.nodes, assign_contexts(graph, ctx, group2ctx), strict=True)
    given = {
        "arg_shapes": shapes,
        "arg_types": types,
        "arg_contexts": {node.name: where for node, where in placed if isinstance(node, Variable)},
        "wanted": wanted,
        "grad_req": grad_req,
        "num_outputs": len(graph.outputs),
        "heads": head_names(graph),
        "ctx": ctx,
        "group2ctx": group2ctx,
    }
    return compile_graph(graph, pass_list(last), given)
