"""Operators that are made of others: in graphs and in imperative calls."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from operad import registry
from operad.errors import ArgumentError, BindError
from operad.graph import Entry, Graph, OpNode, Variable, expand
from operad.op import Expansion, Operator, OperatorProperty, Part, assign, unify_shapes

pytestmark = pytest.mark.usefixtures("operators")

X, Y = np.array([0.5, -1.0], "float32"), np.array([2.0, 0.25], "float32")
FIRST, SECOND = X * np.tanh(Y), X * X


class Whole(Operator):
    def forward(self, op_ctx, in_data, req, out_data, aux_states):
        lhs, rhs = in_data
        for target, request, value in zip(out_data, req, (lhs * np.tanh(rhs), lhs * lhs), strict=True):
            assign(target, request, value)


class Pair(OperatorProperty):
    """`lhs * tanh(rhs)` and the square of `lhs`."""

    name = "expand_pair"

    def list_arguments(self):
        return ["lhs", "rhs"]

    def list_outputs(self):
        return ["product", "square"]

    def infer_shape(self, in_shapes):
        shape = unify_shapes(*in_shapes, "expand_pair: rhs")
        return [shape, shape], [shape, shape], []

    def expansion(self):
        tanh, mul, square = (registry.get(name)() for name in ("tanh", "elemwise_mul", "square"))
        return Expansion(
            (
                Part("t", tanh, ((-1, 1),), {}),
                Part("m", mul, ((-1, 0), (0, 0)), {}),
                Part("s", square, ((-1, 0),), {}),
            ),
            ((1, 0), (2, 0)),
        )

    def create_operator(self, ctx, in_shapes, in_types):
        return Whole()


class One(Pair):
    """The product alone."""

    name = "expand_one"

    def list_outputs(self):
        return ["output"]

    def infer_shape(self, in_shapes):
        ins, outs, aux = super().infer_shape(in_shapes)
        return ins, outs[:1], aux

    def expansion(self):
        parts, outputs = super().expansion()
        return Expansion(parts[:2], outputs[:1])


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


def test_an_imperative_call_runs_and_records_the_parts() -> None:
    x, y = od.nd.array(X), od.nd.array(Y)
    x.attach_grad()
    for _ in range(2):  # the second finds what the first worked out
        with od.autograd.record():
            first, second = od.nd.expand_pair(x, rhs=y)
        od.autograd.backward([first, second])
        np.testing.assert_allclose(first.asnumpy(), FIRST, rtol=1e-6)
        np.testing.assert_allclose(second.asnumpy(), SECOND, rtol=1e-6)
        np.testing.assert_allclose(x.grad.asnumpy(), np.tanh(Y) + 2 * X, rtol=1e-6)


def test_results_go_into_given_arrays_which_may_be_arguments() -> None:
    x, y = od.nd.array(X), od.nd.array(Y)
    other = od.nd.zeros(2)
    found = od.nd.expand_pair(x, y, out=[x, other])
    assert found[0] is x
    np.testing.assert_allclose(x.asnumpy(), FIRST, rtol=1e-6)
    np.testing.assert_allclose(other.asnumpy(), SECOND, rtol=1e-6)


def test_arrays_that_do_not_fit_are_refused() -> None:
    x, y = od.nd.array(X), od.nd.array(Y)
    with pytest.raises(ArgumentError, match="expand_pair: got 1 arrays, expected 2: lhs, rhs"):
        od.nd.expand_pair(x)
    with pytest.raises(BindError, match="expand_pair: out has 1 arrays, expected 2"):
        od.nd.expand_pair(x, y, out=x)
    with pytest.raises(BindError, match=r"expand_pair: out is float32\(3,\).*, expected float32\(2,\)"):
        od.nd.expand_pair(x, y, out=[od.nd.zeros(3), x])
    with od.autograd.record(), pytest.raises(BindError, match="recorded part by part"):
        od.nd.expand_pair(x, y, out=[x, y])


def test_an_error_of_a_part_names_the_whole() -> None:
    with pytest.raises(od.errors.OperadError) as raised:
        od.nd.expand_pair(od.nd.array(X), od.nd.zeros(3))
    assert "in expand_pair, which is made of this and other operators" in raised.value.__notes__


def test_what_computes_elsewhere_is_said_to_be_no_argument() -> None:
    with pytest.raises(ArgumentError, match=r"make an NDArray of it with nd.array; .*operad_sdk.composed"):
        od.nd.tanh(X)
    with pytest.raises(ArgumentError, match=r"symbols are composed by od.sym.tanh"):
        od.nd.tanh(od.sym.var("x"))
    with pytest.raises(ArgumentError, match=r"arrays are computed on by od.nd.tanh"):
        od.sym.tanh(od.nd.array(X))
