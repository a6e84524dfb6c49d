"""Graphs of operators that are made of others."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from core.tests.op.expanding import FIRST, SECOND, One, Pair, X, Y
from operad import registry
from operad.graph import Entry, Graph, OpNode, Variable, expand

pytestmark = pytest.mark.usefixtures("operators")


@pytest.fixture(autouse=True)
def pairs():
    for op in (Pair, One):
        registry.register(op)
    yield
    for op in (Pair, One):
        registry.unregister(op.name)


def node_of(op, name="pair", **attrs):
    return OpNode(op, name, [Entry(Variable("x")), Entry(Variable("y"))], attrs)


def names(graph):
    return [node.name for node in graph.op_nodes]


def test_parts_stand_in_the_place_of_the_operator_under_its_name() -> None:
    node = node_of(Pair(), __ctx_group__="second", factor="3")
    graph = expand(Graph(node.entries))
    assert names(graph) == ["pair_t", "pair_m", "pair_s"]
    assert [each.attrs for each in graph.op_nodes] == [
        {"__ctx_group__": "second"}
    ] * 3  # no parameters of its


def test_the_part_that_computes_the_one_output_has_the_name_of_the_node() -> None:
    assert names(expand(Graph(node_of(One()).entries))) == ["pair_t", "pair"]


def test_a_graph_without_such_operators_is_the_same_graph() -> None:
    graph = Graph(OpNode(registry.get("tanh")(), "t", [Entry(Variable("x"))]).entries)
    assert expand(graph) is graph


def test_a_node_stays_whole_where_a_variable_would_be_lost() -> None:
    node = node_of(Pair())
    assert names(expand(Graph([Entry(node, 1)]))) == ["pair"]  # the square does not read y
    assert names(expand(Graph([Entry(node, 0)]))) == ["pair_t", "pair_m"]


def test_a_bound_graph_computes_and_differentiates_the_parts() -> None:
    pair = od.sym.expand_pair(od.sym.var("x"), od.sym.var("y"), name="p")
    executor = pair.simple_bind(x=(2,))
    assert pair.list_outputs() == ["p_product", "p_square"]
    first, second = executor.forward(is_train=True, x=od.nd.array(X), y=od.nd.array(Y))
    executor.backward([od.nd.array([1, 1]), od.nd.array([1, 1])])
    np.testing.assert_allclose(first.asnumpy(), FIRST, rtol=1e-6)
    np.testing.assert_allclose(second.asnumpy(), SECOND, rtol=1e-6)
    np.testing.assert_allclose(executor.grad_dict["x"].asnumpy(), np.tanh(Y) + 2 * X, rtol=1e-6)
    np.testing.assert_allclose(executor.grad_dict["y"].asnumpy(), X * (1 - np.tanh(Y) ** 2), rtol=1e-5)
    assert [report.name for report in executor.passes][:2] == ["infer", "expand"]


def test_a_graph_that_uses_one_output_runs_the_operator_whole() -> None:
    executor = od.sym.expand_pair(od.sym.var("x"), od.sym.var("y"))[1].simple_bind(x=(2,), grad_req="null")
    (found,) = executor.forward(x=od.nd.array(X), y=od.nd.array(Y))
    np.testing.assert_allclose(found.asnumpy(), SECOND, rtol=1e-6)


def test_a_symbol_of_a_gradient_is_that_of_the_parts() -> None:
    found = od.sym.expand_one(od.sym.var("x"), od.sym.var("y")).gradient(["x", "y"])
    executor = found.simple_bind(x=(2,), y=(2,), grad_req="null")
    dx, dy = executor.forward(x=od.nd.array(X), y=od.nd.array(Y))
    np.testing.assert_allclose(dx.asnumpy(), np.tanh(Y), rtol=1e-6)
    np.testing.assert_allclose(dy.asnumpy(), X * (1 - np.tanh(Y) ** 2), rtol=1e-5)
