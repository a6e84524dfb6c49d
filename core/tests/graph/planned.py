"""Planned networks, and a run of a plan on plain arrays."""

from __future__ import annotations

import numpy as np

from core.tests.graph.operators import (
    evaluate,
    node_call,
)
from operad.device import cpu
from operad.graph import (
    Variable,
    compile_passes,
)
from operad.graph.memory import plan_memory
from operad.graph.schedule import Schedule
from operad.op import OpReq


def execute(plan, shapes, types, values, bound=(), order=None):
    """Run nodes over one arena per block, poisoned first; returns the arrays that are bound."""
    memory = [np.full(block.size_bytes, 0xFF, np.uint8) for block in plan.blocks]
    homes = [plan.schedule.graph.entries[home] for home in set(plan.bound.values())]
    arrays = {home: np.full(shapes.of(home), np.nan, types.of(home)) for home in homes} | dict(bound)

    def array(entry):
        if isinstance(entry.node, Variable):
            return values[entry.node.name]
        if entry not in plan.placement:
            graph = plan.schedule.graph
            return arrays.get(graph.entries[plan.bound.get(graph.entry_id(entry), graph.entry_id(entry))])
        block, offset, size = plan.placement[entry]
        return memory[block][offset : offset + size].view(types.of(entry)).reshape(shapes.of(entry))

    for node in order or [n for n in plan.schedule.graph.nodes if not isinstance(n, Variable)]:
        node_call(node, shapes, types)(array, array, plan.request)
    return arrays


def assert_plan_computes(network, plan, order=None):
    """A run of the plan gives, bit for bit, what each operator gives by itself."""
    values = network.values()
    expected = evaluate(network.graph, network.shapes, network.types, values)
    found = execute(plan, network.shapes, network.types, values, order=order)
    for entry in network.graph.outputs:
        if not isinstance(entry.node, Variable):
            np.testing.assert_array_equal(found[entry], expected[entry])


def planned(network, requests=None, **kwargs):
    """The memory plan of a network, whose outputs are arrays of the caller's."""
    outputs = [entry for entry in network.graph.outputs if not isinstance(entry.node, Variable)]
    requests = dict.fromkeys(outputs, OpReq.WRITE) | (requests or {})
    return plan_memory(network.graph, network.shapes, network.types, requests=requests, **kwargs)


def scheduled(network, partitions=None, contexts=None):
    """A schedule with the partition and context of each node, by node."""
    nodes = network.graph.nodes
    return Schedule(
        network.graph,
        contexts and [contexts.get(node, cpu()) for node in nodes],
        partitions and [partitions.get(node) for node in nodes],
    )


def run_passes(graph, passes, given=None):
    """The last graph and all facts about it."""
    compilation = compile_passes(graph, passes, given)
    return compilation.graph, compilation.facts
