"""Order, names and variables of a graph."""

from __future__ import annotations

import pytest

from core.tests.graph.operators import Add, Centre, Dense, Split, Tanh, apply, var
from operad.errors import GraphError
from operad.graph import Entry, Graph, gradient, topological_order


def test_every_node_comes_once_and_after_its_inputs():
    x, y = var("x"), var("y")
    shared = apply(Tanh, "shared", x)
    out = apply(Add, "out", apply(Add, "inner", shared, y), shared)
    assert [node.name for node in topological_order([out, shared])] == ["x", "shared", "y", "inner", "out"]


def test_a_control_dependency_comes_first():
    first, second = apply(Tanh, "first", var("x")), apply(Tanh, "second", var("y"))
    second.node.control_deps.append(first.node)
    assert [node.name for node in topological_order([second])] == ["y", "x", "first", "second"]


def test_a_cycle_is_an_error():
    inner = apply(Tanh, "inner", var("x"))
    outer = apply(Tanh, "outer", inner)
    inner.node.inputs[0] = outer
    with pytest.raises(GraphError, match="cycle through node"):
        topological_order([outer])


def test_names_of_arguments_outputs_and_states():
    x, mean = var("x"), var("mean")
    split = apply(Split, "split", apply(Centre, "centre", apply(Dense, "fc", x, var("w"), hidden=2), mean))
    graph = Graph([split, Entry(split.node, 1), x])
    assert graph.list_arguments() == ["x", "w"]
    assert graph.list_auxiliary_states() == ["mean"]
    assert graph.list_outputs() == ["split_sin", "split_cos", "x"]


@pytest.mark.parametrize("operator", [Add, Centre], ids=["two arguments", "argument and state"])
def test_two_variables_of_one_name_are_an_error(operator):
    graph = Graph([apply(operator, "node", var("x"), var("x"))])
    with pytest.raises(GraphError, match="two variables are called 'x'"):
        graph.list_arguments()


def test_one_variable_used_twice_is_one_argument():
    x = var("x")
    assert Graph([apply(Add, "add", x, x)]).list_arguments() == ["x"]


def test_gradients_are_named_after_node_and_argument():
    w = var("w")
    (grad,) = gradient([apply(Dense, "fc", var("x"), w, hidden=2)], [var("head")], [w])
    assert grad.name == "fc_backward_w_grad"


def test_a_gradient_needs_its_operator_only_where_it_reads_it():
    x = var("x")
    grads = gradient([apply(Add, "add", x, var("y"))], [var("head")], [x])
    names = [node.name for node in topological_order(grads)]
    assert names == ["head", "x", "y", "add_backward"]
    (grad,) = gradient([apply(Tanh, "tanh", x)], [var("head")], [x])
    assert [node.name for node in topological_order([grad])] == ["head", "x", "tanh", "tanh_backward"]
