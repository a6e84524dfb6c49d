"""From a graph to its program, for an executor.

What was compiled is kept. Graphs of one structure are compiled as the first of them, so that its tables, its
gradients and what its operators know serve all shapes; one that is bound as before has the program of before.
A compilation depends on the structure and on the request, which are the keys, and on its surroundings: where
these have changed, everything is forgotten. So a program is the same with and without what was bound before.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from operad import registry
from operad.config import settings
from operad.device import Context
from operad.dtypes import DType
from operad.graph import Graph, OpNode, Pass, Variable, assign_contexts, head_names, pass_list
from operad.op import Gradient, PartialShape, is_np_shape, rates
from operad.program import Program, compile_graph

_MOST: Final = 1 << 14
"""Nodes of all graphs and programs together that are kept; each takes some 4 kB."""


class _Known(NamedTuple):
    """A graph that was compiled.

    Attributes:
        graph: The first of its structure.
        state: What may change of it behind the structure.
        programs: By request.
    """

    graph: Graph
    state: list[Any]
    programs: dict[Hashable, Program]


_graphs: Final[dict[Hashable, _Known]] = registry.follow({})
_room: Final = [_MOST]
_surroundings: list[Any] = []
"""Surroundings in which all of them were compiled."""


def _state(graph: Graph) -> list[Any]:
    """Attributes of the nodes, which a program may write to, and each operator's epoch and kernels."""
    ops = [node.op.of if type(node.op) is Gradient else node.op for node in graph.op_nodes]
    return [[node.attrs.copy() for node in graph.nodes], {type(op): (op.epoch, *op.kernels) for op in ops}]


def _structure(graph: Graph) -> Hashable:
    """A key that two graphs share only if they compute the same of arrays of the same names."""
    ids = graph.node_ids
    parts: list[Hashable] = [tuple([(ids[node], index) for node, index in graph.outputs])]
    for node in graph.nodes:
        reads = tuple([(ids[source], index) for source, index in node.inputs])
        waits = tuple([ids[other] for other in node.control_deps])
        own: tuple[Hashable, ...] = ()
        if isinstance(node, OpNode):
            own = (node.signature, node.adds_to, ids.get(node.companion, -1) if node.companion else None)
        parts.append((node.name, tuple(node.attrs.items()), reads, waits, own))
    return tuple(parts)


def _known(graph: Graph, passes: list[Pass]) -> _Known:
    """The graph of this structure that was compiled first, and its programs."""
    # The variables' own table, as reading them one by one decodes each; a plugin may read any.
    now = [passes, settings(), rates(), dict(os.environ._data)]  # type: ignore[attr-defined]
    if now != _surroundings:
        _graphs.clear()
        _surroundings[:] = now
    key = _structure(graph)
    found = _graphs.get(key)
    if found is None or found.state != _state(found.graph):
        found = _Known(Graph(graph.outputs, graph.computed) if graph.memo else graph, _state(graph), {})
        # What the others run may be a program's own code, which is asked at each bind as it may have changed.
        if not any(node.op.is_stateful for node in graph.op_nodes):
            _graphs[key] = found
    return found


def _size(known: _Known) -> int:
    return len(known.graph.nodes) * (1 + 3 * len(known.programs))  # a program has its gradients, too


def _make_room(count: int) -> None:
    """Forget the oldest graphs where there is no room for so many nodes more."""
    # invariant: there is at least as much room. Graphs are counted where it is used up, and not at each bind.
    _room[0] -= count
    if _room[0] < 0:
        total = sum(map(_size, [*_graphs.values()]))
        for key in [*_graphs]:
            if total <= _MOST // 2:
                break
            found = _graphs.pop(key, None)
            total -= _size(found) if found else 0
        _room[0] = _MOST - total


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
        passes: What runs in place of the usual passes; the program is not kept.
    """
    known = _Known(graph, [], {}) if passes else _known(graph, pass_list())
    passes = passes or pass_list(last)
    request = [tuple(each.items()) for each in (grad_req, shapes, types, group2ctx)]
    key = (ctx, is_np_shape(), *request)
    program = None if last else known.programs.get(key)
    if program is None:
        graph = known.graph
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
        program = compile_graph(graph, passes, given)
        if last is None:
            known.programs[key] = program
            _make_room(4 * len(graph.nodes))
    return program
