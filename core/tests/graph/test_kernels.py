"""The kernels of nodes, chosen before anything is scheduled."""

from __future__ import annotations

from typing import ClassVar

from core.tests.graph.operators import Dense, DenseOperator, apply, gradient_nodes, var
from operad.device import cpu
from operad.dtypes import DEFAULT_DTYPE
from operad.graph.gradient import gradient
from operad.graph.infer import infer_shapes, infer_types
from operad.graph.ir import Graph
from operad.graph.kernels import choose_kernels, kernel_costs
from operad.graph.partition import node_costs
from operad.op.cost import Cost
from operad.op.kernel import Kernel


class Fast(DenseOperator):
    """The kernel that a test prefers."""


class Chooser(Dense):
    """A product with two kernels, one of which is for training alone."""

    kernels: ClassVar = [
        Kernel("Chooser.plain", DenseOperator),
        Kernel("Chooser.train", Fast, priority=1, when=lambda call: call.is_train),
        Kernel("Chooser.gradient", Fast, priority=2, parts=lambda prop: ["w_grad"], cost=lambda call: 7.0),
    ]


def facts_of(graph):
    shapes = infer_shapes(graph, {"x": (4, 5), "head": (4, 3)})
    return {
        "shapes": shapes,
        "types": infer_types(graph, {}, DEFAULT_DTYPE),
        "contexts": [cpu()] * len(graph.nodes),
    }


def product(name="fc", weight="w"):
    return apply(Chooser, name, var("x"), var(weight), hidden=3)


def trained(out):
    return Graph([out, *gradient([out], [var("head")], [out.node.inputs[1]])])


def names(choice):
    return {part: kernel.name for part, kernel in choice.kernels.items() if kernel is not None}


def test_variables_have_no_kernel_and_nodes_that_are_alike_share_one_choice():
    x = var("x")
    outs = [apply(Chooser, f"fc{i}", x, var(f"w{i}"), hidden=3) for i in range(2)]
    graph = Graph(outs)
    choices = choose_kernels(graph, facts_of(graph))
    one, other = (choices[graph.node_ids[out.node]] for out in outs)
    assert one is other
    assert [choices[graph.node_ids[node]] for node in graph.arguments] == [None] * 3


def test_a_graph_that_computes_gradients_trains():
    out = product()
    plain, training = Graph([out]), trained(out)
    (without,) = [choice for choice in choose_kernels(plain, facts_of(plain)) if choice is not None]
    assert names(without)["forward"] == "Chooser.plain"
    choices = choose_kernels(training, facts_of(training))
    assert names(choices[training.node_ids[out.node]])["forward"] == "Chooser.train"


def test_a_gradient_has_the_choice_of_the_node_that_it_is_the_gradient_of():
    graph = trained(product())
    choices = choose_kernels(graph, facts_of(graph))
    (backward,) = gradient_nodes(graph)
    assert choices[graph.node_ids[backward]] is choices[graph.node_ids[backward.companion]]


def test_a_node_costs_what_the_kernels_of_its_parts_say():
    graph = trained(product())
    facts = facts_of(graph)
    costs = kernel_costs(graph, facts, choose_kernels(graph, facts))
    (backward,) = gradient_nodes(graph)
    assert costs[graph.node_ids[backward]] == Cost(loops=7.0)
    assert costs == [
        costs[i] if node is backward else cost
        for i, (node, cost) in enumerate(
            zip(graph.nodes, node_costs(graph, facts["shapes"], facts["types"]), strict=True)
        )
    ]
