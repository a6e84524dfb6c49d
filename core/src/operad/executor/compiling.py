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
    last: Pass | None = None,
    passes: Sequence[Pass] | None = None,
) -> Program:
    """The program of a graph and of the gradients that `grad_req` asks for.

    Args:
        last: A pass that runs when kernels are chosen.
        passes: What runs in place of the usual passes.
    """
    placed = zip(graph.nodes, assign_contexts(graph, ctx, group2ctx), strict=True)
    given = {
        "arg_shapes": shapes,
        "arg_types": types,
        "arg_contexts": {node.name: where for node, where in placed if isinstance(node, Variable)},
        # In the graph's order, whatever else is asked for: passes of plugins may depend on it.
        "wanted": [name for name in graph.list_arguments() if grad_req.get(name, "null") != "null"],
        "grad_req": grad_req,
        "num_outputs": len(graph.outputs),
        "heads": head_names(graph),
        "ctx": ctx,
        "group2ctx": group2ctx,
    }
    return compile_graph(graph, pass_list(last) if passes is None else passes, given)
