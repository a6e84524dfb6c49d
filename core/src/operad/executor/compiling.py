"""From a graph to its program, for an executor.

What was compiled is kept. Graphs of one structure are compiled as the first of them, so that its tables, its
gradients and what its operators know serve all shapes; one that is bound as before has the program of before.
Names of nodes are no part of the structure: graphs are compiled under numbers, and a program has the names of
the graph that is bound. Only a plugin's pass may read names, and says so.
A compilation depends on the structure and on the request, which are the keys, and on its surroundings: where
these have changed, everything is forgotten. So a program is the same with and without what was bound before.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final

from operad import registry
from operad.config import settings
from operad.device import Context
from operad.dtypes import DType
from operad.graph import Graph, OpNode, Pass, Variable, assign_contexts, head_names, pass_list, renamed
from operad.interrupts import is_of_handler
from operad.op import Gradient, PartialShape, is_np_shape, rates
from operad.program import Program, compile_graph

_MOST: Final = 1 << 14
"""Nodes of all graphs and programs together that are kept; each takes some 4 kB."""


_graphs: Final[dict[Hashable, Graph]] = registry.follow({})
"""By structure, the first graph that was compiled; its `memo` has the programs, by request."""
_room: Final = [_MOST]
_surroundings: list[Any] = []
"""Surroundings in which all of them were compiled."""


def _structure(graph: Graph) -> Hashable:
    """A key that two graphs share only if they compute the same of arrays in the same order."""
    ids = graph.node_ids
    parts: list[Hashable] = [tuple([(ids[node], index) for node, index in graph.outputs])]
    for node in graph.nodes:
        reads = tuple([(ids[source], index) for source, index in node.inputs])
        waits = tuple([ids[other] for other in node.control_deps])
        own: tuple[Hashable, ...] = ()
        if isinstance(node, OpNode):
            own = (node.signature, node.adds_to, ids.get(node.companion, -1) if node.companion else None)
        parts.append((tuple(node.attrs.items()), reads, waits, own))
    return tuple(parts)


def _known(graph: Graph, passes: list[Pass], names: Sequence[str]) -> Graph:
    """The graph of this structure that was compiled first, under these names."""
    # The variables' own table, as reading them one by one decodes each; a plugin may read any.
    now = [passes, settings(), rates(), dict(os.environ._data)]  # type: ignore[attr-defined]
    if now != _surroundings:
        _graphs.clear()
        _surroundings[:] = now
    key = (_structure(graph), *names)
    # What may change behind the nodes.
    ops = [node.op.of if type(node.op) is Gradient else node.op for node in graph.op_nodes]
    state = {type(op): (op.epoch, *op.kernels) for op in ops}
    found = _graphs.get(key)
    if found is None or found.memo["state"] != state:
        found = renamed(graph, dict(zip(graph.nodes, names, strict=False)).__getitem__)
        found.memo["state"] = state
        _graphs[key] = found
    return found


def _size(graph: Graph) -> int:
    # Programs have their gradients, too.
    return len(graph.nodes) * (1 + 3 * sum(isinstance(x, Program) for x in [*graph.memo.values()]))


def _make_room(count: int) -> None:
    """Forget the oldest graphs where there is no room for so many nodes more."""
    # invariant: there is at least as much room. Graphs are counted where it is used up, and not at each bind.
    _room[0] -= count
    if _room[0] < 0:
        total = sum(map(_size, [*_graphs.values()]))
        for key, found in [*_graphs.items()]:
            if total > _MOST // 2 and _graphs.pop(key, None) is not None:
                total -= _size(found)
        _room[0] = _MOST - total


def compiled(
    graph: Graph,
    ctx: Context,
    grad_req: Mapping[str, str],
    shapes: Mapping[str, PartialShape],
    types: Mapping[str, DType],
    group2ctx: Mapping[str, Context],
    passes: Sequence[Pass] | None = None,
) -> Program:
    """The program of a graph and of the gradients that `grad_req` asks for.

    Args:
        passes: What runs in place of the usual passes; the program is not kept.
    """
    names = own = [*[node.name for node in graph.nodes], *head_names(graph)]
    variables = {node.name: i for i, node in enumerate(graph.nodes) if isinstance(node, Variable)}
    known, usual = Graph(graph.outputs, graph.computed), pass_list()
    # What the others run may be a program's own code, which is asked at each bind as it may have changed.
    if is_kept := not passes and not any(node.op.is_stateful for node in graph.op_nodes):
        if not any(each.distribution and each.reads_names for each in usual):
            names = [f"<{number}>" for number in range(len(own))]
        known = _known(graph, usual, names)
    request = [(grad_req.get(name), shapes.get(name), types.get(name)) for name in variables]
    key = (ctx, is_np_shape(), *request, *group2ctx.items())
    program: Program | None = known.memo.get(key)
    if program is None:

        def named(given: Mapping[str, Any]) -> dict[str, Any]:
            return {names[variables[name]] if name in variables else name: x for name, x in given.items()}

        contexts = assign_contexts(graph, ctx, group2ctx)
        wanted = [name for name in graph.list_arguments() if grad_req.get(name, "null") != "null"]
        given = {
            "arg_shapes": named(shapes),
            "arg_types": named(types),
            "arg_contexts": named({name: contexts[i] for name, i in variables.items()}),
            # In the graph's order, whatever else is asked for: passes of plugins may depend on it.
            "wanted": [names[variables[name]] for name in wanted],
            "grad_req": named(grad_req),
            "num_outputs": len(graph.outputs),
            "heads": names[len(graph.nodes) :],
            "ctx": ctx,
            "group2ctx": group2ctx,
        }
        # What fails under numbers fails once more under its own names, which the error then has.
        try:
            program = compile_graph(known, passes or usual, given, names=() if names is own else own)
        except Exception as error:
            if names is own or is_of_handler(error):
                raise
        if program is None:
            return compiled(graph, ctx, grad_req, shapes, types, group2ctx, usual)
        _make_room(4 * len(graph.nodes))
    elif program.names and program.names != own:
        program = Program(program.compilation, own)
    if is_kept:
        known.memo[key] = program
    return program
