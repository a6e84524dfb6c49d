"""What kernels have prepared, as arguments of their nodes."""

from __future__ import annotations

from core.tests.graph.operators import Dense, Tanh, apply, gradient_nodes, var
from core.tests.prepared_arrays import Scaled
from operad.device import cpu
from operad.dtypes import DEFAULT_DTYPE
from operad.graph.demands import parts_of, prepared_entries, with_demands
from operad.graph.gradient import gradient
from operad.graph.infer import infer_shapes, infer_types
from operad.graph.ir import Graph
from operad.graph.kernels import choose_kernels


def compiled(*wanted, **heads):
    """`data * weight` and the gradients of some arguments: before, and as its kernels ask."""
    arguments = {"data": var("data"), "weight": var("weight")}
    out = apply(Scaled, "scaled", *arguments.values())
    graph = Graph([out, *gradient([out], [var("head")], [arguments[name] for name in wanted])])
    shapes = infer_shapes(graph, dict.fromkeys(("data", "head"), (2, 3)))
    contexts = [heads.get(node.name, cpu()) for node in graph.nodes]
    facts = {"shapes": shapes, "types": infer_types(graph, {}, DEFAULT_DTYPE), "contexts": contexts}
    return graph, *with_demands(graph, facts, choose_kernels(graph, facts))


def node_of(graph, name):
    return next(node for node in graph.op_nodes if node.name == name)


def test_a_graph_whose_kernels_ask_for_nothing_stays_as_it_is():
    graph = Graph([apply(Dense, "fc", var("x"), var("w"), hidden=3)])
    shapes = infer_shapes(graph, {"x": (4, 5)})
    facts = {"shapes": shapes, "types": infer_types(graph, {}, DEFAULT_DTYPE), "contexts": [cpu()] * 3}
    choices = choose_kernels(graph, facts)
    assert with_demands(graph, facts, choices) == (graph, facts, choices)


def test_what_variables_determine_is_prepared_by_a_node_of_its_own():
    _, graph, facts, _ = compiled("data")
    (entry,) = prepared_entries(graph)
    node = node_of(graph, "scaled")
    assert entry in node.inputs
    assert [each.name for each in entry.node.inputs] == ["weight"]
    assert facts["shapes"].of(entry) == (2, 3)


def test_a_weight_that_is_trained_or_lies_elsewhere_is_not_prepared():
    assert prepared_entries(compiled("data", "weight")[1]) == []
    assert prepared_entries(compiled("data", weight=cpu(1))[1]) == []


def test_what_a_node_computes_is_not_prepared():
    out = apply(Scaled, "scaled", var("data"), apply(Tanh, "t", var("weight")))
    graph = Graph([out])
    shapes = infer_shapes(graph, {"data": (2, 3)})
    facts = {"shapes": shapes, "types": infer_types(graph, {}, DEFAULT_DTYPE), "contexts": [cpu()] * 4}
    made, _, _ = with_demands(graph, facts, choose_kernels(graph, facts))
    assert prepared_entries(made) == []


def test_nodes_that_read_one_weight_share_what_is_prepared():
    weight = var("weight")
    outs = [apply(Scaled, f"scaled{i}", var(f"data{i}"), weight) for i in range(2)]
    graph = Graph(outs)
    shapes = infer_shapes(graph, {"data0": (2, 3), "data1": (2, 3)})
    facts = {"shapes": shapes, "types": infer_types(graph, {}, DEFAULT_DTYPE), "contexts": [cpu()] * 5}
    made, _, _ = with_demands(graph, facts, choose_kernels(graph, facts))
    assert len(prepared_entries(made)) == 1


def test_every_node_of_the_new_graph_has_a_context_and_its_choice():
    _, graph, facts, choices = compiled("data")
    assert len(facts["contexts"]) == len(choices) == len(graph.nodes)
    (backward,) = gradient_nodes(graph)
    numbers = [graph.node_ids[node] for node in (backward, node_of(graph, "scaled"))]
    assert choices[numbers[0]] is choices[numbers[1]] is not None


def test_the_parts_of_a_node_are_forward_or_its_gradients():
    _, graph, _, _ = compiled("weight")
    (backward,) = gradient_nodes(graph)
    assert parts_of(backward) == ["weight_grad"]
    assert parts_of(node_of(graph, "scaled")) == parts_of(graph.arguments[0]) == ["forward"]
