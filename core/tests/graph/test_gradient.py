"""Gradients against differences, and what is in the graph that computes them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.tests.graph.operators import (
    Add,
    AddConst,
    Centre,
    Dense,
    Mul,
    Sign,
    Split,
    Square,
    SquareLoss,
    Tanh,
    apply,
    evaluate,
    gradient_nodes,
    var,
)
from operad.errors import GradientError
from operad.graph import (
    Entry,
    GradAdd,
    Graph,
    OpNode,
    Variable,
    ZerosLike,
    gradient,
    infer_shapes,
    infer_types,
    values_read,
)

FLOAT64 = np.dtype(np.float64)


def run(outputs, values):
    graph = Graph(outputs)
    shapes = infer_shapes(graph, {name: value.shape for name, value in values.items()})
    types = infer_types(graph, {name: value.dtype for name, value in values.items()})
    arrays = evaluate(graph, shapes, types, values)
    return [arrays[entry] for entry in outputs]


def assert_matches_differences(outputs, wrt, values):
    """Compare each gradient with central differences of the outputs weighted with random heads."""
    rng = np.random.default_rng(5)
    heads = [var(f"head{i}") for i in range(len(outputs))]
    grads = gradient(outputs, heads, wrt)
    weights = [rng.uniform(0.5, 1.5, out.shape) for out in run(outputs, values)]
    weighted = {f"head{i}": weight for i, weight in enumerate(weights)}
    found = run(grads, values | weighted)

    def objective(shifted):
        return sum(
            float(np.vdot(out, weight)) for out, weight in zip(run(outputs, shifted), weights, strict=True)
        )

    for entry, grad in zip(wrt, found, strict=True):
        name, value = entry.node.name, values[entry.node.name]
        direction = rng.uniform(-1, 1, value.shape)
        up, down = (objective(values | {name: value + step * direction}) for step in (1e-6, -1e-6))
        assert np.vdot(grad, direction) == pytest.approx((up - down) / 2e-6, rel=1e-5, abs=1e-6)


def sums(entries):
    return [node for node in Graph(entries).op_nodes if isinstance(node.op, GradAdd)]


@st.composite
def networks(draw):
    """A random expression graph over two variables, with shared parts and several outputs."""
    entries = [var("a"), var("b")]
    for step in range(draw(st.integers(1, 12))):
        pick = st.sampled_from(entries[-6:] + entries[:2])
        kind = draw(st.sampled_from([Tanh, Square, AddConst, Add, Mul, Split, Sign]))
        arguments = [draw(pick) for _ in kind().list_arguments()]
        # Values stay within [-1, 1], so that products of squares of products do not overflow.
        made = apply(kind, f"n{step}", *(apply(Tanh, f"t{step}_{i}", e) for i, e in enumerate(arguments)))
        entries += [made, Entry(made.node, 1)] if kind is Split else [made]
    outputs = draw(st.lists(st.sampled_from(entries[2:]), min_size=1, max_size=3))
    return outputs, entries[:2]


@given(networks())
def test_random_graphs_match_central_differences(network):
    outputs, wrt = network
    values = {"a": np.linspace(-0.9, 1.1, 6).reshape(2, 3), "b": np.linspace(0.3, 0.8, 6).reshape(2, 3)}
    assert_matches_differences(outputs, wrt, values)


@pytest.mark.parametrize("uses", [1, 2, 5, 8, 9, 12, 24])
def test_any_number_of_uses_of_one_variable_is_summed_exactly(uses):
    x = var("x")
    outputs = [apply(AddConst, f"use{i}", x) for i in range(uses)]
    heads = [var(f"head{i}") for i in range(uses)]
    grad = gradient(outputs, heads, [x])
    values = {"x": np.zeros(3)} | {f"head{i}": np.full(3, 2.0**i) for i in range(uses)}
    np.testing.assert_array_equal(run(grad, values)[0], np.full(3, 2.0**uses - 1))


@pytest.mark.parametrize(("uses", "sums_", "added"), [(1, [], 0), (2, [2], 0), (3, [], 2), (24, [], 23)])
def test_two_gradients_are_summed_by_a_node_and_more_are_added_one_to_another(uses, sums_, added):
    x = var("x")
    outputs = [apply(Tanh, f"use{i}", x) for i in range(uses)]
    grads = gradient(outputs, [var(f"head{i}") for i in range(uses)], [x])
    assert [node.op.num_args for node in sums(grads)] == sums_
    assert sum(len(node.adds_to) for node in gradient_nodes(Graph(grads))) == added


def test_gradients_are_added_in_the_order_from_the_last_reader_to_the_first():
    x = var("x")
    outputs = [apply(AddConst, f"use{i}", x) for i in range(4)]
    grads = gradient(outputs, [var(f"head{i}") for i in range(4)], [x])
    terms = [np.float32(v) for v in (1e8, 1.0, -1e8, 3.0)]
    values = {"x": np.zeros(1, np.float32)} | {f"head{i}": term.reshape(1) for i, term in enumerate(terms)}
    assert run(grads, values)[0] == ((terms[3] + terms[2]) + terms[1]) + terms[0]


def test_a_head_gradient_comes_first_and_is_not_overwritten():
    x = var("x")
    outputs = [x, *[apply(AddConst, f"use{i}", x) for i in range(3)]]
    grads = gradient(outputs, [var(f"head{i}") for i in range(4)], [x])
    values = {"x": np.zeros(1)} | {f"head{i}": np.full(1, 2.0**i) for i in range(4)}
    assert run(grads, values)[0] == 15.0
    assert values["head0"] == 1.0


def test_an_operator_may_read_an_entry_twice_among_many_readers():
    x = var("x")
    outputs = [apply(Mul, f"square{i}", x, x) for i in range(3)]
    grads = gradient(outputs, [var(f"head{i}") for i in range(3)], [x])
    values = {"x": np.full(1, 3.0)} | {f"head{i}": np.full(1, 10.0**i) for i in range(3)}
    assert run(grads, values)[0] == 6 * 111


def test_a_wide_sum_and_a_chain_round_alike():
    rng = np.random.default_rng(0)
    terms = rng.normal(size=(8, 5)).astype(np.float32)
    wide = GradAdd(num_args=8).create_operator(_cpu(), [(5,)] * 8, [np.dtype(np.float32)] * 8)
    out = np.empty(5, np.float32)
    wide.direct(*terms, out)
    chained = terms[0]
    for term in terms[1:]:
        chained = chained + term
    np.testing.assert_array_equal(out, chained)


def _cpu():
    from operad.device import cpu

    return cpu()


def test_a_matrix_product_matches_differences():
    x, w = var("x"), var("w")
    out = apply(Dense, "fc2", apply(Tanh, "act", apply(Dense, "fc1", x, w, hidden=3)), var("w2"), hidden=2)
    values = {"x": np.linspace(-1, 1, 8).reshape(2, 4), "w": np.linspace(0, 1, 12).reshape(3, 4)}
    assert_matches_differences([out], [x, w, out.node.inputs[1]], values | {"w2": np.ones((2, 3))})


def test_branches_that_lead_to_no_wanted_entry_are_pruned():
    x, y = var("x"), var("y")
    deep = y
    for i in range(5):
        deep = apply(Tanh, f"deep{i}", deep)
    out = apply(Mul, "mul", apply(Tanh, "tanh", x), deep)
    grads = gradient([out], [var("head")], [x])
    wanted = {node.companion.name: node.op.wanted for node in gradient_nodes(Graph(grads))}
    assert wanted == {"mul": (True, False), "tanh": (True,)}


def test_a_gradient_reads_exactly_what_the_requested_gradients_need():
    x, w = var("x"), var("w")
    out = apply(Dense, "fc", x, w, hidden=3)
    head = var("head")
    (only_w,) = gradient([out], [head], [w])
    assert values_read(only_w.node) == [head, x]
    (only_x,) = gradient([out], [head], [x])
    assert values_read(only_x.node) == [head, w]


def test_a_loss_needs_no_head_gradient_and_nothing_above_it_is_differentiated():
    x, label = var("x"), var("label")
    loss = apply(SquareLoss, "loss", apply(Tanh, "tanh", x), label)
    above = apply(Square, "above", loss)
    (grad,) = gradient([above], [None], [x])
    assert {node.companion.name for node in gradient_nodes(Graph([grad]))} == {"loss", "tanh"}
    values = {"x": np.array([0.5]), "label": np.array([0.25])}
    y = np.tanh(0.5)
    np.testing.assert_allclose(run([grad], values)[0], (y - 0.25) * (1 - y * y))


def test_a_missing_head_gradient_that_is_needed_names_the_output():
    x = var("x")
    with pytest.raises(GradientError, match=r"output 1 \('b_output'\) needs a head gradient"):
        gradient([apply(Tanh, "a", x), apply(Tanh, "b", x)], [var("head"), None], [x])


def test_a_missing_head_gradient_above_nothing_wanted_is_no_error():
    x, y = var("x"), var("y")
    (grad,) = gradient([apply(Tanh, "a", x), apply(Tanh, "b", y)], [var("head"), None], [x])
    assert gradient_nodes(Graph([grad])) == [grad.node]


@pytest.mark.parametrize("kind", [Sign])
def test_no_gradient_flows_through_an_operator_without_one(kind):
    x = var("x")
    (grad,) = gradient([apply(kind, "sign", apply(Tanh, "tanh", x))], [var("head")], [x])
    assert isinstance(grad.node, OpNode)
    assert isinstance(grad.node.op, ZerosLike)
    assert not gradient_nodes(Graph([grad]))


def test_a_loss_that_no_gradient_reaches_sends_none_down():
    x, label = var("x"), var("label")
    blocked = apply(Sign, "sign", apply(SquareLoss, "loss", x, label))
    (grad,) = gradient([blocked], [None], [x])
    assert isinstance(grad.node.op, ZerosLike)


def test_an_entry_the_outputs_do_not_depend_on_gets_zeros():
    x, other = var("x"), var("other")
    _, grad = gradient([apply(Tanh, "tanh", x)], [var("head")], [x, other])
    values = {"x": np.ones(2), "other": np.ones((3, 1)), "head": np.ones(2)}
    np.testing.assert_array_equal(run([grad], values)[0], np.zeros((3, 1)))


def test_an_argument_without_gradient_gets_zeros():
    x, label = var("x"), var("label")
    grads = gradient([apply(SquareLoss, "loss", x, label)], [None], [x, label])
    values = {"x": np.array([3.0]), "label": np.array([1.0])}
    assert [float(g[0]) for g in run(grads, values)] == [2.0, 0.0]


def test_an_unused_output_gets_zeros_only_where_its_gradient_is_declared():
    x = var("x")
    split = apply(Split, "split", x)
    (grad,) = gradient([split], [var("head")], [x])
    zeros = [node for node in Graph([grad]).op_nodes if isinstance(node.op, ZerosLike)]
    assert [node.inputs for node in zeros] == [[Entry(split.node, 1)]]


def test_intermediate_entries_have_gradients_too():
    x = var("x")
    middle = apply(Square, "square", x)
    out = apply(Tanh, "tanh", middle)
    grads = gradient([out], [var("head")], [middle, x])
    found = run(grads, {"x": np.array([0.5]), "head": np.ones(1)})
    slope = 1 - np.tanh(0.25) ** 2
    np.testing.assert_allclose(np.concatenate(found), [slope, slope])


def test_every_gradient_returned_is_a_nodes_own_that_no_node_reads():
    x = var("x")
    out = apply(Tanh, "tanh", apply(Square, "square", x))
    head = var("head")
    wrt = [out, out.node.inputs[0], x, x]
    grads = gradient([out], [head], wrt)
    assert len(set(grads)) == len(wrt)
    assert not any(isinstance(entry.node, Variable) for entry in grads)
    read = {entry for node in Graph(grads).nodes for entry in node.inputs}
    assert not read & set(grads)


def test_an_output_that_stands_twice_counts_twice():
    x = var("x")
    out = apply(AddConst, "plus", x)
    grads = gradient([out, out], [var("h0"), var("h1")], [x])
    assert run(grads, {"x": np.zeros(1), "h0": np.ones(1), "h1": np.full(1, 2.0)})[0] == 3.0


def test_auxiliary_states_take_no_part():
    x, mean = var("x"), var("mean")
    (grad,) = gradient([apply(Centre, "centre", x, mean)], [var("head")], [x])
    assert grad.node.op.wanted == (True,)
    assert [entry.name for entry in grad.node.aux] == ["mean"]


def test_a_gradient_is_differentiated_like_any_operator():
    x = var("x")
    (grad,) = gradient([apply(Square, "square", x)], [var("head")], [x])
    (second,) = gradient([grad], [var("head2")], [x])
    assert second.name == "square_backward_backward_x_grad"
    assert [entry.name for entry in values_read(second.node)] == ["head2", "head", "x"]


def test_what_adds_to_a_sum_in_place_is_not_differentiated():
    x = var("x")
    outputs = [apply(Square, f"use{i}", x) for i in range(3)]
    heads = [var(f"head{i}") for i in range(3)]
    (grad,) = gradient(outputs, heads, [x])
    with pytest.raises(GradientError, match=r"'use0_backward': it adds to a sum"):
        gradient([grad], [var("head")], [x])
    (grad,) = gradient(outputs, heads, [x], adds_in_place=False)
    assert len(gradient([grad], [var("head")], [x])) == 1


def test_ten_thousand_nodes_need_no_recursion():
    x = var("x")
    out = x
    for i in range(10_000):
        out = apply(Tanh, f"t{i}", out)
    grads = gradient([out], [var("head")], [x])
    assert len(Graph([out, *grads]).nodes) == 20_002


def test_the_same_graph_gives_the_same_order_every_time():
    def names():
        x = var("x")
        outputs = [apply(Tanh, f"use{i}", apply(Square, f"sq{i}", x)) for i in range(12)]
        grads = gradient(outputs, [var(f"head{i}") for i in range(12)], [x])
        return [node.name for node in Graph([*outputs, *grads]).nodes]

    assert names() == names()
