"""Placement by group, and copies where values cross contexts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.tests.graph import networks
from core.tests.graph.operators import (
    Add,
    AddConst,
    Centre,
    Dense,
    Tanh,
    apply,
    evaluate,
    gradient_nodes,
    var,
)
from operad.device import cpu
from operad.errors import ContextError
from operad.graph import (
    CrossDeviceCopy,
    Entry,
    Graph,
    OpNode,
    Variable,
    gradient,
    infer_shapes,
    infer_types,
    place,
    values_read,
)

GROUPS = {"left": cpu(1), "right": cpu(2)}


def placed_by_node(*args, **options):
    """The placed graph, and the context of each of its nodes by node."""
    placed, contexts = place(*args, **options)
    return placed, dict(zip(placed.nodes, contexts, strict=True))


def group(name):
    return {"__ctx_group__": name}


def copies(graph):
    return [node for node in graph.op_nodes if isinstance(node.op, CrossDeviceCopy)]


def two_devices():
    x = var("x")
    left = apply(Dense, "left", x, var("w_left"), attrs=group("left"), hidden=3)
    right = apply(Dense, "right", left, var("w_right"), attrs=group("right"), hidden=2)
    return x, left, right


def test_one_context_leaves_the_graph_as_it_is():
    _, _, out = two_devices()
    graph = Graph([out])
    placed, contexts = placed_by_node(graph, cpu(3), {})
    assert placed is graph
    assert contexts == dict.fromkeys(graph.nodes, cpu(3))


def test_nodes_go_where_their_group_is_mapped_and_variables_to_their_first_reader():
    _, _, out = two_devices()
    placed, contexts = placed_by_node(Graph([out]), cpu(0), GROUPS)
    where = {node.name: contexts[node] for node in placed.nodes}
    assert where == {
        "x": cpu(1),
        "w_left": cpu(1),
        "left": cpu(1),
        "left_output_on_cpu2": cpu(2),
        "w_right": cpu(2),
        "right": cpu(2),
    }


def test_a_group_that_is_not_mapped_is_on_the_default_context():
    out = apply(Tanh, "t", var("x"), attrs=group("unknown"))
    _, contexts = placed_by_node(Graph([out]), cpu(5), GROUPS)
    assert contexts[out.node] is cpu(5)


def test_a_variables_own_group_comes_first():
    out = apply(Tanh, "t", var("x", __ctx_group__="left"))
    placed, contexts = placed_by_node(Graph([out]), cpu(0), GROUPS)
    assert [contexts[node] for node in placed.arguments] == [cpu(1)]
    assert len(copies(placed)) == 1


def test_a_value_is_copied_once_for_each_context_that_reads_it():
    x = var("x", __ctx_group__="left")
    readers = [apply(Tanh, f"r{i}", x, attrs=group("right")) for i in range(3)]
    placed, _ = place(Graph([*readers, apply(Tanh, "home", x)]), cpu(0), GROUPS)
    assert [node.name for node in copies(placed)] == ["x_on_cpu2", "x_on_cpu0"]


def test_gradients_run_where_their_operators_do():
    x, _, out = two_devices()
    grads = gradient([out], [var("head")], [x])
    placed, contexts = placed_by_node(Graph([out, *grads]), cpu(0), GROUPS)
    backward = gradient_nodes(placed)
    assert {node.name: contexts[node] for node in backward} == {
        "left_backward": cpu(1),
        "right_backward": cpu(2),
    }
    for node in backward:
        assert node.companion in placed.nodes
        assert all(contexts[entry.node] is contexts[node] for entry in values_read(node))


def test_a_graph_of_gradients_alone_is_placed_like_a_whole_one():
    x, _, out = two_devices()
    placed, contexts = placed_by_node(Graph(gradient([out], [var("head")], [x])), cpu(0), GROUPS)
    backward = {node.name: contexts[node] for node in gradient_nodes(placed)}
    assert backward == {"left_backward": cpu(1), "right_backward": cpu(2)}
    assert set(placed.nodes) <= set(contexts)


def test_an_output_is_brought_to_the_context_asked_for():
    x = var("x")
    out = apply(
        Add, "add", apply(Tanh, "a", x, attrs=group("left")), apply(Tanh, "b", x, attrs=group("right"))
    )
    grads = gradient([out], [var("head")], [x])
    placed, contexts = placed_by_node(Graph([out, *grads]), cpu(0), GROUPS, targets=[None, cpu(1)])
    assert contexts[placed.outputs[0].node] is cpu(0)
    assert contexts[placed.outputs[1].node] is contexts[x.node] is cpu(1)


def test_an_auxiliary_state_apart_from_its_node_is_an_error():
    mean = var("mean", __ctx_group__="left")
    with pytest.raises(ContextError, match=r"'mean' is on cpu\(1\), but 'centre'"):
        place(Graph([apply(Centre, "centre", var("x"), mean)]), cpu(0), GROUPS)


@given(networks.networks(), st.data())
def test_a_placed_graph_computes_the_same_with_every_input_on_its_own_context(network, data):
    for node in network.graph.op_nodes:
        if not isinstance(node.op, CrossDeviceCopy):
            node.attrs["__ctx_group__"] = data.draw(st.sampled_from(["left", "right", "other"]))
    placed, contexts = placed_by_node(network.graph, cpu(0), GROUPS)
    for node in placed.nodes:
        if not (isinstance(node, OpNode) and isinstance(node.op, CrossDeviceCopy)):
            assert all(contexts[entry.node] is contexts[node] for entry in values_read(node))
    values = network.values()
    shapes = infer_shapes(placed, {name: value.shape for name, value in values.items()})
    types = infer_types(placed, {name: value.dtype for name, value in values.items()})
    before = evaluate(network.graph, network.shapes, network.types, values)
    after = evaluate(placed, shapes, types, values)
    for old, new in zip(network.graph.outputs, placed.outputs, strict=True):
        np.testing.assert_array_equal(before[old], after[new])


def test_variables_are_placed_alike_with_and_without_gradients():
    x, y = var("x"), var("y")
    left = apply(Tanh, "left", apply(Add, "a", x, y, attrs=group("left")), attrs=group("left"))
    right = apply(Tanh, "right", apply(Add, "b", y, x, attrs=group("right")), attrs=group("right"))
    outputs = [right, left]
    grads = gradient(outputs, [var("h0"), var("h1")], [y, x])
    _, alone = placed_by_node(Graph(outputs), cpu(0), GROUPS)
    _, together = placed_by_node(Graph([*outputs, *grads]), cpu(0), GROUPS)
    assert [alone[entry.node] for entry in (x, y)] == [together[entry.node] for entry in (x, y)]


def test_the_given_graph_is_left_as_it_is():
    x, _, out = two_devices()
    graph = Graph([out, *gradient([out], [var("head")], [x])])
    before = [(node, tuple(node.inputs)) for node in graph.nodes]
    place(graph, cpu(0), GROUPS)
    assert before == [(node, tuple(node.inputs)) for node in Graph(graph.outputs).nodes]


def test_variables_stay_the_same_objects():
    x, _, out = two_devices()
    placed, _ = place(Graph([out]), cpu(0), GROUPS)
    assert Entry(placed.arguments[0]) == x
    assert all(isinstance(node, Variable) for node in placed.arguments)


def test_an_input_of_which_only_the_shape_counts_is_not_copied():
    x = var("x", __ctx_group__="left")
    (grad,) = gradient([apply(AddConst, "plus", x, attrs=group("right"))], [var("head")], [x])
    placed, contexts = placed_by_node(Graph([grad]), cpu(0), GROUPS)
    (node,) = gradient_nodes(placed)
    assert contexts[node] is cpu(2)
    assert [entry.name for entry in node.inputs] == ["head", "x"]
    assert not copies(placed)
