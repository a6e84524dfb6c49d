"""Which nodes precede which."""

from __future__ import annotations

from core.tests.graph.networks import Network, chain_of
from core.tests.graph.operators import (
    Add,
    AddConst,
    Tanh,
    apply,
    gradient_nodes,
    var,
)
from core.tests.graph.planned import scheduled
from operad.device import cpu
from operad.graph.gradient import gradient
from operad.graph.ir import Graph
from operad.graph.schedule import Schedule, values_read


def test_without_partitions_the_steps_are_one_line():
    network, _ = chain_of(AddConst, 3)
    schedule = Schedule(network.graph)
    assert schedule.partitions == [-1, 0, 0, 0]
    assert [schedule.all_precede([0, 1], later) for later in (1, 2)] == [False, True]


def test_without_partitions_every_context_is_one_of_its_own():
    graph = Graph([apply(Tanh, "left", var("x")), apply(Tanh, "right", var("y"))])
    contexts = [cpu(), cpu(), cpu(1), cpu(1)]
    schedule = Schedule(graph, contexts)
    assert schedule.partitions == [-1, 0, -1, 1]
    assert schedule.partition_contexts == [cpu(), cpu(1)]


def test_nodes_of_two_partitions_run_in_any_order_unless_one_needs_the_other():
    x = var("x")
    left, right = apply(Tanh, "left", x), apply(Tanh, "right", x)
    network = Network([apply(Add, "sum", left, right)], [None], [], {"x": (2, 3)})
    schedule = scheduled(network, {left.node: "a", right.node: "b"})
    steps = {node.name: step for step, node in enumerate(network.graph.nodes)}
    assert not schedule.all_precede([steps["left"]], steps["right"])
    assert schedule.all_precede([steps["left"], steps["right"]], steps["sum"])
    assert schedule.direct_predecessors(steps["sum"]) == {steps["left"], steps["right"]}


def test_a_control_dependency_orders_as_an_input_does():
    first, second = apply(Tanh, "first", var("x")), apply(Tanh, "second", var("y"))
    second.node.control_deps = [first.node]
    graph = Graph([second, first])
    schedule = Schedule(graph, partitions=[node.name for node in graph.nodes])
    assert schedule.all_precede([graph.node_ids[first.node]], graph.node_ids[second.node])


def test_an_input_of_which_only_the_shape_counts_is_not_waited_for():
    x, head = var("x"), var("head")
    y = apply(Tanh, "y", x)
    graph = Graph([y, *gradient([y], [head], [x])])
    (backward,) = gradient_nodes(graph)
    assert {entry.name for entry in values_read(backward)} == {
        entry.name for entry in backward.inputs[: backward.num_read]
    }
    needed = Schedule(graph).direct_predecessors(graph.node_ids[backward])
    assert needed == {graph.node_ids[y.node]}
